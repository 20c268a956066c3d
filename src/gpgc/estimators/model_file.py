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
from typing import Any, NamedTuple, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc._typing import Array
from gpgc.errors import DataError, InputError
from gpgc.files import pack_npz, read_npz, unpack_sparse
from gpgc.gp import Space
from gpgc.graph import as_adjacency
from gpgc.probability.calibration import DecisionRule
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
    """The checked content of a file: what stands in its header, of the graph, and of the fit."""

    header: dict[str, Any]
    encoder: TableEncoder | None
    graph: dict[str, Any]
    state: dict[str, NDArray[Any]]


class Sizes(NamedTuple):
    """Of N nodes with F features, D of which have labels: of k classes, or for k targets."""

    N: int
    D: int
    k: int
    F: int


class Field(NamedTuple):
    """One field: whether a value fits the others' sizes, how to call what does, and its place.

    ``of`` an estimator is what is written, None where there is nothing to write.
    """

    fits: Callable[[Any, Sizes], bool]
    expected: str
    of: Callable[[Any], Any] = lambda estimator: None
    is_needed: bool = True


def written(table: Mapping[str, Field], estimator: Any) -> dict[str, Any]:
    """Return what an estimator has to write, by the names of a table of fields."""
    found = {name: field.of(estimator) for name, field in table.items()}
    return {name: value for name, value in found.items() if value is not None}


def array(
    kinds: str,
    shape: str,
    of: Callable[[Any], Any] = lambda estimator: None,
    *,
    least: float = -math.inf,
    below: str = "",
    also: Callable[[Any, Sizes], bool] = lambda value, sizes: True,
    said: str = "",
    is_needed: bool = True,
) -> Field:
    """Return the field of an array of a kind, with a shape and an end in the letters of Sizes.

    Numbers are finite, ``least`` or more; ``also`` must hold, which ``said`` calls by its name.
    """

    def fits(value: Any, sizes: Sizes) -> bool:
        wanted = tuple(getattr(sizes, letter) for letter in shape)
        if value.dtype.kind not in kinds or value.shape != wanted:
            return False
        end = getattr(sizes, below) if below else math.inf
        in_range = (
            value.dtype.kind not in "iuf"
            or (np.isfinite(value) & (value >= least) & (value < end)).all()
        )
        return bool(in_range) and also(value, sizes)

    expected = f"of shape ({', '.join(shape)})"
    expected += f", {least:g} or more" if least > -math.inf else ""
    expected += f", below {below}" if below else ""
    return Field(fits, expected + (said and f", {said}"), of, is_needed)


def whole(lowest: int, highest: int) -> Field:
    """Return the field of a whole number in JSON."""
    return Field(
        lambda value, sizes: type(value) is int and lowest <= value <= highest,
        f"a whole number from {lowest} to {highest}",
    )


def one_of(*allowed: Any) -> Field:
    """Return the field of a word, true or false in JSON."""
    return Field(
        lambda value, sizes: any(type(value) is type(one) and value == one for one in allowed),
        f"one of {', '.join(map(str, allowed))}",
    )


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
    graph = {name: arrays[name] for name in GRAPH if name in arrays}
    graph["adjacency"] = _adjacency(arrays, source, "adjacency")
    if any(name.startswith("standardized/") for name in arrays):
        graph["standardized"] = _adjacency(arrays, source, "standardized")
    if (features := _features(arrays, source)) is not None:
        graph["features"] = features
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
    n_labels = graph.get("labelled", np.empty(0)).size
    sizes = Sizes(graph["adjacency"].shape[0], n_labels, n_columns, n_features)
    fields = STATE[kind] | SHARED_STATE
    header.setdefault("parameters", None)
    _check(header, HEADER, sizes, source)
    known_parameters = {
        name: PARAMETERS[name] for name in header["parameters"] if name in PARAMETERS
    }
    _check(header["parameters"], known_parameters, sizes, source)
    _check(graph, GRAPH, sizes, source)
    _check(state, fields, sizes, source)
    if unknown := sorted(state.keys() - fields.keys()):
        raise DataError(f"{source}: nothing must be called {unknown[0]!r:.60}")
    if kind == "GPGCClassifier" and "targets" not in state:
        used = len(np.unique(state["codes"])) == sizes.k
        _require(used, source, "codes", "each class used", state["codes"])
    return StoredModel(header, encoder, graph, state)


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


def _is_number(value: Any, least: float = -math.inf) -> bool:
    is_real = isinstance(value, int | float) and not isinstance(value, bool)
    return is_real and math.isfinite(value) and value >= least


def _are_levels(value: Any, sizes: Sizes) -> bool:
    """Tell whether a list has a number of at least 0 for all targets, or for each."""
    is_listed = isinstance(value, list) and len(value) in (1, sizes.k)
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
    shaped = value.shape[0] == sizes.N and value.shape[1] > 0
    return shaped and value.dtype in (np.float32, np.float64) and bool(np.isfinite(numbers).all())


def _are_values(value: NDArray[Any], sizes: Sizes) -> bool:
    fits = value.dtype.kind == "f" and value.shape == (sizes.D, sizes.k)
    fits = fits and sizes.k > 0 and not np.isinf(value).any()
    known = ~np.isnan(value) if fits else np.zeros((1, 1), dtype=bool)
    return fits and bool(known.any(axis=0).all() and known.any(axis=1).all())


def _views_of(estimator: Any) -> dict[str, Any]:
    return {
        view.name: {"weight": view.weight.tolist(), "noise": view.levels.tolist()}
        for view in estimator.fit_.choice.views
    }


def _learned_of(estimator: Any) -> dict[str, Any] | None:
    return {name: list(pair) for name, pair in estimator.learned_.items()} or None


def _soft_labels_of(estimator: Any) -> Array | None:
    """Return rows of probabilities, None where they follow from the codes."""
    targets: Array = estimator.fit_.given.targets
    return None if ((targets == 0) | (targets == 1)).all() else targets


AT_LEAST_0 = Field(lambda value, sizes: _is_number(value, 0), "a number of at least 0")
TINY = float(np.finfo(np.float64).tiny)
HEADER = {
    "parameters": Field(lambda v, s: isinstance(v, dict), "an object"),
    "from_features": one_of(True, False)._replace(of=lambda e: e.prior_.nodes.from_features),
    "both_scalings": one_of(True, False)._replace(is_needed=False),
    "views": Field(_are_views, "weight and noise by name, finite numbers of at least 0", _views_of),
    "inflation": Field(
        _are_levels, "numbers of at least 0", lambda e: e.fit_.choice.inflation.tolist()
    ),
    "agreement": Field(
        lambda v, s: _is_number(v, -1) and v <= 1,
        "a number from -1 to 1",
        lambda e: e.fit_.choice.agreement,
    ),
    "learned": Field(_are_pairs, "two numbers by name", _learned_of, is_needed=False),
    "approximations": Field(
        lambda v, s: isinstance(v, list) and all(isinstance(one, str) for one in v),
        "phrases",
        lambda e: list(e.approximations_),
    ),
}
"""What the header holds beside ``estimator``, ``encoder`` and ``standardization``."""

PARAMETERS = {
    "depth": whole(1, HIGHEST_DEPTH),
    "dtype": one_of("float32", "float64"),
    "n_neighbors": whole(1, 2**31),
    "n_jobs": Field(
        lambda v, s: v is None or whole(-1, 2**16).fits(v, s), "a number of threads or null"
    ),
    "random_state": whole(0, 2**32 - 1),
    "verbose": one_of(True, False),
    "space": one_of(*get_args(Space)),
    "decision": one_of(*get_args(DecisionRule)),
    "weight_variance": AT_LEAST_0,
    "bias_variance": AT_LEAST_0,
}
"""Parameters whose wrong values the constructors would take; those that a file has are checked."""

GRAPH = {
    "labelled": array(
        "iu",
        "D",
        lambda e: e.labelled_nodes_,
        least=0,
        below="N",
        also=lambda v, s: 0 < len(v) == len(np.unique(v)),
        said="each once",
    ),
    "features": Field(
        _are_features, "a finite float32 or float64 row for each node", is_needed=False
    ),
    "standardized": Field(
        lambda v, s: v.shape[0] == s.N and s.F > 0, "a graph of the same nodes", is_needed=False
    ),
    "names": array("iufUS", "N", is_needed=False),
    "feature_names": array(
        "US", "F", lambda e: getattr(e, "feature_names_in_", None), is_needed=False
    ),
}
SHARED_STATE = {
    "sample_weight": array("f", "D", lambda e: e.sample_weight_, least=TINY),
    "mean": array("f", "Nk", lambda e: e.fit_.mean),
}
STATE = {
    "GPGCClassifier": {
        "classes": array(
            "biuUSf",
            "k",
            lambda e: e.classes_,
            also=lambda v, s: s.k > 0 and bool((v[1:] > v[:-1]).all()),
            said="different and sorted",
        ),
        "codes": array("iu", "D", lambda e: e.codes_, least=0, below="k"),
        "bias": array("f", "k", lambda e: e.calibration_.bias),
        "temperature": array("f", "", lambda e: e.calibration_.curve.temperature, least=0),
        "curvature": array("f", "", lambda e: e.calibration_.curve.curvature, least=0),
        "flatness": array("f", "", lambda e: e.calibration_.flatness, least=0),
        "targets": array(
            "f",
            "Dk",
            _soft_labels_of,
            least=0,
            also=lambda v, s: bool(np.allclose(v.sum(axis=1), 1) and v.any(axis=0).all()),
            said="probabilities",
            is_needed=False,
        ),
    },
    "GPGCRegressor": {
        "values": Field(
            _are_values,
            "numbers of shape (D, k), or NaN where others are known",
            lambda e: e.fit_.given.targets,
        ),
        "squeeze": array("b", "", lambda e: e.is_vector_, also=lambda v, s: not v or s.k == 1),
        "scale": array("f", "k", lambda e: e.target_scale_, least=TINY),
        "target_names": array("U", "k", lambda e: e.target_names_, is_needed=False),
    },
}
"""What the estimators know of D labels and N nodes, k classes or targets."""
