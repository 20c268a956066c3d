"""Choosing among models, base kernels, feature norms and noise levels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from typing import Any, get_args

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.engine import Engine
from gpgc.errors import GPGCWarning, InputError
from gpgc.estimators.classifier import GPGCClassifier
from gpgc.estimators.inputs import FeatureNorm
from gpgc.estimators.labels import UNLABELLED, encode_labels
from gpgc.estimators.scoring import SelectionCriterion, Setting, order_by, score_noise_levels
from gpgc.graph import Normalization
from gpgc.kernels import (
    ArcCosine,
    BaseKernel,
    InnerProduct,
    Polynomial,
    SquaredExponential,
    base_kernel_from,
)
from gpgc.models import Model
from gpgc.models.architecture import Network

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
    models: Sequence[Model] = ("small", "big", "broad"),
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
    models, base_kernels, feature_norms, normalizations : sequences
        What to try. *broad* scales rows itself, so it is tried with one feature norm; it is tried
        with each of its fractions of the features' own covariance.
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
    >>> found = select(None, y, chain, models=["small", "big"], feature_norms=["none"])
    >>> len(found.table), found.estimator.predict().tolist()
    (800, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    """
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
    settings = _settings(models, base_kernels, feature_norms, normalizations)
    train = np.flatnonzero(train_y != UNLABELLED)
    rows = np.concatenate([train, held_out])
    blocks: dict[tuple[int, float], Array] = {}
    networks = _networks(settings, parameters, X, adjacency, len(codes))
    for done, (index, network) in enumerate(networks, 1):
        blocks |= {(index, part): block for part, block in network.candidates(rows, train)}
        if progress is not None:
            progress(done, len(settings))
    scored: dict[tuple[int, float], list[Setting]] = {}

    def score(key: tuple[int, float]) -> None:
        index, fraction = key
        scored[key] = score_noise_levels(
            blocks[key],
            replace(settings[index], feature_share=fraction),
            codes[train],
            codes[held_out],
            relative_noise,
            validation_loss=criterion == "validation_loss",
        )

    Engine(parameters.get("n_jobs")).each(score, blocks)
    order = order_by(criterion)
    key, best = min(
        ((key, row) for key in sorted(scored) for row in scored[key]), key=lambda one: order(one[1])
    )
    _warn_of_edge(scored[key], best, order)
    chosen = GPGCClassifier(**{**parameters, **best.parameters()})
    chosen.fit_chosen(X, train_y, classes, adjacency, best.feature_share)
    table = [row for key in sorted(scored) for row in scored[key]]
    if calibrate and len(held_out):
        chosen.calibrate(held_out, classes[codes[held_out]])
    return Selection(table, best, chosen)


def _settings(
    models: Iterable[Model],
    base_kernels: Iterable[str | BaseKernel],
    feature_norms: Iterable[FeatureNorm],
    normalizations: Iterable[Normalization],
) -> list[Setting]:
    kernels = [base_kernel_from(kernel) for kernel in base_kernels]
    norms = list(feature_norms)
    return [
        Setting(model, kernel, norm, normalization)
        for model, kernel, norm, normalization in product(models, kernels, norms, normalizations)
        if model != "broad" or norm == norms[0]
    ]


def _networks(
    settings: Sequence[Setting], parameters: dict[str, Any], X: Any, adjacency: Any, n_nodes: int
) -> Iterator[tuple[int, Network]]:
    """Give the index and the network of each setting, those of one graph and features in a row.

    They share what does not depend on model and base kernel.
    """

    def shared(place: int) -> tuple[str, str, bool]:
        setting = settings[place]
        return setting.feature_norm, setting.normalization, setting.model == "broad"

    for _, places in groupby(sorted(range(len(settings)), key=shared), key=shared):
        network: Network | None = None
        for place in places:
            estimator = GPGCClassifier(**{**parameters, **settings[place].parameters()})
            if network is None:
                estimator._fit_graph(X, adjacency, n_nodes)
                network = estimator._network
            yield place, network.variant(estimator._architecture())


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
