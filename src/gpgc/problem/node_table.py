"""A table of nodes that is ready for an estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from gpgc._typing import Integers

if TYPE_CHECKING:
    from gpgc.problem.encoder import TableEncoder


@dataclass(frozen=True, eq=False)
class NodeTable:
    """Nodes by name with their features, which ``fit`` takes as X.

    Parameters
    ----------
    features : array or csr_array of shape (N, F), or None
        X; None for nodes that are known by their names alone.
    names : array of shape (N,), optional
        Of the nodes; None (the default) where they have none.
    columns : tuple of str
        Columns of the table that the features were made of.
    encoder : TableEncoder, optional
        How they were made; None (the default) where the columns are numbers as they came.
    cells : mapping of str to array of shape (N,), optional
        The columns before they were encoded, for those who show them.

    Examples
    --------
    >>> import gpgc
    >>> table = gpgc.encode_table({"id": ["a", "b"], "size": [1.0, 3.0]})
    >>> table.names.tolist(), table.features.tolist(), table.columns
    (['a', 'b'], [[1.0], [3.0]], ('size',))
    """

    features: Any
    names: NDArray[Any] | None = None
    columns: tuple[str, ...] = ()
    encoder: TableEncoder | None = None
    cells: Mapping[str, NDArray[Any]] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        known: Any = self.names if self.features is None else self.features
        return int(known.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of nodes and of features."""
        return len(self), 0 if self.features is None else int(self.features.shape[1])

    def take(self, index: Integers) -> NodeTable:
        """Return the rows of some nodes in a given order."""
        return replace(
            self,
            features=None if self.features is None else self.features[index],
            names=None if self.names is None else self.names[index],
            cells=None
            if self.cells is None
            else {name: values[index] for name, values in self.cells.items()},
        )
