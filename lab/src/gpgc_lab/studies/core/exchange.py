"""What passes between the command and its workers: plain arrays, read by NumPy and SciPy alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse


def write_problem(
    path: Path, adjacency: Any, features: Any, draws: dict[str, tuple[Any, Any, Any]]
) -> None:
    """Write graph, features and, for each draw, the nodes given, their targets, those judged."""
    arrays: dict[str, Any] = {"draws": np.array(list(draws))}
    for name, matrix in (("adjacency", adjacency), ("features", features)):
        arrays.update(_parts(name, matrix))
    for place, (given, targets, judged) in enumerate(draws.values()):
        arrays.update({f"given_{place}": given, f"targets_{place}": targets})
        arrays[f"judged_{place}"] = judged
    np.savez(path, **arrays)


def read_problem(path: str) -> tuple[Any, Any, dict[str, tuple[Any, Any, Any]]]:
    """Return what `write_problem` wrote; None where there is no graph or are no features."""
    with np.load(path) as arrays:
        names = [str(name) for name in arrays["draws"]]
        draws = {
            name: tuple(arrays[f"{part}_{place}"] for part in ("given", "targets", "judged"))
            for place, name in enumerate(names)
        }
        return _whole("adjacency", arrays), _whole("features", arrays), draws


def _parts(name: str, matrix: Any) -> dict[str, Any]:
    if matrix is None:
        return {}
    if not issparse(matrix):
        return {name: np.asarray(matrix)}
    rows = csr_array(matrix)
    return {
        f"{name}_data": rows.data,
        f"{name}_indices": rows.indices,
        f"{name}_indptr": rows.indptr,
        f"{name}_shape": np.array(rows.shape),
    }


def _whole(name: str, arrays: Any) -> Any:
    if name in arrays:
        return arrays[name]
    if f"{name}_data" not in arrays:
        return None
    parts = tuple(arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    return csr_array(parts, shape=tuple(arrays[f"{name}_shape"]))
