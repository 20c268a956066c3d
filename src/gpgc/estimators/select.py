"""Choosing among models, base kernels, feature norms and noise levels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from typing import Any, Literal, get_args

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators.base import FeatureNorm
from gpgc.estimators.classifier import GPGCClassifier
from gpgc.estimators.labels import UNLABELLED, encode_labels
from gpgc.gp import NoisePath
from gpgc.gp.selection import cross_entropies, fit_temperature
from gpgc.graph import Normalization
from gpgc.kernels import (
    ArcCosine,
    BaseKernel,
    Covariance,
    InnerProduct,
    Polynomial,
    SquaredExponential,
    base_kernel_from,
)
from gpgc.models import Model
from gpgc.models.architecture import Network

SelectionCriterion = Literal["validation", "validation_loss", "loo", "evidence"]

BASE_KERNELS: tuple[BaseKernel, ...] = (
    InnerProduct(),
    ArcCosine(),
    Polynomial(),
    SquaredExponential(),
)

RELATIVE_NOISE = np.logspace(-5, 1, 100)


@dataclass(frozen=True)
class Setting:
    """One setting with its scores, a row of ``Selection.table``.

    Attributes
    ----------
    model, base_kernel, feature_norm, normalization : see `GPGCClassifier`
        The network and how features and graph are scaled.
    noise_variance : float
        σ_τ² at δ_W = 1. Without bias only σ_τ²/δ_W^L matters, so this covers δ_W.
    validation_accuracy, validation_cross_entropy : float or None
        On the validation nodes, where there are any; the latter, of a softmax with a temperature
        fitted to them, only where it is the criterion.
    loo_accuracy, loo_cross_entropy : float
        Leave-one-out on the training labels, the latter of a softmax with a fitted temperature.
    evidence : float
        Log marginal likelihood of the training labels.
    """

    model: Model
    base_kernel: BaseKernel
    feature_norm: FeatureNorm
    normalization: Normalization
    noise_variance: float = 0.0
    validation_accuracy: float | None = None
    validation_cross_entropy: float | None = None
    loo_accuracy: float = np.nan
    loo_cross_entropy: float = np.nan
    evidence: float = np.nan

    def parameters(self) -> dict[str, Any]:
        """Return the setting as parameters of `GPGCClassifier`."""
        names = ("model", "base_kernel", "feature_norm", "normalization", "noise_variance")
        return {name: getattr(self, name) for name in names}


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
        What to try. *broad* scales rows itself, so it is tried with one feature norm.
    relative_noise : array
        Noise levels, relative to the mean prior variance of the training nodes.
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
    scored: dict[int, list[Setting]] = {}
    for place, covariance in _covariances(settings, parameters, X, adjacency, len(codes)):
        scored[place] = score_noise_levels(
            covariance,
            settings[place],
            train_y,
            held_out,
            codes[held_out],
            relative_noise,
            validation_loss=criterion == "validation_loss",
        )
        if progress is not None:
            progress(len(scored), len(settings))
    table = [row for place in sorted(scored) for row in scored[place]]
    best = min(table, key=order_by(criterion))
    chosen = GPGCClassifier(**{**parameters, **best.parameters()})
    chosen.classes_ = classes
    chosen.fit(X, _decode(train_y, classes), adjacency=adjacency)
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


def _covariances(
    settings: Sequence[Setting], parameters: dict[str, Any], X: Any, adjacency: Any, n_nodes: int
) -> Iterator[tuple[int, Covariance]]:
    """Give the place and the covariance of each setting, those of one graph and features in a row.

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
            yield place, network.variant(estimator._architecture()).covariance


def score_noise_levels(
    covariance: Covariance,
    setting: Setting,
    train_y: Integers,
    held_out: Integers,
    truth: Integers,
    relative_noise: Array,
    validation_loss: bool = False,
) -> list[Setting]:
    """Return the setting at every noise level with its scores.

    Parameters
    ----------
    covariance : Covariance
        Of the setting, on the whole graph.
    setting : Setting
        Without noise.
    train_y : int array of shape (N,)
        Class codes of the training nodes, −1 elsewhere.
    held_out, truth : int arrays of shape (n,)
        Validation nodes and their class codes; may be empty.
    relative_noise : array
        Noise levels, relative to the mean prior variance of the training nodes.
    validation_loss : bool
        Whether the cross-entropy of the validation nodes is wanted, which takes longest.
    """
    train = np.flatnonzero(train_y != UNLABELLED)
    codes = train_y[train]
    targets = np.eye(int(codes.max()) + 1)[codes]
    path = NoisePath(covariance.block(train, train), targets)
    grid = relative_noise * path.scale
    loo, _ = path.leave_one_out(grid)
    loss = cross_entropies(loo, targets, fit_temperature(loo, targets)).mean(axis=1)
    hits = (loo.argmax(axis=2) == codes).mean(axis=1)
    evidence = path.log_marginal_likelihood(grid)
    right: list[float | None] = [None] * len(grid)
    cost: list[float | None] = [None] * len(grid)
    if len(held_out):
        scores = path.means(covariance.block(held_out, train), grid)
        right = list((scores.argmax(axis=2) == truth).mean(axis=1).astype(float))
    if len(held_out) and validation_loss:
        wanted = np.eye(targets.shape[1])[truth]
        cost = list(cross_entropies(scores, wanted, fit_temperature(scores, wanted)).mean(axis=1))
    columns = zip(grid, right, cost, hits, loss, evidence, strict=True)
    return [
        replace(
            setting,
            noise_variance=float(noise),
            validation_accuracy=accuracy,
            validation_cross_entropy=None if entropy is None else float(entropy),
            loo_accuracy=float(hit),
            loo_cross_entropy=float(loo_entropy),
            evidence=float(log_likelihood),
        )
        for noise, accuracy, entropy, hit, loo_entropy, log_likelihood in columns
    ]


def order_by(criterion: SelectionCriterion) -> Callable[[Setting], tuple[float, float]]:
    """Return the key by which settings are ordered, best first."""
    if criterion == "validation":
        return lambda row: (-(row.validation_accuracy or 0.0), row.loo_cross_entropy)
    if criterion == "validation_loss":
        return lambda row: (row.validation_cross_entropy or 0.0, row.loo_cross_entropy)
    if criterion == "loo":
        return lambda row: (row.loo_cross_entropy, -row.noise_variance)
    return lambda row: (-row.evidence, -row.noise_variance)


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


def _decode(codes: Integers, classes: Any) -> Any:
    """Return labels with the mark of the unlabelled that their type has."""
    if classes.dtype.kind in "iu":
        return np.where(codes == UNLABELLED, UNLABELLED, classes[codes])
    return np.where(codes == UNLABELLED, None, classes.astype(object)[codes])
