"""What a fit chooses by its labels: for each view the noise, and how much it counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.gp import (
    CHOSEN_A_VIEW,
    LabelledRoot,
    LeaveOneOut,
    NoisePath,
    Smoother,
    Space,
    WeightPath,
    condition,
    gap_groups,
    label_gram,
    space_for,
)
from gpgc.graph.node_keys import spread_over
from gpgc.kernels import Covariance
from gpgc.models import Prior
from gpgc.probability.temperature import (
    agreement,
    root_mean_square,
    square_sums,
    usual_sharpness,
)
from gpgc.selection.constants import LABELS_FOR_VIEWS, LEAST_BETWEEN, MANY_LABELS, NOISE_SAMPLE
from gpgc.selection.noise_choice import NoiseSelector
from gpgc.selection.stacking import class_weights, value_inflation, value_weights

LABEL_MATRICES = 9
"""D × D matrices in float64 that a choice holds at once."""


@dataclass(frozen=True, eq=False)
class ChosenView:
    """A view that counts: w_v and σ_τ² of shape (1,) or (k,), for all targets or for each.

    Where it was computed for all labels: all noise levels, the root, or the smoother.
    """

    name: str
    weight: Array
    levels: Array
    known: NoisePath | LabelledRoot | Smoother | None = None


@dataclass(frozen=True, eq=False)
class Choice:
    """The views that count, heaviest first, c of their variances, and how far the usual agree."""

    views: tuple[ChosenView, ...]
    inflation: Array
    agreement: float = 1.0

    @classmethod
    def of_one(cls, name: str, levels: Array) -> Choice:
        """Return one view at a known noise."""
        return cls((ChosenView(name, np.ones(1), levels),), np.ones(1))


@dataclass(frozen=True, eq=False)
class Judged:
    """One view by itself: its noise, and what it predicts of labels left out and of other nodes."""

    name: str
    levels: Array
    known: NoisePath | Smoother | None
    left_out: LeaveOneOut
    typical_means: Array


def choose(
    prior: Prior, labelled: Integers, selector: NoiseSelector, space: Space = "auto"
) -> Choice:
    """Choose the noise of each view, and what each counts, by leaving labels out.

    Up to 1,000 labels judge each view at its own best noise, or at the one that is given; one
    convex fit on what the views predict of them gives the weights (:mod:`.stacking`). Of more
    labels all choose the noise of the views that count (:func:`by_all_labels`).
    """
    names = prior.views
    if not isinstance(selector.noise, str) and len(names) == 1:
        return Choice.of_one(names[0], selector.noise)
    if isinstance(selector.noise, str) and selector.noise == "loo" and not selector.weights.any():
        of_values = selector.criterion == "density"  # nothing can be left out
        names = tuple(name for name in names if name in prior.usual_shares(of_values))
    keys = prior.keys[labelled]
    most = LABELS_FOR_VIEWS if len(names) > 1 else MANY_LABELS
    few = label_sample(keys, selector.targets, most)
    size = 8 * (LABEL_MATRICES + len(names)) * len(few) ** 2
    prior.context.require(size, f"the covariance of {len(few):,} labels")
    some = selector.restricted(few)
    choice = stacked(prior, judge_views(prior, names, labelled[few], some), some)
    if len(few) == len(labelled):
        return choice
    views = [
        replace(view, known=None)
        if prior.is_smoother(view.name)
        else by_all_labels(view, prior.view(view.name), labelled, keys, selector, len(few), space)
        for view in choice.views
    ]
    return replace(choice, views=tuple(views))


def label_sample(keys: Array, targets: Array, most: int) -> Integers:
    """Return indices, sorted, of at most so many labels, spread over their keys in any order.

    >>> label_sample(np.array([0.1, 0.1, 0.3]), np.array([[1.0], [0.0], [1.0]]), 2)
    array([1, 2])
    """
    value = np.nan_to_num(targets) @ np.sqrt(np.arange(2, targets.shape[1] + 2))
    return spread_over(keys, most, value)


def judge_views(
    prior: Prior, names: Sequence[str], labelled: Integers, selector: NoiseSelector
) -> list[Judged]:
    """Judge each view by itself; covariances that tell no labelled nodes apart are left out.

    So are smoothing kernels that would take long. Where no covariance is left, the first one is
    judged all the same: a stack needs one.
    """
    found = []
    typical = prior.typical_nodes if len(names) > 1 else labelled[:0]
    for name in names:
        judge_one = _judged_field if prior.is_smoother(name) else _judged_covariance
        if (judged := judge_one(prior, name, labelled, typical, selector)) is not None:
            found.append(judged)
        if judge_one is _judged_covariance:
            prior.keep(())
    if all(prior.is_smoother(view.name) for view in found):
        first = next(name for name in prior.views if not prior.is_smoother(name))
        found += judge_views(prior, (first,), labelled, selector)
    return found


def _judged_field(
    prior: Prior, name: str, labelled: Integers, typical: Integers, selector: NoiseSelector
) -> Judged | None:
    """Judge a smoothing kernel; None where it would take long."""
    kernel = prior.view(name)
    if not kernel.fits(len(labelled) + 2 * selector.targets.shape[1]):
        return None
    apart = selector.criterion == "density" and selector.targets.shape[1] > 1
    part = Smoother(kernel, labelled, selector.targets, selector.relative_noise, apart)
    levels = part.noise if apart else part.noise[:1]
    return Judged(name, levels, part, part.leave_one_out(), part.mean(typical))


def _judged_covariance(
    prior: Prior, name: str, labelled: Integers, typical: Integers, selector: NoiseSelector
) -> Judged | None:
    """Judge a covariance; None where, not being the only one, it tells no labels apart."""
    n_labels = len(labelled)
    seen = prior.seen_at(name, np.concatenate([labelled, typical]))
    places, others = seen.nodes[:n_labels], seen.nodes[n_labels:]
    gram = label_gram(seen.covariance, places)
    trace = float(np.trace(gram, dtype=np.float64))
    shared = float(gram.sum(dtype=np.float64)) / n_labels
    between = (trace - shared) / (n_labels - 1) if n_labels > 1 else trace
    if len(typical) and between <= LEAST_BETWEEN * trace:
        return None
    levels, path = selector.on_gram(gram)
    part = condition(
        seen.covariance,
        places,
        selector.targets,
        levels,
        relative_noise=selector.relative_noise,
        known=path,
        space="function",
    )
    is_whole = seen.covariance.n_nodes == len(prior.nodes)
    left_out, means = part.leave_one_out(), part.mean(others)
    return Judged(name, levels, path if is_whole else None, left_out, means)


def stacked(prior: Prior, judged: Sequence[Judged], selector: NoiseSelector) -> Choice:
    """Return the weights of views that were judged, by what they predict of labels left out."""
    of_values = selector.criterion == "density"
    shares = prior.usual_shares(of_values=of_values)
    usual = np.array([shares.get(view.name, 0.0) for view in judged])
    usual = usual / usual.sum() if usual.any() else np.full(len(judged), 1 / len(judged))
    weights: Array = np.ones((1, 1))
    inflation: Array = np.ones(1)
    agreeing = 1.0
    if len(prior.views) > 1 and of_values:
        weights, inflation = _value_weights(judged, selector, usual)
    elif len(judged) > 1:
        typical = [view.typical_means for view, share in zip(judged, usual, strict=True) if share]
        agreeing = agreement([means for means in typical if len(means)])
        weights = _class_weights(prior, judged, selector, usual, agreeing)[:, None]
    if not isinstance(selector.noise, str):  # whoever knows the noise knows the variance
        inflation = np.ones(1)
    order = np.argsort(-weights.sum(axis=1), kind="stable")
    counting = [place for place in order if weights[place].any()]
    if all(prior.is_smoother(judged[place].name) for place in counting):
        counting += [v for v in order if not prior.is_smoother(judged[v].name)][:1]
    views = (
        ChosenView(judged[v].name, weights[v], judged[v].levels, judged[v].known) for v in counting
    )
    return Choice(tuple(views), inflation, agreeing)


def _class_weights(
    prior: Prior,
    judged: Sequence[Judged],
    selector: NoiseSelector,
    usual: Array,
    agreeing: float,
) -> Array:
    """Return the weights (V,) of means of classes, summing to 1; how sharp is chosen elsewhere."""
    n_labels = float(len(selector.targets))
    if selector.relative_noise is not None:
        trust = 1 / selector.relative_noise
        n_labels = float(trust.sum() ** 2 / (trust @ trust))
    n_classes = selector.targets.shape[1]
    alike = prior.homophily.alike
    sharpness = np.exp(usual_sharpness(n_labels, alike, n_classes, agreeing).mean)
    units = np.array([root_mean_square(square_sums(view.typical_means)) for view in judged])
    means = np.array([view.left_out.mean for view in judged])
    left_out = (means - means.mean(axis=2, keepdims=True)) / units[:, None, None]
    t = class_weights(left_out, selector.targets, selector.weights, sharpness * usual)
    weights = (t if t.any() else usual) / units
    return np.asarray(weights / weights.sum())


def _value_weights(
    judged: Sequence[Judged], selector: NoiseSelector, usual: Array
) -> tuple[Array, Array]:
    """Return the weights (V, k) of means of values, and c (k,)."""
    weights, inflation = [], []
    for column in range(selector.targets.shape[1]):
        known = ~np.isnan(selector.targets[:, column])
        values, loo_weights = selector.targets[known, column], selector.weights[known]
        loo_weights = loo_weights * (known.sum() > 1)  # one value cannot be left out
        left_out = np.array([view.left_out.mean[known, column] for view in judged])
        t = value_weights(left_out, values, loo_weights, usual) if len(values) else usual
        own = (view.left_out.variance for view in judged)
        variances = [(v if v.ndim == 1 else v[:, column])[known] for v in own]
        part = t / t.sum() if t.any() else np.full(len(t), 1 / len(t))
        weights.append(t)
        n_chosen = CHOSEN_A_VIEW * int(np.count_nonzero(t))
        errors = values - t @ left_out
        inflation.append(value_inflation(errors, part @ np.array(variances), loo_weights, n_chosen))
    return np.array(weights).T, np.array(inflation)


def by_all_labels(
    view: ChosenView,
    covariance: Covariance,
    labelled: Integers,
    keys: Array,
    selector: NoiseSelector,
    n_judged: int,
    space: Space,
) -> ChosenView:
    """Choose the noise of a view by more labels than the ``n_judged`` that chose its weight.

    In weight space at all levels at once where the rank is small, else from the noise that is
    known, each of a sample of labels predicted from all others; in function space up to 2,000 do.
    """
    view = replace(view, known=None)
    if not isinstance(selector.noise, str):
        return replace(view, levels=selector.noise)
    if np.isnan(selector.targets).any():
        levels = view.levels.copy()
        for labels, columns in gap_groups(selector.targets):
            some, own = (
                replace(view, levels=view.levels[columns]),
                selector.restricted(labels, columns),
            )
            nodes = labelled[labels]
            known = by_all_labels(some, covariance, nodes, keys[labels], own, 0, space)
            levels[columns] = known.levels
        return replace(view, levels=levels)
    many = label_sample(keys, selector.targets, MANY_LABELS)
    chosen = space_for(covariance, len(labelled), space)
    if covariance.rank is not None and chosen == "weight" and len(many) < len(labelled):
        root = LabelledRoot.of(covariance, labelled, selector.targets, selector.relative_noise)
        if root.rank < MANY_LABELS:
            return replace(view, levels=selector.on_path(WeightPath(root)), known=root)
        among = label_sample(keys, selector.targets, NOISE_SAMPLE)
        return replace(view, levels=selector.search(root, among, view.levels), known=root)
    if n_judged >= len(many):
        return view
    size = 8 * LABEL_MATRICES * len(many) ** 2
    covariance.context.require(size, f"the covariance of {len(many):,} labels")
    levels, path = selector.restricted(many).on_gram(label_gram(covariance, labelled[many]))
    return replace(view, levels=levels, known=path if len(many) == len(labelled) else None)
