r"""A view by whom a node is linked with: the rows of :math:`\hat A_0`, Â without its diagonal.

They are those of :math:`A \tilde D^{-1/2}` up to their lengths, and only directions count.
"""

from __future__ import annotations

from typing import ClassVar

import scipy.sparse as sp

from gpgc._typing import Integers
from gpgc.compute import Context
from gpgc.graph.nodes import JoinedNodes, Nodes
from gpgc.kernels.rows import StoredRows
from gpgc.models.view import Description, Layers, Need, View


class LinksView(View):
    """Whom a node is linked with."""

    name: ClassVar[str] = "structure"
    needs: ClassVar[tuple[Need, ...]] = ("links",)
    depends_on_features: ClassVar[bool] = False

    def describe(self, nodes: Nodes, model: Layers, context: Context) -> Description:
        """Return the rows of Â₀; links among nodes that join do not count."""
        links = nodes.propagation_without_loops

        def joined(nodes: JoinedNodes, known: Integers, context: Context) -> Description:
            both = sp.vstack([links[known], nodes.split_rows()[0]], format="csr")
            return Description([StoredRows.directions_of(both, context.dtype)])

        return Description([StoredRows.directions_of(links, context.dtype)], joined)
