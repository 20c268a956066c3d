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
from gpgc.tables import TableEncoder
from gpgc.tables.stored_encoder import from_json

FORMAT = "gpgc-estimator"
VERSION = 3

FREE_BYTES = 2**29
MOST_COMPRESSION = 100
"""What the arrays of any file may take, and how many times the size of a larger one: zeros are
compressed a thousandfold, and a small file must not take gigabytes before it is refused."""

HIGHEST_DEPTH = 10_000
"""Layers of the deepest network that a file may name."""


class StoredModel(NamedTuple):
    """The checked content of a file.

    Attributes
    ----------
    header : dict
        ``estimator``, ``parameters``, ``from_features``, ``view_weights``, ``noise_levels``.
    adjacency : csr_array of shape (N, N)
    features : array or csr_array of shape (N, F), or None
    labelled : int array of shape (D,)
    state : dict of str to array
        Of the labels: classes and codes, or values; see :mod:`gpgc.estimators.storage`.
    feature_names : array of shape (F,), or None
    names : array of shape (N,), or None
    encoder : TableEncoder or None
    """

    header: dict[str, Any]
    adjacency: sp.csr_array
    features: Any
    labelled: NDArray[np.intp]
    state: dict[str, NDArray[Any]]
    feature_names: NDArray[Any] | None
    names: NDArray[Any] | None
    encoder: TableEncoder | None


def pack_model(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the bytes of a file with this header and these arrays."""
    whole = {"format": FORMAT, "version": VERSION, **header}
    whole["sha256"] = digest(whole, arrays)
    text = np.frombuffer(json.dumps(whole).encode(), dtype=np.uint8)
    content = {"header": text, **arrays}
    packed = pack_npz(content)
    if sum(array.nbytes + _NPY_HEADER for array in content.values()) > most_bytes(len(packed)):
        return pack_npz(content, compressed=False)
    return packed


_NPY_HEADER = 4096
"""More than the header of an array takes."""


def most_bytes(file_size: int) -> int:
    """Return what the arrays of a file of so many bytes may take."""
    return max(FREE_BYTES, MOST_COMPRESSION * file_size)


def read_model(path: Path, memory_limit: int | None = None) -> StoredModel:
    """Read and check a file.

    Parameters
    ----------
    path : Path
        The file.
    memory_limit : int, optional
        Bytes that its arrays may take; :func:`most_bytes` of its size when not given.

    Raises
    ------
    DataError
        If it is not of this kind, truncated, altered, of another version, or if a field holds
        what no fit gives.
    """
    size = path.stat().st_size if path.is_file() else 0
    most = most_bytes(size) if memory_limit is None else memory_limit
    header, arrays = _read(path, most)
    source = str(path)
    _check_header(header, source)
    adjacency = _adjacency(arrays, source)
    n_nodes = adjacency.shape[0]
    features = _features(arrays, n_nodes, source)
    labelled = arrays.get("labelled", np.empty(0))
    _require(_is_index(labelled, n_nodes), source, "labelled", f"nodes below {n_nodes}", labelled)
    once = 0 < len(labelled) == len(np.unique(labelled))
    _require(once, source, "labelled", "each node once", labelled)
    state = {name[6:]: array for name, array in arrays.items() if name.startswith("state/")}
    _check_state(state, len(labelled), header.get("estimator"), source)
    names, encoder = arrays.get("feature_names"), from_json(header.get("encoder"), source)
    n_features = 0 if features is None else features.shape[1]
    if encoder is not None:
        fits = len(encoder.feature_names) == n_features
        _require(fits, source, "encoder", f"that of {n_features} features", encoder.names)
        n_features = len(encoder.columns)
    if names is not None:
        fits = n_features > 0 and names.shape == (n_features,)
        _require(fits and names.dtype.kind in "US", source, "feature_names", "a name each", names)
    called = arrays.get("names")
    if called is not None:
        fits = called.shape == (n_nodes,) and called.dtype.kind in "iufUS"
        _require(fits, source, "names", f"a name for each of {n_nodes} nodes", called)
    rows = labelled.astype(np.intp)
    return StoredModel(header, adjacency, features, rows, state, names, called, encoder)


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


def _check_header(header: dict[str, Any], source: str) -> None:
    parameters: Any = header.get("parameters")
    _require(isinstance(parameters, dict), source, "parameters", "an object", parameters)
    for name, (fits, expected) in _PARAMETERS.items():
        if name in parameters:
            _require(fits(parameters[name]), source, name, expected, parameters[name])
    built = header.get("from_features")
    _require(isinstance(built, bool), source, "from_features", "true or false", built)
    weights: Any = header.get("view_weights")
    named = isinstance(weights, dict) and bool(weights)
    fit = named and all(_is_number(weight) and 0 <= weight <= 1 for weight in weights.values())
    _require(fit, source, "view_weights", "numbers from 0 to 1 by name", weights)
    learned: Any = header.get("learned", {})
    pairs = list(learned.values()) if isinstance(learned, dict) else [learned]
    fit = all(isinstance(two, list) and [*map(_is_number, two)] == [True] * 2 for two in pairs)
    _require(fit, source, "learned", "two numbers by name", learned)
    levels: Any = header.get("noise_levels")
    listed = isinstance(levels, list) and bool(levels)
    positive = listed and all(_is_number(level) and level >= 0 for level in levels)
    _require(positive, source, "noise_levels", "finite numbers of at least 0", levels)


def _adjacency(arrays: Mapping[str, NDArray[Any]], source: str) -> sp.csr_array:
    if "adjacency" in arrays:
        raise DataError(f"{source}: adjacency must be stored as a sparse matrix, got an array")
    matrix = unpack_sparse(arrays, "adjacency/", source, np.float64)
    try:
        return as_adjacency(matrix)
    except InputError as error:
        raise DataError(f"{source}: {error}") from error


def _features(arrays: Mapping[str, NDArray[Any]], n_nodes: int, source: str) -> Any:
    if "features" in arrays:
        features = values = arrays["features"]
    elif any(name.startswith("features/") for name in arrays):
        features = unpack_sparse(arrays, "features/", source)
        values = features.data
    else:
        return None
    shaped = features.ndim == 2 and features.shape[0] == n_nodes and features.shape[1] > 0
    _require(shaped, source, "features", f"a row for each of {n_nodes} nodes", features)
    numbers = values.dtype in (np.float32, np.float64) and bool(np.isfinite(values).all())
    _require(numbers, source, "features", "finite float32 or float64 numbers", features)
    return features


def _check_state(
    state: Mapping[str, NDArray[Any]], n_labelled: int, estimator: object, source: str
) -> None:
    """Check what the estimators keep: (name → array) with D labels and k classes or targets."""
    for name, array in state.items():
        fit = np.isfinite(array) if array.dtype.kind == "f" else np.array(True)
        if name == "values" and array.ndim == 2 and array.dtype.kind == "f":
            fit |= np.isnan(array) & fit.any(axis=0)  # targets have gaps
        finite = array.dtype.kind in "biuUSf" and bool(fit.all())
        _require(finite, source, name, "finite numbers or text", array)
    needed = {
        "GPGCClassifier": ("classes", "codes", "temperature", "bias"),
        "GPGCRegressor": ("values", "squeeze"),
    }.get(str(estimator))
    if needed is None:
        raise DataError(f"{source}: estimator must be one that gpgc knows, got {estimator!r:.60}")
    for name in needed:
        _require(name in state, source, name, "stored", None)
    trust = state.get("sample_weight", np.ones(n_labelled))
    trusted = trust.shape == (n_labelled,) and trust.dtype.kind == "f" and bool((trust > 0).all())
    _require(trusted, source, "sample_weight", "a positive number for each label", trust)
    if "values" in state:
        values, squeeze = state["values"], state["squeeze"]
        shaped = values.ndim == 2 and values.shape[0] == n_labelled and values.shape[1] > 0
        _require(shaped and values.dtype.kind == "f", source, "values", "of shape (D, k)", values)
        flag = squeeze.shape == () and squeeze.dtype.kind == "b"
        fits = flag and (not squeeze or values.shape[1] == 1)
        _require(fits, source, "squeeze", "a flag", squeeze)
        scale = state.get("scale", np.ones(values.shape[1]))
        fits = scale.shape == values.shape[1:] and bool((scale > 0).all())
        _require(fits, source, "scale", "a positive number for each target", scale)
        return
    classes, codes, bias = state["classes"], state["codes"], state["bias"]
    ordered = classes.ndim == 1 and len(classes) > 0 and bool((classes[1:] > classes[:-1]).all())
    _require(ordered, source, "classes", "different and sorted", classes)
    used = _is_index(codes, len(classes)) and len(codes) == n_labelled
    _require(used, source, "codes", f"a class below {len(classes)} for each label", codes)
    if (soft := state.get("targets")) is not None:
        shaped = soft.shape == (n_labelled, len(classes)) and soft.dtype.kind == "f"
        summed = shaped and bool((soft >= 0).all() and np.allclose(soft.sum(axis=1), 1))
        _require(summed and bool(soft.any(axis=0).all()), source, "targets", "probabilities", soft)
    else:
        _require(len(np.unique(codes)) == len(classes), source, "codes", "each class used", codes)
    fits = bias.shape == classes.shape and bias.dtype.kind == "f"
    _require(fits, source, "bias", "a number for each class", bias)
    for name in ("temperature", "curvature", "flatness"):
        given = state.get(name, np.array(0.0))  # older files have no curvature and no flatness
        fits = given.shape == () and given.dtype.kind == "f" and bool(given >= 0)
        _require(fits, source, name, "a number of at least 0", given)


def _is_index(values: NDArray[Any], size: int) -> bool:
    """Return whether values are a 1-D array of whole numbers from 0 to size − 1."""
    return (
        values.ndim == 1
        and values.dtype.kind in "iu"
        and bool(((values >= 0) & (values < size)).all())
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: Any, lowest: int, highest: int) -> bool:
    return type(value) is int and lowest <= value <= highest


_PARAMETERS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "depth": (lambda v: _is_whole(v, 1, HIGHEST_DEPTH), f"a whole number up to {HIGHEST_DEPTH}"),
    "dtype": (lambda v: v in ("float32", "float64"), "float32 or float64"),
    "n_neighbors": (lambda v: _is_whole(v, 1, 2**31), "a whole number of at least 1"),
    "n_jobs": (lambda v: v is None or _is_whole(v, -1, 2**16), "a number of threads or null"),
    "random_state": (lambda v: _is_whole(v, 0, 2**32 - 1), "a seed below 2^32"),
    "verbose": (lambda v: isinstance(v, bool), "true or false"),
    "weight_variance": (lambda v: _is_number(v) and v >= 0, "a number of at least 0"),
    "bias_variance": (lambda v: _is_number(v) and v >= 0, "a number of at least 0"),
}
"""Parameters whose wrong values the constructors would take: what fits, and how to call it."""


def _require(fits: bool, source: str, name: str, expected: str, value: Any) -> None:
    if fits:
        return
    got = f"shape {value.shape} of {value.dtype}" if hasattr(value, "dtype") else repr(value)[:60]
    raise DataError(f"{source}: {name} must be {expected}, got {got}")
