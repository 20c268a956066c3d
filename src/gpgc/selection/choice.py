"""What a fit chooses by its labels: the weights of the views, and the noise."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.gp import LabelledRoot, NoisePath, Space, WeightPath, gap_groups, space_for
from gpgc.gp.from_root import label_gram
from gpgc.kernels import Covariance
from gpgc.models import GRAPH, Prior, ViewWeights
from gpgc.selection.judge import Judge, levels_of
from gpgc.selection.noise_choice import Criterion
from gpgc.selection.noise_search import SAMPLE, search_noise
from gpgc.selection.subset import label_sample
from gpgc.selection.view_choice import choose_views, usual_weights

LABELS_FOR_VIEWS = 1000
"""Labels from which on so many of them choose the weights of the views."""

MANY_LABELS = 2000
"""Labels from which on so many of them choose the noise in function space."""

LABEL_MATRICES = 9
"""D × D matrices in float64 that a choice holds at once."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Weights of the views and noise levels, with the path of noise levels behind them.

    Attributes
    ----------
    view_weights : mapping
        Name of a view → weight.
    levels : array of shape (1,) or (k,)
        σ_τ², one for all targets or one each.
    path : NoisePath or None
        Of all labels at these weights, where it was computed.
    root : LabelledRoot or None
        Of all labels at these weights, where the choice was made in weight space.
    """

    view_weights: ViewWeights
    levels: Array
    path: NoisePath | None = None
    root: LabelledRoot | None = None


def choose(
    prior: Prior,
    labelled: Integers,
    targets: Array,
    noise: Array | str,
    criterion: Criterion,
    weights: Array,
    relative_noise: Array | None = None,
    space: Space = "auto",
) -> Choice:
    """Choose the weights of the views and the noise by leaving labels out.

    Views are judged at the best noise of each, or at the one that is given, by up to 1,000 labels;
    one is taken beside or in place of the usual one only if leaving out costs clearly less
    (:func:`gpgc.selection.view_choice.choose_views`). In weight space all labels choose the noise:
    at once where the rank is small, else from the noise that the views were judged at, each of a
    sample of labels predicted from all others (:mod:`gpgc.selection.noise_search`). In function
    space up to 2,000 do.

    Parameters
    ----------
    prior : Prior
        Of all nodes.
    labelled : int array of shape (D,)
        The labelled nodes.
    targets : array of shape (D, k)
        Y, NaN where a target of ``"density"`` is not known.
    noise : array, "loo" or "evidence"
        σ_τ², one for all targets of ``"cross_entropy"`` and one each of ``"density"``, or how to
        choose it.
    criterion : {"cross_entropy", "density"}
        What leaving out is judged by; targets share their noise in the first, not in the second.
    weights : array of shape (D,)
        What leaving each labelled node out counts.
    relative_noise : array of shape (D,), optional
        The noise of each label over σ_τ²; 1 when not given.
    space : {"auto", "function", "weight"}, default "auto"
        As in :func:`gpgc.gp.condition`.
    """
    if not isinstance(noise, str) and len(prior.views) == 1:
        return Choice(GRAPH, noise)
    # Values are noisy however sure their neighbours are: less noise is usual of classes alone.
    of_classes = criterion == "cross_entropy"
    usual = prior.usual_noise if of_classes else prior.architecture.relative_noise
    if isinstance(noise, str) and noise == "loo" and not weights.any():  # leaving out says nothing
        view_weights = usual_weights(prior, labelled)
        variances = prior.covariance(view_weights).diag(labelled)
        scale = float(np.mean(variances, dtype=np.float64)) or 1.0
        n_levels = targets.shape[1] if criterion == "density" else 1
        return Choice(view_weights, np.full(n_levels, usual * scale))
    keys = prior.keys[labelled]
    few = label_sample(keys, targets, LABELS_FOR_VIEWS if len(prior.views) > 1 else MANY_LABELS)
    size = 8 * (LABEL_MATRICES + len(prior.views)) * len(few) ** 2
    prior.context.require(size, f"the covariance of {len(few):,} labels")
    judge = Judge(targets, noise, criterion, weights, usual, relative_noise)
    view_weights, verdict = choose_views(prior, labelled[few], judge.of(few))
    if len(few) == len(labelled):
        return Choice(view_weights, verdict.levels, verdict.path)
    if not isinstance(noise, str):
        return Choice(view_weights, noise)
    covariance = prior.covariance(view_weights)
    if not np.isnan(targets).any():
        known = judge_all(covariance, labelled, keys, judge, verdict.levels, len(few), space)
        return replace(known, view_weights=view_weights)
    levels = verdict.levels
    for group in gap_groups(targets):
        nodes, start = labelled[group.labels], levels[group.columns]
        own = judge.of_group(group)
        known = judge_all(covariance, nodes, keys[group.labels], own, start, 0, space)
        levels[group.columns] = known.levels
    return Choice(view_weights, levels)


def judge_all(
    covariance: Covariance,
    labelled: Integers,
    keys: Array,
    judge: Judge,
    start: Array,
    n_start: int,
    space: Space = "auto",
) -> Choice:
    """Choose the noise by more labels than chose the views.

    Parameters
    ----------
    covariance : Covariance
        Γ of all nodes.
    labelled : int array of shape (D,)
        The labelled nodes.
    keys : array of shape (D,)
        Theirs, by which they are sampled.
    judge : Judge
        Of all of them, that chooses the noise.
    start : array of shape (1,) or (k,)
        Noise levels that some of them chose.
    n_start : int
        How many did.
    space : {"auto", "function", "weight"}, default "auto"
        As in :func:`gpgc.gp.condition`.

    Returns
    -------
    Choice
        With the weights of the usual view, whatever the covariance is.
    """
    many = label_sample(keys, judge.targets, MANY_LABELS)
    chosen = space_for(covariance, len(labelled), space)
    if covariance.rank is not None and chosen == "weight" and len(many) < len(labelled):
        root = LabelledRoot(covariance, labelled, judge.targets, judge.relative_noise)
        if root.rank < MANY_LABELS:
            return Choice(GRAPH, levels_of(judge.on(WeightPath(root))), root=root)
        how = str(judge.noise)
        among = label_sample(keys, judge.targets, SAMPLE)
        by = judge.criterion, judge.weights, judge.usual_noise
        levels = search_noise(root, among, start, how, *by)
        return Choice(GRAPH, levels, root=root)
    if n_start >= len(many):
        return Choice(GRAPH, start)
    size = 8 * LABEL_MATRICES * len(many) ** 2
    covariance.context.require(size, f"the covariance of {len(many):,} labels")
    verdict = judge.of(many).on_gram(label_gram(covariance, labelled[many]))
    return Choice(GRAPH, verdict.levels, verdict.path if len(many) == len(labelled) else None)
