"""What a file of a fitted estimator holds, and the check of every field of it.

The file is an ``.npz`` archive without pickle: a JSON header, whose SHA-256 covers header and
arrays, and arrays. The checksum tells damage; the checks here tell content that no fit has given,
which the estimators' own code could not take.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.errors import DataError, InputError
from gpgc.files import pack_npz, read_npz, unpack_sparse
from gpgc.graph import as_adjacency
from gpgc.problem import TableEncoder
from gpgc.problem.encoder import from_json

FORMAT = "gpgc-estimator"
VERSION = 4

FREE_BYTES = 2**29
MOST_COMPRESSION = 100
"""Arrays may take max(2²⁹, 100 · size of the file) bytes: a small file must not take gigabytes."""

HIGHEST_DEPTH = 10_000
"""Layers of the deepest network that a file may name."""

NPY_HEADER = 4096
"""Bytes, more than the header of an array takes."""


class StoredModel(NamedTuple):
    """The checked content of a file."""

    header: dict[str, Any]
    adjacency: sp.csr_array
    features: Any
    labelled: NDArray[np.intp]
    state: dict[str, NDArray[Any]]
    feature_names: NDArray[Any] | None
    names: NDArray[Any] | None
    encoder: TableEncoder | None
    scaled_adjacency: sp.csr_array | None


class Sizes(NamedTuple):
    """N, D, k and F."""

    nodes: int
    labels: int
    columns: int
    features: int


class Field(NamedTuple):
    """One field: whether a value fits the others' sizes, how to call what does, and its place."""

    fits: Callable[[Any, Sizes], bool]
    expected: str
    is_needed: bool = True


def pack_model(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the bytes of a file with this header and these arrays."""
    whole = {"format": FORMAT, "version": VERSION, **header}
    whole["sha256"] = digest(whole, arrays)
    text = np.frombuffer(json.dumps(whole).encode(), dtype=np.uint8)
    content = {"header": text, **arrays}
    packed = pack_npz(content)
    if sum(array.nbytes + NPY_HEADER for array in content.values()) > most_bytes(len(packed)):
        return pack_npz(content, compressed=False)
    return packed


def most_bytes(file_size: int) -> int:
    """Return what the arrays of a file of so many bytes may take."""
    return max(FREE_BYTES, MOST_COMPRESSION * file_size)


def read_model(path: Path, memory_limit: int | None = None) -> StoredModel:
    """Read a file and check every field of it; what no fit gives is refused."""
    size = path.stat().st_size if path.is_file() else 0
    header, arrays = _read(path, most_bytes(size) if memory_limit is None else memory_limit)
    source = str(path)
    adjacency = _adjacency(arrays, source, "adjacency")
    has_scaled = any(name.startswith("standardized/") for name in arrays)
    scaled = _adjacency(arrays, source, "standardized") if has_scaled else None
    features = _features(arrays, source)
    state = {name[6:]: array for name, array in arrays.items() if name.startswith("state/")}
    encoder = from_json(header.get("encoder"), source)
    kind: Any = header.get("estimator")
    if not isinstance(kind, str) or kind not in STATE:
        raise DataError(f"{source}: estimator must be one that gpgc knows, got {kind!r:.60}")
    known = "classes" if kind == "GPGCClassifier" else "values"
    _require(known in state, source, known, "stored", None)
    n_columns = (*state[known].shape, 0, 0)[0 if kind == "GPGCClassifier" else 1]
    n_features = 0 if features is None else features.shape[1]
    if encoder is not None:
        fits = len(encoder.feature_names) == n_features
        _require(fits, source, "encoder", f"that of {n_features} features", encoder.names)
        n_features = len(encoder.columns)
    labelled = arrays.get("labelled", np.empty(0))
    sizes = Sizes(adjacency.shape[0], labelled.size, n_columns, n_features)
    header.setdefault("parameters", None)
    _check(header, HEADER, sizes, source)
    _check(header["parameters"], PARAMETERS, sizes, source)
    graph = {"adjacency": adjacency, "standardized": scaled, "features": features}
    whole = {name: part for name, part in graph.items() if part is not None}
    whole |= {
        name: arrays[name] for name in ("labelled", "names", "feature_names") if name in arrays
    }
    _check(whole, GRAPH, sizes, source)
    _check(state, STATE[kind] | SHARED_STATE, sizes, source)
    if unknown := sorted(state.keys() - (STATE[kind] | SHARED_STATE).keys()):
        raise DataError(f"{source}: nothing must be called {unknown[0]!r:.60}")
    if kind == "GPGCClassifier" and "targets" not in state:
        used = len(np.unique(state["codes"])) == sizes.columns
        _require(used, source, "codes", "each class used", state["codes"])
    rows = labelled.astype(np.intp)
    optional = (arrays.get("feature_names"), arrays.get("names"))
    return StoredModel(header, adjacency, features, rows, state, *optional, encoder, scaled)


def digest(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of a header without its own checksum, and of arrays."""
    content = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        content.update(f"{name} {array.dtype.str} {array.shape}".encode())
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


def _read(path: Path, most: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    if not path.exists() or path.is_dir():
        raise DataError(f"{path} does not exist; expected a file written by save()")
    try:
        arrays = read_npz(path, memory_limit=most)
        header = json.loads(arrays.pop("header").tobytes())
        if not isinstance(header, dict) or "format" not in header:
            raise DataError("no header of a model")
    except (DataError, KeyError, ValueError, RecursionError) as error:
        raise DataError(
            f"{path} is truncated or was not written by gpgc's save(): {error}"
        ) from error
    if header["format"] != FORMAT:
        raise DataError(f"{path} was not written by gpgc's save(): format {header['format']!r:.60}")
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise DataError(
            f"{path}: version must be a whole number of at least 1, got {version!r:.60}"
        )
    if version != VERSION:
        raise DataError(
            f"{path} has format version {version}, this gpgc reads version {VERSION}: load it with "
            f"{'a newer gpgc' if version > VERSION else 'the gpgc that saved it, or fit again'}"
        )
    if header.pop("sha256", None) != digest(header, arrays):
        raise DataError(f"{path} was altered after it was saved: its checksum does not fit")
    return header, arrays


def _adjacency(arrays: Mapping[str, NDArray[Any]], source: str, name: str) -> sp.csr_array:
    if name in arrays:
        raise DataError(f"{source}: {name} must be stored as a sparse matrix, got an array")
    matrix = unpack_sparse(arrays, f"{name}/", source, np.float64)
    try:
        return as_adjacency(matrix)
    except InputError as error:
        raise DataError(f"{source}: {error}") from error


def _features(arrays: Mapping[str, NDArray[Any]], source: str) -> Any:
    if "features" not in arrays and any(name.startswith("features/") for name in arrays):
        return unpack_sparse(arrays, "features/", source)
    features = arrays.get("features")
    _require(features is None or features.ndim == 2, source, "features", "a table", features)
    return features


def _check(given: Mapping[str, Any], table: Mapping[str, Field], sizes: Sizes, source: str) -> None:
    """Check values by name against a table of fields."""
    for name, field in table.items():
        if name in given:
            fits = field.fits(given[name], sizes)
            _require(fits, source, name, field.expected, given[name])
        elif field.is_needed:
            _require(False, source, name, f"{field.expected}, and stored", None)


def _require(fits: bool, source: str, name: str, expected: str, value: Any) -> None:
    if fits:
        return
    got = f"shape {value.shape} of {value.dtype}" if hasattr(value, "dtype") else repr(value)[:60]
    raise DataError(f"{source}: {name} must be {expected}, got {got}")


def _is_index(values: NDArray[Any], size: int) -> bool:
    """Tell whether values are a 1-D array of whole numbers from 0 to size − 1."""
    is_whole = values.ndim == 1 and values.dtype.kind in "iu"
    return is_whole and bool(((values >= 0) & (values < size)).all())


def _is_float(values: NDArray[Any], shape: tuple[int, ...], least: float = -np.inf) -> bool:
    """Tell whether an array of a shape holds finite numbers of at least some size."""
    fits = values.dtype.kind == "f" and values.shape == shape and bool(np.isfinite(values).all())
    return fits and bool((values >= least).all())


def _is_number(value: Any, least: float = -math.inf) -> bool:
    is_real = isinstance(value, int | float) and not isinstance(value, bool)
    return is_real and math.isfinite(value) and value >= least


def _is_whole(value: Any, lowest: int, highest: int) -> bool:
    return type(value) is int and lowest <= value <= highest


def _are_levels(value: Any, sizes: Sizes) -> bool:
    """Tell whether a list has a number of at least 0 for all targets, or for each."""
    is_listed = isinstance(value, list) and len(value) in (1, sizes.columns)
    return is_listed and all(_is_number(one, 0) for one in value)


def _are_views(value: Any, sizes: Sizes) -> bool:
    return (
        isinstance(value, dict)
        and bool(value)
        and all(isinstance(v, dict) and {"weight", "noise"} == v.keys() for v in value.values())
        and all(_are_levels(part, sizes) for view in value.values() for part in view.values())
    )


def _are_pairs(value: Any, sizes: Sizes) -> bool:
    pairs = list(value.values()) if isinstance(value, dict) else [value]
    return all(isinstance(two, list) and [*map(_is_number, two)] == [True] * 2 for two in pairs)


def _are_features(value: Any, sizes: Sizes) -> bool:
    numbers = value.data if sp.issparse(value) else value
    shaped = value.shape[0] == sizes.nodes and value.shape[1] > 0
    return shaped and value.dtype in (np.float32, np.float64) and bool(np.isfinite(numbers).all())


def _are_classes(value: NDArray[Any], sizes: Sizes) -> bool:
    fits = value.ndim == 1 and len(value) > 0 and value.dtype.kind in "biuUSf"
    fits = fits and (value.dtype.kind != "f" or bool(np.isfinite(value).all()))
    return fits and bool((value[1:] > value[:-1]).all())


def _are_probabilities(value: NDArray[Any], sizes: Sizes) -> bool:
    fits = _is_float(value, (sizes.labels, sizes.columns), 0)
    return fits and bool(np.allclose(value.sum(axis=1), 1) and value.any(axis=0).all())


def _are_values(value: NDArray[Any], sizes: Sizes) -> bool:
    fits = value.dtype.kind == "f" and value.shape == (sizes.labels, sizes.columns)
    fits = fits and sizes.columns > 0 and not np.isinf(value).any()
    known = ~np.isnan(value) if fits else np.zeros((1, 1), dtype=bool)
    return fits and bool(known.any(axis=0).all() and known.any(axis=1).all())


FLAG = Field(lambda v, s: isinstance(v, bool), "true or false")
AT_LEAST_0 = Field(lambda v, s: _is_float(v, (), 0), "a number of at least 0")
HEADER = {
    "parameters": Field(lambda v, s: isinstance(v, dict), "an object"),
    "from_features": FLAG,
    "both_scalings": FLAG._replace(is_needed=False),
    "views": Field(_are_views, "weight and noise by name, finite numbers of at least 0"),
    "inflation": Field(_are_levels, "finite numbers of at least 0"),
    "agreement": Field(lambda v, s: _is_number(v, -1) and v <= 1, "a number from -1 to 1"),
    "learned": Field(_are_pairs, "two numbers by name", False),
    "approximations": Field(
        lambda v, s: isinstance(v, list) and all(isinstance(one, str) for one in v), "phrases"
    ),
}
"""What the header holds beside ``estimator`` and ``encoder``."""

PARAMETERS = {
    "depth": Field(
        lambda v, s: _is_whole(v, 1, HIGHEST_DEPTH), f"a whole number up to {HIGHEST_DEPTH}", False
    ),
    "dtype": Field(lambda v, s: v in ("float32", "float64"), "float32 or float64", False),
    "n_neighbors": Field(
        lambda v, s: _is_whole(v, 1, 2**31), "a whole number of at least 1", False
    ),
    "n_jobs": Field(
        lambda v, s: v is None or _is_whole(v, -1, 2**16), "a number of threads or null", False
    ),
    "random_state": Field(lambda v, s: _is_whole(v, 0, 2**32 - 1), "a seed below 2^32", False),
    "verbose": FLAG._replace(is_needed=False),
    "space": Field(lambda v, s: v in ("auto", "function", "weight"), "a space", False),
    "decision": Field(lambda v, s: v in ("probable", "balanced"), "a decision", False),
    "weight_variance": Field(lambda v, s: _is_number(v, 0), "a number of at least 0", False),
    "bias_variance": Field(lambda v, s: _is_number(v, 0), "a number of at least 0", False),
}
"""Parameters whose wrong values the constructors would take."""

GRAPH = {
    "labelled": Field(
        lambda v, s: _is_index(v, s.nodes) and 0 < len(v) == len(np.unique(v)),
        "nodes of the graph, each once",
    ),
    "features": Field(_are_features, "a finite float32 or float64 row for each node", False),
    "standardized": Field(
        lambda v, s: v.shape[0] == s.nodes and s.features > 0, "a graph of the same nodes", False
    ),
    "names": Field(
        lambda v, s: v.shape == (s.nodes,) and v.dtype.kind in "iufUS", "a name a node", False
    ),
    "feature_names": Field(
        lambda v, s: s.features > 0 and v.shape == (s.features,) and v.dtype.kind in "US",
        "a name for each feature",
        False,
    ),
}
SHARED_STATE = {
    "sample_weight": Field(
        lambda v, s: _is_float(v, (s.labels,), np.finfo(np.float64).tiny),
        "a positive number for each label",
    ),
    "mean": Field(lambda v, s: _is_float(v, (s.nodes, s.columns)), "numbers of shape (N, k)"),
}
STATE = {
    "GPGCClassifier": {
        "classes": Field(_are_classes, "different and sorted"),
        "codes": Field(
            lambda v, s: _is_index(v, s.columns) and len(v) == s.labels, "a class for each label"
        ),
        "bias": Field(lambda v, s: _is_float(v, (s.columns,)), "a number for each class"),
        "temperature": AT_LEAST_0,
        "curvature": AT_LEAST_0,
        "flatness": AT_LEAST_0,
        "targets": Field(_are_probabilities, "probabilities of shape (D, k)", False),
    },
    "GPGCRegressor": {
        "values": Field(_are_values, "numbers of shape (D, k), or NaN where others are known"),
        "squeeze": Field(
            lambda v, s: v.shape == () and v.dtype.kind == "b" and (not v or s.columns == 1),
            "a flag",
        ),
        "scale": Field(
            lambda v, s: _is_float(v, (s.columns,), np.finfo(np.float64).tiny),
            "a positive number for each target",
        ),
        "target_names": Field(
            lambda v, s: v.shape == (s.columns,) and v.dtype.kind == "U", "a name a target", False
        ),
    },
}
"""What the estimators know of D labels and N nodes, k classes or targets."""
