"""Save and load in one file: arrays and JSON in a zip archive, no pickle."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
import zlib
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.errors import DataError, InputError
from gpgc.gp import NoiseChoice
from gpgc.kernels import BASE_KERNELS

if TYPE_CHECKING:
    from gpgc.estimators.base import GraphProcess

FORMAT = "gpgc-estimator"
VERSION = 1
UNREADABLE = (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile, zlib.error)


def save(estimator: GraphProcess, path: Path) -> None:
    """Write a fitted estimator; either the whole file appears or nothing."""
    arrays: dict[str, NDArray[Any]] = {"labelled": estimator.labelled_nodes_}
    _pack_matrix("adjacency", estimator.adjacency_, arrays)
    if estimator._features is not None:
        _pack_matrix("features", estimator._features, arrays)
    for name, value in estimator._state().items():
        arrays[f"state/{name}"] = _plain(value, name)
    if hasattr(estimator, "feature_names_in_"):
        arrays["feature_names"] = _plain(estimator.feature_names_in_, "feature names")
    header = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": type(estimator).__name__,
        "parameters": {
            name: _to_json(name, value) for name, value in estimator.get_params(False).items()
        },
        "built_graph": estimator._built_graph,
        "feature_share": estimator.feature_share_,
        "noise_variance": estimator._noise.noise_variance,
        "temperature": estimator._noise.temperature,
    }
    header["sha256"] = _digest(header, arrays)
    buffer = io.BytesIO()
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez_compressed(buffer, allow_pickle=False, header=text, **arrays)
    write_whole(path, buffer.getvalue())


def load(path: str | Path) -> GraphProcess:
    """Read an estimator that ``save`` wrote.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    GPGCClassifier or GPGCRegressor
        Fitted, with the noise that was chosen when it was saved.

    Raises
    ------
    DataError
        If the file is not of this kind, truncated, altered, or from a newer version.
    """
    from gpgc.estimators.classifier import GPGCClassifier
    from gpgc.estimators.regressor import GPGCRegressor

    header, arrays = _read(Path(path))
    kinds = {kind.__name__: kind for kind in (GPGCClassifier, GPGCRegressor)}
    parameters = header["parameters"]
    if isinstance(parameters["base_kernel"], dict):
        kernel = dict(parameters["base_kernel"])
        parameters["base_kernel"] = BASE_KERNELS[kernel.pop("name")](**kernel)
    estimator = kinds[header["estimator"]](**parameters)
    graph = _unpack_matrix("adjacency", arrays)
    features = _unpack_matrix("features", arrays) if _has("features", arrays) else None
    if features is not None:
        estimator.n_features_in_ = features.shape[1]
    if "feature_names" in arrays:
        estimator.feature_names_in_ = arrays["feature_names"].astype(object)
    estimator._set_graph(graph, features, header["built_graph"])
    state = {name[6:]: array for name, array in arrays.items() if name.startswith("state/")}
    noise = NoiseChoice(header["noise_variance"], header["temperature"])
    estimator._restore(arrays["labelled"], state, (header["feature_share"], noise))
    return estimator


def write_whole(path: Path, content: bytes) -> None:
    """Write a file through a temporary one beside it, so that it is never seen half-written."""
    if not path.parent.is_dir():
        raise InputError(f"path must lie in a folder that exists, got {path}")
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    if not path.is_file():
        raise DataError(f"{path} does not exist; expected a file written by save()")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop("header").tobytes())
        known = header["format"] == FORMAT
    except (
        ValueError,
        KeyError,
        TypeError,
        OSError,
        EOFError,
        zipfile.BadZipFile,
        zlib.error,
    ) as e:
        raise DataError(
            f"{path} is truncated or was not written by gpgc's save(): {type(e).__name__}: {e}"
        ) from e
    if not known:
        raise DataError(f"{path} was not written by gpgc's save(): format {header['format']!r}")
    if header["version"] > VERSION:
        raise DataError(
            f"{path} has format version {header['version']}, this gpgc reads up to {VERSION}: "
            "load it with a newer gpgc"
        )
    if header.pop("sha256", None) != _digest(header, arrays):
        raise DataError(f"{path} was altered after it was saved: its checksum does not fit")
    return header, arrays


def _digest(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    content = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        content.update(f"{name} {array.dtype.str} {array.shape}".encode())
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


def _pack_matrix(name: str, matrix: Any, arrays: dict[str, NDArray[Any]]) -> None:
    if not sp.issparse(matrix):
        arrays[name] = np.asarray(matrix)
        return
    for part in ("data", "indices", "indptr"):
        arrays[f"{name}/{part}"] = getattr(matrix, part)
    arrays[f"{name}/shape"] = np.array(matrix.shape)


def _has(name: str, arrays: dict[str, NDArray[Any]]) -> bool:
    return name in arrays or f"{name}/data" in arrays


def _unpack_matrix(name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    if name in arrays:
        return arrays[name]
    data, indices, indptr, shape = (
        arrays[f"{name}/{part}"] for part in ("data", "indices", "indptr", "shape")
    )
    return sp.csr_array((data, indices, indptr), shape=tuple(shape))


def _plain(values: Any, name: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.dtype.kind != "O":
        return array
    if not all(isinstance(value, str) for value in array):
        kinds = sorted({type(value).__name__ for value in array})
        raise InputError(f"{name} can be saved as numbers or strings, got {', '.join(kinds)}")
    return array.astype(str)


def _to_json(name: str, value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple | np.ndarray):
        return np.asarray(value).tolist()
    if isinstance(value, np.generic):
        return value.item()
    for known, kind in BASE_KERNELS.items():
        if type(value) is kind and is_dataclass(value):
            return {"name": known, **asdict(value)}
    raise InputError(f"{name} cannot be saved: {value!r} is an object that gpgc does not know")
