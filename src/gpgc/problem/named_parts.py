"""Features, labels and graphs as users have them, each with the names of its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.errors import InputError
from gpgc.files import canonical_csr
from gpgc.problem import NodeTable
from gpgc.problem.encoder import encode_columns
from gpgc.problem.frames import (
    cells_of,
    column_names,
    columns_of,
    id_of,
    is_frame,
    take_rows,
    without_id,
)
from gpgc.problem.names import NamedColumns, as_names, columns_of_frame, names_of


class Part(NamedTuple):
    """A part of a problem by position, with the names of its nodes, all of them if complete."""

    value: Any
    names: list[Any] | None = None
    is_complete: bool = True

    def take(self, index: NDArray[Any]) -> Any:
        """Return the value with its nodes in another order."""
        if isinstance(self.value, NodeTable | NamedColumns):
            return self.value.take(index)
        if hasattr(self.value, "iloc"):
            return self.value.iloc[index]
        if isinstance(self.value, np.ndarray):
            return self.value[index]
        return take_rows(self.value, index)


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges by the names of their ends, and their weights if they have any."""

    source: list[Any]
    target: list[Any]
    weight: NDArray[np.float64] | None


def features_part(X: Any) -> Part:
    """Return features with the names of their rows; a frame is encoded unless it is numbers."""
    if isinstance(X, NodeTable):
        return Part(X, None if X.names is None else X.names.tolist())
    if sp.issparse(X):
        return Part(canonical_csr(X, "X"))
    if not is_frame(X):
        return Part(X)
    names = names_of(X)
    frame = without_id(X)
    listed = None if names is None else names.tolist()
    if hasattr(frame, "iloc") and not _needs_encoding(frame):
        return Part(frame, listed)
    return Part(encode_columns(columns_of(frame), names), listed)


def labels_part(y: Any) -> Part:
    """Return labels or values with names; a dict and a frame with ``id`` may leave nodes out."""
    if isinstance(y, Mapping):
        return Part(_objects(list(y.values())), list(y), is_complete=False)
    if not is_frame(y):
        names = names_of(y)
        return Part(y, None if names is None else names.tolist())
    names = names_of(y)
    if id_of(y) is None:
        value = y if hasattr(y, "iloc") or y.shape[1] > 1 else _objects(cells_of(y, y.columns[0]))
        return Part(value, None if names is None else names.tolist())
    frame = without_id(y)
    others = column_names(frame)
    if not others:
        raise InputError("y must have a column of labels beside id, got id only")
    chosen = [c for c in others if str(c).casefold() in ("label", "value")][:1] or others
    many = len(chosen) > 1
    whole = columns_of_frame(frame, chosen) if many else _objects(cells_of(frame, chosen[0]))
    return Part(whole, None if names is None else names.tolist(), is_complete=False)


def graph_part(adjacency: Any) -> Part:
    """Return a graph with the names of its nodes; a frame of edges becomes :class:`Edges`."""
    if hasattr(adjacency, "nodes") and hasattr(adjacency, "adj"):
        return Part(adjacency, list(adjacency.nodes))
    if not is_frame(adjacency):
        return Part(adjacency)
    roles = {str(column).casefold(): column for column in column_names(adjacency)}
    is_square = adjacency.shape[0] == adjacency.shape[1]
    if {"source", "target"} <= set(roles) and not (is_square and _has_own_index(adjacency)):
        return Part(_edges(adjacency, roles))
    names = names_of(adjacency)
    return Part(adjacency, None if names is None else names.tolist())


def _edges(frame: Any, roles: Mapping[str, Any]) -> Edges:
    ends = [as_names(cells_of(frame, roles[side]), f"adjacency[{side!r}]") for side in _ENDS]
    weight = None
    if "weight" in roles:
        weight = columns_of({"weight": cells_of(frame, roles["weight"])}, "adjacency")["weight"]
        if weight.dtype.kind != "f" or np.isnan(weight).any():
            raise InputError("adjacency['weight'] must hold a number for each edge, got others")
    return Edges(ends[0].tolist(), ends[1].tolist(), weight)


_ENDS = ("source", "target")


def _has_own_index(frame: Any) -> bool:
    return hasattr(frame, "index") and list(frame.index) == list(frame.columns)


def _needs_encoding(frame: Any) -> bool:
    """Return whether a frame holds anything but numbers without gaps."""
    import narwhals as nw

    for series in nw.from_native(frame, eager_only=True).iter_columns():
        if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
            return True
        if np.isnan(np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)).any():
            return True
    return False


def _objects(values: list[Any]) -> NDArray[Any]:
    return np.fromiter(values, dtype=object, count=len(values))
