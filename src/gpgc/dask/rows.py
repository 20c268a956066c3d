"""Rows that describe some nodes in a view, from numbers of each of these nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Integers
from gpgc.compute import Context
from gpgc.compute.primitives import NUMPY
from gpgc.kernels.rows import StoredRows
from gpgc.models.neighbors import neighbor_directions
from gpgc.models.view import Description, View, directions, unit_rows

BUILT = ("graph", "features", "neighbors", "structure", "degrees", "hubs", "linear", "rbf")
"""Views whose rows are known in blocks."""


Numbers = Sequence[Any]
"""What the rows of some nodes in a view are made of, arrays with a row a node.

*graph* and *hubs*: what diffused, (n, teleports, columns) by slices of columns, and indicators of
small components (n, g), if there are any; *features*, *linear* and *rbf*: X; *neighbors*: X,
slices of Â₀X̄ and as many of Â₀²X̄; *structure*: sparse rows of Â₀ over all nodes; *degrees*: four
standardized numbers a node. Without links *graph* is X.
"""


def block_context(dtype: Any) -> Context:
    """Return how a task computes: in its own thread, since others run beside it."""
    return Context.of(dtype, n_jobs=1)


def rows_of(view: View, parts: Numbers, dtype: Any) -> Description:
    """Return the rows of some nodes in a view, as its local description has them."""
    kind, number_format = view.name, np.dtype(dtype)
    if kind in ("features", "linear", "rbf") or (kind == "graph" and parts[0].ndim == 2):
        return Description([StoredRows(*view.rows(parts[0], number_format).take(None))])
    if kind in ("graph", "hubs"):
        dense = [part for part in parts if not sp.issparse(part)]
        groups = next((part for part in parts if sp.issparse(part)), None)
        return Description([_diffused(dense, at) for at in range(dense[0].shape[1])], groups=groups)
    if kind == "degrees":
        return Description([StoredRows.of(parts[0], number_format)])
    if kind == "neighbors":
        own, half = unit_rows(parts[0]).astype(number_format), (len(parts) + 1) // 2
        first, second = np.hstack(parts[1:half]), np.hstack(parts[half:])
        return Description([neighbor_directions(own, first, second)])
    return Description([StoredRows.of(unit_rows(parts[0]), number_format)])


def chosen(rows: Any, index: Integers) -> Description:
    """Return the rows of some of the nodes."""
    some = [type(part)(*part.take(index)) for part in rows.rows]
    groups = None if rows.groups is None else sp.csr_array(rows.groups[index])
    return Description(some, groups=groups)


def _diffused(parts: Sequence[Any], teleport: int) -> StoredRows:
    columns = np.concatenate([part[:, teleport] for part in parts], axis=1)
    return directions(NUMPY.scale_rows(columns)[0])
