"""The posterior of all labels on a cluster, in weight space or in function space."""

from __future__ import annotations

from typing import Any, NamedTuple

from gpgc._typing import Array
from gpgc.dask.cluster import task
from gpgc.dask.conditioning import (
    Labels,
    labelled_variance,
    search,
    solve,
    solve_exact,
    usual_variance,
)
from gpgc.dask.described import Model, Reference
from gpgc.dask.graph import Graph
from gpgc.dask.label_sums import groups_of, summed
from gpgc.dask.level_path import ClusterPath
from gpgc.selection.choice import MANY_LABELS
from gpgc.selection.judge import Judge, levels_of
from gpgc.selection.noise_search import SAMPLE
from gpgc.selection.subset import label_sample


class Conditioned(NamedTuple):
    """A posterior on a cluster.

    Attributes
    ----------
    known : task of Reference
        Rows that it is asked with.
    posterior : task of Posterior
        Of all labels.
    levels : array of shape (1,) or (k,)
        The noise.
    usual_variance : float
        Mean prior variance of the labels.
    """

    known: Any
    posterior: Any
    levels: Array
    usual_variance: float


def in_weight_space(
    graph: Graph, model: Model, labels: Labels, judge: Judge, start: Array, rank: int
) -> Conditioned:
    """Condition a covariance of finite rank by sums over the labelled rows.

    Parameters
    ----------
    graph : Graph
        With the rows of landmarks and labels.
    model : Model
        The covariance.
    labels : Labels
        All of them.
    judge : Judge
        Of noise levels.
    start : array of shape (1,) or (k,)
        Noise levels; where there are more labels than the rank, all labels choose the noise as
        :func:`gpgc.selection.choice.judge_all` does, at once or going on from there.
    rank : int
        Of the covariance.
    """
    cluster, known, n_labels = graph.cluster, graph.landmarks, len(labels.targets)
    groups = groups_of(graph.labelled, graph.labelled_rows, cluster)
    sums = summed(groups, known, model, *labels, cluster)
    if not isinstance(judge.noise, str) or n_labels <= max(rank, MANY_LABELS):
        levels = start
    elif rank < MANY_LABELS:
        path = ClusterPath.of(sums, groups, known, model, labels, cluster)
        levels = levels_of(judge.on(path))
    else:
        sample = label_sample(graph.label_keys, labels.targets, SAMPLE)
        walk = (labels, sample, start, judge.noise, judge.criterion, judge.weights)
        rows = graph.labelled_sample(sample)
        levels = cluster.fetch_one(task(search, sums, known, rows, model, *walk))
    (posterior,) = cluster.keep([task(solve, sums, known, model, labels, levels)])
    usual: float = cluster.fetch_one(task(usual_variance, sums))
    return Conditioned(known, posterior, levels, usual)


def in_function_space(graph: Graph, model: Model, labels: Labels, levels: Array) -> Conditioned:
    """Condition a covariance without a finite root, that of a small graph, by the labelled rows.

    Parameters
    ----------
    graph, model, labels
        As in :func:`in_weight_space`.
    levels : array of shape (1,) or (k,)
        The noise.
    """
    rows = [
        part for part, nodes in zip(graph.labelled_rows, graph.labelled, strict=True) if len(nodes)
    ]
    (known,) = graph.cluster.keep([task(Reference.extended, graph.landmarks, rows)])
    (posterior,) = graph.cluster.keep([task(solve_exact, known, model, labels, levels)])
    usual: float = graph.cluster.fetch_one(task(labelled_variance, posterior))
    return Conditioned(known, posterior, levels, usual)
