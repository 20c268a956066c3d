"""Choosing among networks, base kernels, feature norms and noise levels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, get_args

import numpy as np

from gpgc.compute import Threads
from gpgc.errors import GPGCWarning, InputError
from gpgc.estimators.classifier import GPGCClassifier
from gpgc.estimators.given import UNLABELLED, GivenLabels, encode_labels
from gpgc.estimators.inputs import FeatureNorm
from gpgc.graph import Normalization
from gpgc.kernels import (
    ArcCosine,
    BaseKernel,
    InnerProduct,
    Polynomial,
    SquaredExponential,
    base_kernel_from,
)
from gpgc.models import Architecture, Prior, architecture_from
from gpgc.problem.alignment import problem_of
from gpgc.selection.choice import Choice
from gpgc_lab.array_types import Array, Integers
from gpgc_lab.settings import SelectionCriterion, Setting, order_by, score_noise_levels

BASE_KERNELS: tuple[BaseKernel, ...] = (
    InnerProduct(),
    ArcCosine(),
    Polynomial(),
    SquaredExponential(),
)

RELATIVE_NOISE = np.logspace(-5, 1, 100)


@dataclass(frozen=True)
class Selection:
    """What `select` found.

    Attributes
    ----------
    table : list of Setting
        Every setting that was tried.
    best : Setting
        The chosen one.
    estimator : GPGCClassifier
        Fitted with it on the training labels, and calibrated on the validation labels if there
        are any.
    """

    table: list[Setting]
    best: Setting
    estimator: GPGCClassifier


def select(
    X: Any,
    y: Any,
    adjacency: Any = None,
    *,
    validation: Any = None,
    criterion: SelectionCriterion | None = None,
    models: Sequence[str | Architecture] = ("small", "big"),
    base_kernels: Sequence[str | BaseKernel] = BASE_KERNELS,
    feature_norms: Sequence[FeatureNorm] = ("none", "l1", "l2"),
    normalizations: Sequence[Normalization] = ("symmetric",),
    relative_noise: Array = RELATIVE_NOISE,
    calibrate: bool = True,
    progress: Callable[[int, int], None] | None = None,
    **parameters: Any,
) -> Selection:
    """Choose a setting by validation labels, leave-one-out or evidence, and fit it.

    One eigendecomposition gives every noise level of a kernel, so noise (and δ_W, which without
    bias is the same) costs nothing. Test labels have no place here: give them to no argument.

    Parameters
    ----------
    X, y, adjacency : see `GPGCClassifier.fit`
        ``y`` holds the labels of the training and the validation nodes.
    validation : int array, optional
        The nodes whose labels choose the setting; the other labelled nodes train.
    criterion : {"validation", "validation_loss", "loo", "evidence"}, optional
        Validation accuracy with ties broken by leave-one-out, validation cross-entropy,
        leave-one-out cross-entropy (both of a softmax with a fitted temperature), or log marginal
        likelihood; by default the first where there are validation nodes, else leave-one-out.
    models, base_kernels, feature_norms, normalizations : sequence
        What to try. Models are networks, of one covariance each; *broad*, a stack of views, chooses
        by itself. A model that is an object has a base kernel of its own.
    relative_noise : array
        Noise levels, relative to the mean prior variance of the training nodes. A warning says
        where the best of them is the smallest or the largest.
    calibrate : bool
        Whether to fit temperature and class bias of the chosen estimator to the validation labels.
    progress : callable, optional
        Called with the number of kernels done and their total.
    **parameters
        Further parameters of `GPGCClassifier`, the same for all settings.

    Returns
    -------
    Selection

    Examples
    --------
    >>> import numpy as np
    >>> chain = (np.arange(9), np.arange(1, 10))
    >>> y = np.array([0, 0, -1, 0, -1, -1, 1, -1, 1, 1])
    >>> found = select(None, y, chain, feature_norms=["none"])
    >>> len(found.table), found.estimator.predict().tolist()
    (800, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    """
    problem = problem_of(X, y, adjacency)
    X, y, adjacency, names = problem.X, problem.y, problem.adjacency, problem.names
    codes, classes = encode_labels(y)
    held_out = _check_validation(validation, codes)
    criterion = criterion or ("validation" if len(held_out) else "loo")
    if criterion not in get_args(SelectionCriterion):
        raise InputError(
            f"criterion must be one of {', '.join(get_args(SelectionCriterion))}, got {criterion!r}"
        )
    if criterion.startswith("validation") and not len(held_out):
        raise InputError(f"validation must name at least one node for criterion={criterion!r}")
    train_y = np.where(codes == UNLABELLED, UNLABELLED, codes)
    train_y[held_out] = UNLABELLED
    if len(np.unique(train_y[train_y != UNLABELLED])) < len(classes):
        raise InputError("y must have a training label of every class besides the validation ones")
    _check_models(models)
    settings = _settings(models, base_kernels, feature_norms, normalizations)
    train = np.flatnonzero(train_y != UNLABELLED)
    rows = np.concatenate([train, held_out])
    priors: dict[int, Prior] = {}
    blocks: list[tuple[Setting, Array]] = []
    for index, prior in _priors(settings, parameters, X, adjacency, len(codes), names):
        priors[index] = prior
        blocks.append((settings[index], prior.covariance().block(rows, train)))
        if progress is not None:
            progress(len(priors), len(settings))

    def score(pair: tuple[Setting, Array]) -> list[Setting]:
        return score_noise_levels(
            pair[1],
            pair[0],
            codes[train],
            codes[held_out],
            relative_noise,
            validation_loss=criterion == "validation_loss",
        )

    scored = Threads(parameters.get("n_jobs")).map(score, blocks)
    order = order_by(criterion)
    levels, best = min(
        ((levels, row) for levels in scored for row in levels), key=lambda one: order(one[1])
    )
    _warn_of_edge(levels, best, order)
    estimator = GPGCClassifier(**{**parameters, **best.parameters()})
    index = next(i for i, setting in enumerate(settings) if setting.is_of(best))
    choice = Choice.of_one("graph", np.array([best.noise_variance]))
    estimator.fit_prior(priors[index], GivenLabels.certain(train_y, classes), choice)
    if calibrate and len(held_out):
        estimator.calibrate(held_out, classes[codes[held_out]])
    return Selection([row for levels in scored for row in levels], best, estimator)


def _check_models(models: Iterable[str | Architecture]) -> None:
    """Refuse an architecture of several views, which chooses by itself."""
    for model in models:
        if architecture_from(model).has_views:
            raise InputError(
                f"models must be networks of one covariance, got {model!r}, a stack of views that "
                "fit chooses by itself; compare it by gpgc.evaluate"
            )


def _settings(
    models: Iterable[str | Architecture],
    base_kernels: Iterable[str | BaseKernel],
    feature_norms: Iterable[FeatureNorm],
    normalizations: Iterable[Normalization],
) -> list[Setting]:
    kernels = [base_kernel_from(kernel) for kernel in base_kernels]
    norms = list(feature_norms)
    return [
        Setting(model, kernel, norm, normalization)
        for model in models
        for kernel, norm, normalization in product(
            _kernels_of(model, kernels), norms, normalizations
        )
    ]


def _kernels_of(model: str | Architecture, kernels: list[BaseKernel]) -> list[BaseKernel]:
    """Return the base kernels to try; an architecture that is given as an object has its own."""
    own = [model.base_kernel] if isinstance(model, Architecture) else kernels
    return [base_kernel_from(kernel) for kernel in own]


def _priors(
    settings: Sequence[Setting],
    parameters: dict[str, Any],
    X: Any,
    adjacency: Any,
    n_nodes: int,
    names: Any,
) -> Iterator[tuple[int, Prior]]:
    """Give the index and the prior of each setting, those of one graph and features in a row.

    Neighbours are searched once for all of them, and priors share what does not depend on model
    and base kernel.
    """
    first: Prior | None = None
    shared: dict[tuple[str, str, type[Architecture]], Prior] = {}
    for index, setting in enumerate(settings):
        estimator = GPGCClassifier(**{**parameters, **setting.parameters()})
        architecture = estimator.architecture()
        key = setting.feature_norm, setting.normalization, type(architecture)
        if key not in shared:
            links = adjacency if first is None else first.nodes.adjacency
            shared[key] = estimator.make_prior(
                X, links, n_nodes, names, from_features=adjacency is None
            )
            first = first or shared[key]
        yield index, shared[key].variant(architecture)


def _check_validation(validation: Any, codes: Integers) -> Integers:
    if validation is None:
        return np.empty(0, dtype=np.intp)
    nodes = np.asarray(validation)
    if nodes.ndim != 1 or (nodes.size and nodes.dtype.kind not in "iu"):
        raise InputError(
            f"validation must be a 1-D array of nodes, got shape {nodes.shape} of {nodes.dtype}"
        )
    if nodes.size and (nodes.min() < 0 or nodes.max() >= len(codes)):
        raise InputError(f"validation must name nodes from 0 to {len(codes) - 1}")
    if (codes[nodes.astype(np.intp)] == UNLABELLED).any():
        raise InputError("validation must name nodes that y has labels of, got unlabelled ones")
    return np.unique(nodes).astype(np.intp)


def _warn_of_edge(
    levels: list[Setting], best: Setting, order: Callable[[Setting], tuple[float, float]]
) -> None:
    """Warn where the best noise is the first or the last of those tried, and still gaining."""
    for edge, neighbour, word in ((0, 1, "smallest"), (-1, -2, "largest")):
        at_edge = len(levels) > 1 and best is levels[edge]
        if at_edge and order(best)[0] < order(levels[neighbour])[0]:
            warnings.warn(
                f"the best noise is the {word} that was tried, {best.noise_variance:g}; "
                "give relative_noise more levels beyond it",
                GPGCWarning,
                stacklevel=3,
            )
