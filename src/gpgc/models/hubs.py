"""A view by where a node is: personalised PageRanks to the nodes of largest degree.

It tells near from far in graphs like trees, where no few eigenvectors do.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from gpgc.compute import Context
from gpgc.graph.components import components
from gpgc.graph.nodes import Nodes
from gpgc.models.graph_view import diffused
from gpgc.models.spectral import PLACE_STEPS, has_one_hot_rows, with_groups
from gpgc.models.view import Description, Layers, Need, View

MOST_HUBS = 512
HUB_BYTES = 2**27
HUB_WORK = 2**33
"""Bounds on the hubs: their number, the size of their columns, and the products that they take.

Zones of a power grid with features, 20 and 5 labels a class: 83 and 65 % are right with 512 hubs,
81 and 59 with 1,024, 78 and 65 with 256."""

HUB_REACH = 0.05
"""Teleport of the PageRanks to hubs."""


class HubsView(View):
    """PageRanks to hubs, beside features, and on larger graphs without them."""

    name: ClassVar[str] = "hubs"
    needs: ClassVar[tuple[Need, ...]] = ("links",)
    depends_on_features: ClassVar[bool] = False
    squared: ClassVar[bool] = True

    def is_offered(self, nodes: Nodes, model: Layers) -> bool:
        """Nodes with given links have it, unless one-hot features say the same."""
        if not super().is_offered(nodes, model) or nodes.from_features:
            return False
        return nodes.features is not None or not has_one_hot_rows(nodes.propagation, model)

    def describe(self, nodes: Nodes, model: Layers, context: Context) -> Description:
        """Return PageRanks to the nodes of largest degree, and the small components."""
        propagation, n_nodes, dtype = nodes.propagation, len(nodes), context.dtype
        large, groups = components(propagation, dtype)
        inside = np.flatnonzero(large >= 0)
        degrees, keys = np.diff(propagation.indptr)[inside], nodes.keys(model.seed)[inside]
        n_hubs = most_hubs(n_nodes, int(propagation.nnz), PLACE_STEPS, dtype.itemsize)
        hubs = inside[np.lexsort((keys, -degrees))[:n_hubs]]
        size = 3 * max(1, len(hubs)) * n_nodes * dtype.itemsize
        context.require(size, f"PageRanks of {n_nodes:,} nodes to {len(hubs):,} hubs")
        start = np.zeros((n_nodes, max(1, len(hubs))), dtype=dtype)
        start[hubs, np.arange(len(hubs))] = 1
        ranks = diffused(propagation, start, [HUB_REACH], PLACE_STEPS, context)
        return with_groups(ranks, groups)


def most_hubs(n_nodes: int, n_entries: int, steps: int, itemsize: int) -> int:
    """Return how many hubs there are at most, of a graph of so many nodes and entries of Â."""
    fits, work = HUB_BYTES // (n_nodes * itemsize), HUB_WORK // (n_entries * steps)
    return max(1, min(MOST_HUBS, fits, work))
