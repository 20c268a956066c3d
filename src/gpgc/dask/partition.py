"""Rows cut into blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpgc._typing import Integers


@dataclass(frozen=True)
class Partition:
    """Consecutive blocks of the nodes 0 … N − 1.

    Parameters
    ----------
    sizes : tuple of int
        Nodes of each block.

    Examples
    --------
    >>> cut = Partition((2, 3))
    >>> cut.n_nodes, cut.block_of(np.array([1, 2, 4]))
    (5, array([0, 1, 1]))
    >>> cut.name(1)
    'block 1 (rows 2 to 4)'
    """

    sizes: tuple[int, ...]

    @cached_property
    def starts(self) -> Integers:
        """The first node of each block, and N at the end."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @property
    def n_nodes(self) -> int:
        """N."""
        return int(self.starts[-1])

    def __len__(self) -> int:
        return len(self.sizes)

    def block_of(self, nodes: Integers) -> Integers:
        """Return the block of each node."""
        return np.searchsorted(self.starts, nodes, side="right") - 1

    def split(self, nodes: Integers) -> list[Integers]:
        """Return sorted nodes by block, counted from the first node of their block.

        Examples
        --------
        >>> Partition((2, 3)).split(np.array([1, 2, 4]))
        [array([1]), array([0, 2])]
        """
        cuts = np.searchsorted(nodes, self.starts)
        return [
            nodes[cuts[block] : cuts[block + 1]] - self.starts[block] for block in range(len(self))
        ]

    def name(self, block: int) -> str:
        """Return how messages call a block."""
        first, end = self.starts[block], self.starts[block + 1]
        return f"block {block} (rows {first:,} to {end - 1:,})"
