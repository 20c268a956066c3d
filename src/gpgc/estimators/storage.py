"""Save and load a fitted estimator in one file."""

from __future__ import annotations

import warnings
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.errors import DataError, GPGCWarning, InputError
from gpgc.estimators.base import Fit, GraphProcess, Unit
from gpgc.estimators.classifier import GPGCClassifier, label_fractions, unit_of_classes
from gpgc.estimators.given import Given, GivenLabels, GivenValues
from gpgc.estimators.inputs import check_noise
from gpgc.estimators.model_file import (
    GRAPH,
    HEADER,
    SHARED_STATE,
    STATE,
    StoredModel,
    pack_model,
    read_model,
    written,
)
from gpgc.estimators.regressor import GPGCRegressor, known_average
from gpgc.estimators.standardize import stored_standardization, to_header
from gpgc.files import pack_sparse, parse_bytes, write_file
from gpgc.graph import Nodes
from gpgc.kernels import ACTIVATIONS, BASE_KERNELS
from gpgc.models import REGISTRY
from gpgc.models.learnable import with_values
from gpgc.probability.calibration import Calibration
from gpgc.probability.class_prior import prior_of
from gpgc.probability.score_curve import ScoreCurve
from gpgc.problem.encoder import to_json
from gpgc.problem.names import as_names
from gpgc.selection.choice import Choice, ChosenView


def save(estimator: GraphProcess, path: Path) -> None:
    """Write a fitted estimator; either the whole file appears or nothing."""
    nodes, kind = estimator.prior_.nodes, type(estimator).__name__
    if kind not in STATE:
        raise InputError(f"estimator must be one of gpgc's, got {kind}")
    found = written(GRAPH, estimator)
    found |= {
        f"state/{name}": value
        for name, value in written(STATE[kind] | SHARED_STATE, estimator).items()
    }
    if nodes.names is not None and _can_be_stored(nodes.names):
        found["names"] = nodes.names
    arrays = {name: _plain(value, name.removeprefix("state/")) for name, value in found.items()}
    arrays |= pack_sparse(nodes.adjacency, "adjacency/")
    if sp.issparse(nodes.features):
        arrays |= pack_sparse(nodes.features, "features/")
    elif nodes.features is not None:
        arrays["features"] = np.asarray(nodes.features)
    parameters = estimator.get_params(False)
    if "class_prior" in parameters:
        parameters["class_prior"] = prior_of(parameters["class_prior"], estimator.classes_)
    header = {
        "estimator": kind,
        "parameters": {name: _to_json(name, value) for name, value in parameters.items()},
        **written(HEADER, estimator),
    }
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
    header, encoder, graph, state = stored
    kinds = {kind.__name__: kind for kind in (GPGCClassifier, GPGCRegressor)}
    parameters = {name: _from_json(value) for name, value in header["parameters"].items()}
    estimator = kinds[header["estimator"]](**parameters)
    features, names = graph.get("features"), graph.get("names")
    n_columns = 0 if features is None else features.shape[1]
    if features is not None:
        estimator.n_features_in_ = n_columns if encoder is None else len(encoder.columns)
    if "feature_names" in graph:
        estimator.feature_names_in_ = graph["feature_names"].astype(object)
    nodes = Nodes(
        graph["adjacency"],
        features,
        estimator.normalization,
        names=None if names is None else as_names(names.tolist()),
        from_features=header["from_features"],
        encoder=encoder,
    )
    scaling = stored_standardization(header.get("standardization"), n_columns)
    if scaling is not None and not header["both_scalings"]:
        nodes = replace(nodes, standardization=scaling)
    elif scaling is not None:
        links = graph.get("standardized", nodes.adjacency)
        columns = scaling.apply(features)
        scaled = replace(nodes, adjacency=links, features=columns, standardization=scaling)
        nodes = replace(nodes, standardized=scaled)
    prior = estimator.prior_on(nodes)
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
    known = (len(nodes), graph["labelled"].astype(np.intp))
    weights, said = state["sample_weight"], tuple(header["approximations"])
    given: Given
    if isinstance(estimator, GPGCClassifier):
        check_noise(estimator.noise_variance, 1)
        codes, classes = state["codes"], state["classes"]
        targets = state.get("targets", np.eye(len(classes))[codes])
        given = GivenLabels(*known, targets, weights, codes, classes)
        unit = unit_of_classes(given)
        curve = ScoreCurve(float(state["temperature"]), float(state["curvature"]))
        flatness = float(state["flatness"])
        estimator.calibration_ = Calibration(curve, state["bias"], label_fractions(given), flatness)
    else:
        values = state["values"]
        check_noise(estimator.noise_variance, values.shape[1])
        is_vector, called = bool(state["squeeze"]), state.get("target_names")
        given = GivenValues(*known, values, weights, is_vector, called)
        unit = Unit(known_average(values, weights), state["scale"])
    estimator.prior_, estimator.fit_ = prior, Fit(given, unit, choice, state["mean"], said)
    return estimator


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


def _objects() -> dict[str, dict[str, Any]]:
    """Return the classes of parameters by name, under the key that tells their kind.

    Networks come first, which have an activation too; some are registered after the import.
    """
    networks: dict[str, Any] = {name: type(make()) for name, make in REGISTRY.items()}
    return {"architecture": networks, "name": BASE_KERNELS, "activation": ACTIVATIONS}


def _to_json(name: str, value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple | np.ndarray):
        return np.asarray(value).tolist()
    if isinstance(value, np.generic):
        return value.item()
    for tag, kinds in _objects().items():
        for known, kind in kinds.items():
            if type(value) is kind and is_dataclass(value):
                numbers = {part.name: getattr(value, part.name) for part in fields(value)}
                return {tag: known} | {part: _to_json(part, one) for part, one in numbers.items()}
    raise InputError(f"{name} cannot be saved: {value!r} is an object that gpgc does not know")


def _from_json(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    parts = {name: _from_json(part) for name, part in value.items()}
    for tag, kinds in _objects().items():
        if tag in parts:
            return kinds[parts.pop(tag)](**parts)
    raise InputError(f"parameters must be numbers, text or known objects, got {value!r:.60}")
