"""Save and load a fitted estimator in one file."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.errors import DataError, InputError
from gpgc.estimators.model_file import StoredModel, pack_model, read_model
from gpgc.files import pack_sparse, write_file
from gpgc.gp import NoiseChoice
from gpgc.kernels import BASE_KERNELS

if TYPE_CHECKING:
    from gpgc.estimators.base import GraphProcess


write_whole = write_file


def save(estimator: GraphProcess, path: Path) -> None:
    """Write a fitted estimator; either the whole file appears or nothing."""
    arrays: dict[str, NDArray[Any]] = {"labelled": estimator.labelled_nodes_}
    arrays |= pack_sparse(estimator.adjacency_, "adjacency/")
    features = estimator._features
    if sp.issparse(features):
        arrays |= pack_sparse(features, "features/")
    elif features is not None:
        arrays["features"] = np.asarray(features)
    for name, value in estimator._state().items():
        arrays[f"state/{name}"] = _plain(value, name)
    if hasattr(estimator, "feature_names_in_"):
        arrays["feature_names"] = _plain(estimator.feature_names_in_, "feature names")
    header = {
        "estimator": type(estimator).__name__,
        "parameters": {
            name: _to_json(name, value) for name, value in estimator.get_params(False).items()
        },
        "built_graph": estimator._built_graph,
        "feature_share": estimator.feature_share_,
        "noise_variance": estimator._noise.noise_variance,
        "temperature": estimator._noise.temperature,
    }
    write_file(path, pack_model(header, arrays))


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
        If the file is not of this kind, truncated, altered, from a newer version, or if a field
        holds what no fit gives.
    """
    stored = read_model(Path(path))
    try:
        return _rebuild(stored)
    except (ValueError, TypeError, KeyError, ArithmeticError) as error:
        raise DataError(f"{path} holds what does not fit each other: {error}") from error


def _rebuild(stored: StoredModel) -> GraphProcess:
    from gpgc.estimators.classifier import GPGCClassifier
    from gpgc.estimators.regressor import GPGCRegressor

    kinds = {kind.__name__: kind for kind in (GPGCClassifier, GPGCRegressor)}
    parameters = dict(stored.header["parameters"])
    if isinstance(parameters["base_kernel"], dict):
        kernel = dict(parameters["base_kernel"])
        parameters["base_kernel"] = BASE_KERNELS[kernel.pop("name")](**kernel)
    estimator = kinds[stored.header["estimator"]](**parameters)
    if stored.features is not None:
        estimator.n_features_in_ = stored.features.shape[1]
    if stored.feature_names is not None:
        estimator.feature_names_in_ = stored.feature_names.astype(object)
    estimator._set_graph(stored.adjacency, stored.features, stored.header["built_graph"])
    noise = NoiseChoice(stored.header["noise_variance"], stored.header["temperature"])
    chosen = (stored.header["feature_share"], noise)
    estimator._restore(stored.labelled, stored.state, chosen)
    return estimator


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
