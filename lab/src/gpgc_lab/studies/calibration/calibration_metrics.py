"""What is measured of one system on one split: probabilities, prediction sets, novel nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from gpgc.estimators import GPGCClassifier
from gpgc.probability.softmax import softmax
from gpgc.probability.temperature import fit_temperature
from gpgc.uncertainty.measures import expected_calibration_error, log_loss, reliability
from gpgc.uncertainty.novelty import novelty
from gpgc.uncertainty.sets import leave_one_out_sets, split_conformal_sets
from gpgc_lab.array_types import Array, Integers
from gpgc_lab.journal import Record
from gpgc_lab.studies.calibration.splits import N_HELD_OUT, Bench, Split

LEVEL = 0.9
N_SCRAMBLED = 200
"""Nodes that get features of no meaning."""

COVERAGES = np.linspace(0.02, 1, 50)
"""Shares of answered nodes at which the risk is kept."""

N_BARS = 30

WITH_LABELS = "500 validation labels"
LARGEST = "1 - largest probability"


def measure_process(bench: Bench, split: Split) -> Record:
    """Measure everything of ours."""
    estimator, labels = bench.process, bench.data.labels
    rest = bench.others(split.train)
    unseen = bench.others(split.train, split.validation)
    estimator.relabel(bench.only(split.train))
    forecasts = {
        "GPGC, no validation labels": describe(estimator.predict_proba(), labels, rest),
    }
    sets = _measure_sets(bench, split)
    estimator.calibrate(split.validation, labels[split.validation])
    forecasts[f"GPGC, {WITH_LABELS}"] = describe(estimator.predict_proba(), labels, unseen)
    record = {"forecasts": forecasts, "sets": sets, "novel_nodes": _measure_novelty(bench, split)}
    if split.is_public:
        record["deviations"] = _deviations(bench, split)
        record["scrambled"] = _measure_scrambled(bench)
    return record


def measure_linear(bench: Bench, split: Split) -> Record:
    """Measure logistic regression on Â²X."""
    from sklearn.linear_model import LogisticRegression

    labels = bench.data.labels
    linear = LogisticRegression(max_iter=1000).fit(bench.smooth[split.train], labels[split.train])
    scores = linear.decision_function(bench.smooth)
    rest = bench.others(split.train)
    return {
        "forecasts": {
            "logistic regression on Â²X": describe(softmax(scores), labels, rest),
            f"logistic regression, {WITH_LABELS}": _tempered(bench, split, scores),
        }
    }


def measure_network(bench: Bench, split: Split, name: str) -> Record:
    """Measure the probabilities of a trained network, which stops by the validation labels."""
    labels = bench.data.labels
    probabilities = _train(bench, split, name)
    unseen = bench.others(split.train, split.validation)
    scores = np.log(np.maximum(probabilities, np.finfo(np.float32).tiny))
    return {
        "forecasts": {
            f"{name}, uncalibrated": describe(probabilities, labels, unseen),
            f"{name}, {WITH_LABELS}": _tempered(bench, split, scores),
        }
    }


def measure_network_novelty(bench: Bench, split: Split, name: str) -> Record:
    """Train a network without the labels of a class and look for its nodes."""
    labels = bench.data.labels
    kept, held_out = (
        nodes[labels[nodes] != split.left_out] for nodes in (split.train, split.validation)
    )
    confidence = _train(bench, replace(split, train=kept, validation=held_out), name).max(axis=1)
    rest = bench.others(kept, held_out)
    area = float(roc_auc_score(labels[rest] == split.left_out, 1 - confidence[rest]))
    return {"novel_nodes": {f"{name}: {LARGEST}": area}}


def describe(probabilities: Array, labels: Integers, nodes: Integers) -> Record:
    """Return the measures of probabilities at some nodes, and the curves that are drawn."""
    table, truth = probabilities[nodes], labels[nodes]
    bins = reliability(table, truth)
    coverage, risk = risk_coverage(table, truth)
    return {
        "accuracy": float(np.mean(table.argmax(axis=1) == truth)),
        "calibration error": expected_calibration_error(table, truth),
        "Brier score": float(np.mean(((table - np.eye(table.shape[1])[truth]) ** 2).sum(axis=1))),
        "log loss": log_loss(table, truth),
        "size": bins.size.tolist(),
        "confidence": np.nan_to_num(bins.confidence).tolist(),
        "right": np.nan_to_num(bins.accuracy).tolist(),
        "risk": np.interp(COVERAGES, coverage, risk).tolist(),
    }


def risk_coverage(table: Array, truth: Integers) -> tuple[Array, Array]:
    """Return shares of the nodes, most confident first, and the share of errors among them.

    Nodes of equal confidence count as one step, so that their order does not matter.

    >>> risk_coverage(np.array([[0.9, 0.1], [0.6, 0.4]]), np.array([0, 1]))
    (array([0.5, 1. ]), array([0. , 0.5]))
    """
    confidence, wrong = table.max(axis=1), table.argmax(axis=1) != truth
    order = np.argsort(-confidence, kind="stable")
    ranked = confidence[order]
    n_kept = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1) + 1
    return n_kept / len(ranked), np.cumsum(wrong[order])[n_kept - 1] / n_kept


def _tempered(bench: Bench, split: Split, scores: Array) -> Record:
    """Describe softmax(t · scores), with t fitted to the validation labels."""
    labels = bench.data.labels
    targets = np.eye(scores.shape[1])[labels[split.validation]]
    t = float(fit_temperature(scores[split.validation], targets))
    return describe(softmax(t * scores), labels, bench.others(split.train, split.validation))


def _train(bench: Bench, split: Split, name: str) -> Array:
    """Return the probabilities of a network for the classes that it has seen."""
    from gpgc_lab.baselines import Problem, system

    data = bench.data
    train, validation = (nodes.astype(np.int64) for nodes in (split.train, split.validation))
    seen, nodes = np.unique(data.labels[train]), np.concatenate([train, validation])
    labels = np.full(len(data.labels), -1, dtype=np.int64)
    labels[nodes] = np.searchsorted(seen, data.labels[nodes])
    assert data.adjacency is not None
    problem = Problem(data.adjacency, data.features, labels, train, validation, len(seen))
    return system(name)(problem, seed=split.seed).probabilities


def _measure_sets(bench: Bench, split: Split) -> Record:
    labels, estimator = bench.data.labels, bench.process
    order = np.random.default_rng(split.seed).permutation(bench.others(split.train))
    held_out, others = order[:N_HELD_OUT], order[N_HELD_OUT:]
    kinds = {
        "split-conformal": split_conformal_sets(estimator, held_out, labels[held_out], LEVEL),
        "leave-one-out": leave_one_out_sets(estimator, LEVEL),
    }
    return {
        kind: {
            "coverage": float(members[others, labels[others]].mean()),
            "size": float(members[others].sum(axis=1).mean()),
        }
        for kind, members in kinds.items()
    }


def _measure_novelty(bench: Bench, split: Split) -> Record:
    """Leave a class out of the labels and look for its nodes."""
    labels = bench.data.labels
    kept = split.train[labels[split.train] != split.left_out]
    rest = bench.others(kept)
    estimator = bench.process.relabel(bench.only(kept))
    return _areas(estimator, rest, labels[rest] == split.left_out)


def _deviations(bench: Bench, split: Split) -> Record:
    """Return histograms of the standard deviations with a class left out of the labels."""
    labels = bench.data.labels
    kept = split.train[labels[split.train] != split.left_out]
    rest = bench.others(kept)
    estimator = bench.process.relabel(bench.only(kept))
    deviation = estimator.predict_latent(return_std=True)[1][rest]
    novel = labels[rest] == split.left_out
    right = estimator.predict()[rest] == labels[rest]
    edges = np.linspace(deviation.min(), np.quantile(deviation, 0.995), N_BARS + 1)
    kinds = {
        "right": right,
        "wrong": ~right & ~novel,
        "of a class without labels": novel,
    }
    shares = {
        kind: (np.histogram(deviation[chosen], edges)[0] / max(chosen.sum(), 1)).tolist()
        for kind, chosen in kinds.items()
    }
    return {"edges": edges.tolist(), "shares": shares}


def _measure_scrambled(bench: Bench) -> Record:
    """Give some nodes the features of no node, words shuffled among columns, and look for them."""
    data, rng = bench.data, np.random.default_rng(0)
    rest = bench.others(data.train)
    chosen = rng.choice(rest, N_SCRAMBLED, replace=False)
    features = sp.lil_array(data.features)
    features[chosen] = features[chosen][:, rng.permutation(features.shape[1])]
    estimator = GPGCClassifier()
    estimator.fit(features.tocsr(), bench.only(data.train), data.adjacency)
    return _areas(estimator, rest, np.isin(rest, chosen))


def _areas(estimator: GPGCClassifier, nodes: Integers, novel: NDArray[np.bool_]) -> Record:
    scores = {
        "novelty": novelty(estimator),
        "novelty by features": novelty(estimator, "features"),
        LARGEST: 1 - estimator.predict_proba().max(axis=1),
        "standard deviation": estimator.predict_latent(return_std=True)[1],
    }
    return {name: float(roc_auc_score(novel, score[nodes])) for name, score in scores.items()}
