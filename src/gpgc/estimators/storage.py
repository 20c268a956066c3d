"""Save and load a fitted estimator in one file."""

from __future__ import annotations

import warnings
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.errors import DataError, GPGCWarning, InputError
from gpgc.estimators.given_labels import GivenLabels
from gpgc.estimators.labels import UNLABELLED
from gpgc.estimators.model_file import StoredModel, pack_model, read_model
from gpgc.estimators.standardise import stored_standardisation, to_header
from gpgc.files import pack_sparse, parse_bytes, write_file
from gpgc.graph import Nodes
from gpgc.kernels import ACTIVATIONS, BASE_KERNELS
from gpgc.models import REGISTRY, Architecture
from gpgc.models.learnable import with_values
from gpgc.probability.class_prior import prior_of
from gpgc.probability.score_curve import ScoreCurve
from gpgc.selection.choice import Choice
from gpgc.tables.node_names import as_names
from gpgc.tables.stored_encoder import to_json

if TYPE_CHECKING:
    from gpgc.estimators.base import GraphProcess


def save(estimator: GraphProcess, path: Path) -> None:
    """Write a fitted estimator; either the whole file appears or nothing."""
    nodes = estimator.prior_.nodes
    arrays: dict[str, NDArray[Any]] = {"labelled": estimator.labelled_nodes_}
    arrays |= pack_sparse(nodes.adjacency, "adjacency/")
    if sp.issparse(nodes.features):
        arrays |= pack_sparse(nodes.features, "features/")
    elif nodes.features is not None:
        arrays["features"] = np.asarray(nodes.features)
    if nodes.names is not None and _can_be_stored(nodes.names):
        arrays["names"] = _plain(nodes.names, "names")
    for name, value in _state(estimator).items():
        arrays[f"state/{name}"] = _plain(value, name)
    if hasattr(estimator, "feature_names_in_"):
        arrays["feature_names"] = _plain(estimator.feature_names_in_, "feature names")
    parameters = estimator.get_params(False)
    if "class_prior" in parameters:
        parameters["class_prior"] = prior_of(parameters["class_prior"], estimator.classes_)
    header = {
        "estimator": type(estimator).__name__,
        "parameters": {name: _to_json(name, value) for name, value in parameters.items()},
        "from_features": nodes.from_features,
        "view_weights": estimator.view_weights_,
        "noise_levels": estimator.noise_levels_.tolist(),
    }
    if estimator.learned_:
        header["learned"] = {name: list(pair) for name, pair in estimator.learned_.items()}
    if nodes.standardisation is not None:
        header["standardisation"] = to_header(nodes.standardisation)
    if nodes.encoder is not None:
        header["encoder"] = to_json(nodes.encoder)
    write_file(path, pack_model(header, arrays))


def load(path: str | Path, *, memory_limit: int | str | None = None) -> GraphProcess:
    """Read an estimator that ``save`` wrote.

    Parameters
    ----------
    path : str or Path
        The file.
    memory_limit : int or str, optional
        Bytes, or text such as ``"4GB"``, that its arrays may take. When not given 512 MiB, or a
        hundred times the size of the file where that is more, so that a small file from outside
        cannot take the machine's memory.

    Returns
    -------
    GPGCClassifier or GPGCRegressor
        Fitted, with the views and the noise that were chosen when it was saved.

    Raises
    ------
    DataError
        If the file is not of this kind, truncated, altered, of another version, or if a field
        holds what no fit gives.
    """
    stored = read_model(Path(path), parse_bytes(memory_limit))
    try:
        return _rebuild(stored)
    except (ValueError, TypeError, KeyError, ArithmeticError) as error:
        raise DataError(f"{path} holds what does not fit each other: {error}") from error


def _rebuild(stored: StoredModel) -> GraphProcess:
    from gpgc.estimators.classifier import GPGCClassifier
    from gpgc.estimators.regressor import GPGCRegressor

    kinds = {kind.__name__: kind for kind in (GPGCClassifier, GPGCRegressor)}
    parameters = {name: _from_json(value) for name, value in stored.header["parameters"].items()}
    estimator = kinds[stored.header["estimator"]](**parameters)
    if stored.features is not None:
        encoder = stored.encoder
        columns = stored.features.shape[1] if encoder is None else len(encoder.columns)
        estimator.n_features_in_ = columns
    if stored.feature_names is not None:
        estimator.feature_names_in_ = stored.feature_names.astype(object)
    nodes = Nodes(
        stored.adjacency,
        stored.features,
        estimator.normalization,
        names=None if stored.names is None else as_names(stored.names.tolist()),
        from_features=stored.header["from_features"],
        encoder=stored.encoder,
        standardisation=stored_standardisation(
            stored.header.get("standardisation"),
            0 if stored.features is None else stored.features.shape[1],
        ),
    )
    prior, state = estimator.prior_on(nodes), stored.state
    learned = {name: tuple(pair) for name, pair in stored.header.get("learned", {}).items()}
    moved = {name: after for name, (_, after) in learned.items() if name != "noise_variance"}
    prior, estimator.learned_ = prior.variant(with_values(prior.architecture, moved)), learned
    choice = Choice(stored.header["view_weights"], np.array(stored.header["noise_levels"]))
    weights = state.get("sample_weight", np.ones(len(stored.labelled)))
    if isinstance(estimator, GPGCClassifier):
        codes = np.full(len(nodes), UNLABELLED)
        codes[stored.labelled] = state["codes"]
        certain = GivenLabels.certain(codes, state["classes"])
        targets = state.get("targets", certain.targets)
        given = replace(certain, targets=targets, weights=weights)
        curve = ScoreCurve(float(state["temperature"]), float(state.get("curvature", 0.0)))
        flat = float(state.get("flatness", 0.0))
        return estimator.fit_prior(prior, given, choice, (curve, state["bias"], flat))
    values = state["values"]
    squeeze = bool(state["squeeze"])
    return estimator.fit_prior(
        prior,
        stored.labelled,
        values,
        squeeze=squeeze,
        scale=state["scale"],
        choice=choice,
        sample_weight=weights,
    )


def _state(estimator: GraphProcess) -> dict[str, Any]:
    """Return what is stored beside graph, features and choices."""
    from gpgc.estimators.classifier import GPGCClassifier
    from gpgc.estimators.regressor import GPGCRegressor

    targets = estimator.posterior_.targets
    weights = {"sample_weight": estimator.sample_weight_}
    if isinstance(estimator, GPGCClassifier):
        soft = {} if _is_one_hot(targets) else {"targets": targets}
        return {
            **soft,
            **weights,
            "classes": estimator.classes_,
            "codes": estimator.codes_,
            "temperature": np.array(estimator.calibration_.temperature),
            "curvature": np.array(estimator.calibration_.curve.curvature),
            "bias": estimator.calibration_.bias,
            "flatness": np.array(estimator.calibration_.flatness),
        }
    if not isinstance(estimator, GPGCRegressor):
        raise InputError(f"estimator must be one of gpgc's, got {type(estimator).__name__}")
    scale = estimator.target_scale_
    return {
        **weights,
        "values": targets * scale + estimator.target_mean_,
        "squeeze": np.array(estimator.is_vector_),
        "scale": scale,
    }


def _is_one_hot(targets: NDArray[Any]) -> bool:
    return bool(((targets == 0) | (targets == 1)).all())


def _can_be_stored(names: NDArray[Any]) -> bool:
    """Return whether names are numbers or strings; warn where others are lost."""
    if names.dtype.kind != "O" or all(isinstance(name, str) for name in names):
        return True
    kinds = sorted({type(name).__name__ for name in names})
    warnings.warn(
        f"names of nodes are saved where all are strings or all are numbers, got "
        f"{', '.join(kinds)}: the file has none, and calls its nodes 0 to {len(names) - 1}",
        GPGCWarning,
        stacklevel=4,
    )
    return False


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
    for known, shape in ACTIVATIONS.items():
        if type(value) is shape and is_dataclass(value):
            return {"activation": known, **asdict(value)}
    for known, make in REGISTRY.items():
        if isinstance(value, Architecture) and type(value) is type(make()):
            numbers = {part.name: getattr(value, part.name) for part in fields(value)}
            return {"architecture": known} | {
                part: _to_json(part, number) for part, number in numbers.items()
            }
    raise InputError(f"{name} cannot be saved: {value!r} is an object that gpgc does not know")


def _from_json(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    parts = {name: _from_json(part) for name, part in value.items()}
    if "architecture" in parts:
        return type(REGISTRY[parts.pop("architecture")]())(**parts)
    if "name" in parts:
        return BASE_KERNELS[parts.pop("name")](**parts)
    return ACTIVATIONS[parts.pop("activation")](**parts)
