"""Save and load a fitted estimator in one file."""

from __future__ import annotations

import warnings
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.errors import DataError, GPGCWarning, InputError
from gpgc.estimators.base import Fit, GraphProcess
from gpgc.estimators.classifier import GPGCClassifier
from gpgc.estimators.given import UNLABELLED, GivenLabels, GivenValues
from gpgc.estimators.inputs import check_noise
from gpgc.estimators.model_file import StoredModel, pack_model, read_model
from gpgc.estimators.regressor import GPGCRegressor, known_average
from gpgc.estimators.standardize import stored_standardization, to_header
from gpgc.files import pack_sparse, parse_bytes, write_file
from gpgc.graph import Nodes
from gpgc.kernels import ACTIVATIONS, BASE_KERNELS
from gpgc.models import REGISTRY, Architecture
from gpgc.models.learnable import with_values
from gpgc.probability.class_prior import prior_of
from gpgc.probability.score_curve import ScoreCurve
from gpgc.problem.encoder import to_json
from gpgc.problem.node_names import as_names
from gpgc.selection.choice import Choice, ChosenView


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
    fit = estimator.fit_
    header = {
        "estimator": type(estimator).__name__,
        "parameters": {name: _to_json(name, value) for name, value in parameters.items()},
        "from_features": nodes.from_features,
        "views": {
            view.name: {"weight": view.weight.tolist(), "noise": view.levels.tolist()}
            for view in fit.choice.views
        },
        "inflation": fit.choice.inflation.tolist(),
        "agreement": fit.choice.agreement,
        "approximations": list(fit.approximations),
    }
    if estimator.learned_:
        header["learned"] = {name: list(pair) for name, pair in estimator.learned_.items()}
    scaled = nodes if nodes.standardization is not None else nodes.standardized
    if scaled is not None:
        header["standardization"] = to_header(scaled.standardization)
        header["both_scalings"] = nodes.standardized is not None
    if nodes.standardized is not None and nodes.from_features:
        arrays |= pack_sparse(nodes.standardized.adjacency, "standardized/")
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
    )
    scaling = stored_standardization(
        stored.header.get("standardization"),
        0 if stored.features is None else stored.features.shape[1],
    )
    if scaling is not None and not stored.header["both_scalings"]:
        nodes = replace(nodes, standardization=scaling)
    elif scaling is not None:
        graph = nodes.adjacency if stored.scaled_adjacency is None else stored.scaled_adjacency
        columns = scaling.apply(nodes.features)
        scaled = replace(nodes, adjacency=graph, features=columns, standardization=scaling)
        nodes = replace(nodes, standardized=scaled)
    prior, header = estimator.prior_on(nodes), stored.header
    learned = {name: tuple(pair) for name, pair in header.get("learned", {}).items()}
    moved = {name: after for name, (_, after) in learned.items() if name != "noise_variance"}
    prior, estimator.learned_ = prior.variant(with_values(prior.architecture, moved)), learned
    if unknown := header["views"].keys() - set(prior.views):
        raise InputError(f"views must be those of the model, got {unknown.pop()!r:.60}")
    views = (
        ChosenView(name, np.array(view["weight"]), np.array(view["noise"]))
        for name, view in header["views"].items()
    )
    choice = Choice(tuple(views), np.array(header["inflation"]), header["agreement"])
    state, labelled = stored.state, stored.labelled
    weights, mean = state["sample_weight"], state["mean"]
    said = tuple(header["approximations"])
    if isinstance(estimator, GPGCClassifier):
        check_noise(estimator.noise_variance, 1)
        codes = np.full(len(nodes), UNLABELLED)
        codes[labelled] = state["codes"]
        given = replace(GivenLabels.certain(codes, state["classes"]), weights=weights)
        given = replace(given, targets=state.get("targets", given.targets))
        estimator.take(prior, Fit(labelled, given.targets, weights, choice, mean, said))
        estimator.take_labels(given)
        curve = ScoreCurve(float(state["temperature"]), float(state["curvature"]))
        estimator.take_calibration(curve, state["bias"], float(state["flatness"]))
        return estimator
    values, scale, is_vector = state["values"], state["scale"], bool(state["squeeze"])
    check_noise(estimator.noise_variance, values.shape[1])
    called = state.get("target_names")
    kept = GivenValues(len(nodes), labelled, values, weights, is_vector, called)
    targets = (values - known_average(values, weights)) / scale
    estimator.take(prior, Fit(labelled, targets, weights, choice, mean, said))
    estimator.take_values(kept, scale)
    return estimator


def _state(estimator: GraphProcess) -> dict[str, Any]:
    """Return what is stored beside graph, features and choices."""
    fit = estimator.fit_
    shared = {"sample_weight": fit.weights, "mean": fit.mean}
    if isinstance(estimator, GPGCClassifier):
        is_certain = bool(((fit.targets == 0) | (fit.targets == 1)).all())
        found = estimator.calibration_
        return (
            shared
            | ({} if is_certain else {"targets": fit.targets})
            | {
                "classes": estimator.classes_,
                "codes": estimator.codes_,
                "temperature": np.array(found.curve.temperature),
                "curvature": np.array(found.curve.curvature),
                "bias": found.bias,
                "flatness": np.array(found.flatness),
            }
        )
    if not isinstance(estimator, GPGCRegressor):
        raise InputError(f"estimator must be one of gpgc's, got {type(estimator).__name__}")
    called = estimator.target_names_
    return (
        shared
        | ({} if called is None else {"target_names": called})
        | {
            "values": estimator.given_values(),
            "squeeze": np.array(estimator.is_vector_),
            "scale": estimator.target_scale_,
        }
    )


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
