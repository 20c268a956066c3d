"""How far probabilities can be trusted: measures on all unlabelled nodes, and pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.datasets import Dataset, load_planetoid, random_split
from gpgc.estimators import GPGCClassifier
from gpgc.experiments import published
from gpgc.experiments.calibration_figures import draw_deviations, draw_reliability, draw_risk
from gpgc.experiments.citation import FIRST_SEED
from gpgc.experiments.tables import Table
from gpgc.gp.calibration import fit_scale_and_bias, softmax
from gpgc.graph import normalize
from gpgc.uncertainty.measures import (
    auroc,
    brier_score,
    expected_calibration_error,
    log_loss,
)
from gpgc.uncertainty.novelty import novelty
from gpgc.uncertainty.sets import leave_one_out_sets, split_conformal_sets

LEVEL = 0.9
N_HELD_OUT = 500
N_SCRAMBLED = 200
"""Nodes that get features of no meaning."""

METHODS = (
    "GPGC, no validation labels",
    "GPGC, 500 validation labels",
    "GPGC, probability of being largest",
    "logistic regression on Â²X",
    "logistic regression, 500 validation labels",
)

DRAWN = (METHODS[0], METHODS[2], METHODS[3])
"""Methods in the pictures: those without validation labels."""

Measures = dict[str, list[float]]


@dataclass
class Results:
    """Everything measured on one data set, by method or kind, a value a split."""

    public: dict[str, Measures] = field(default_factory=dict)
    random: dict[str, Measures] = field(default_factory=dict)
    sets: dict[str, Measures] = field(default_factory=dict)
    strangers: Measures = field(default_factory=dict)
    scrambled: Measures = field(default_factory=dict)
    forecast: dict[str, Array] = field(default_factory=dict)
    truth: Integers = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    deviations: dict[str, Array] = field(default_factory=dict)


def calibration_study(
    data_dir: Path | None, n_random: int, folder: Path, progress: Callable[[str], None]
) -> tuple[list[Table], list[Path]]:
    """Return the tables of the three citation networks, and the pictures that were written."""
    results = {}
    for name in published.CITATION:
        results[name] = measure(load_planetoid(name, data_dir), n_random, progress)
    tables = [_forecast_table(results, "public"), _forecast_table(results, "random")]
    tables += [_set_table(results), _stranger_table(results)]
    return tables, [
        *draw_reliability(results, DRAWN, folder),
        *draw_risk(results, DRAWN, folder),
        *draw_deviations(results, folder),
    ]


def measure(data: Dataset, n_random: int, progress: Callable[[str], None]) -> Results:
    """Measure the public split and random ones of 20 labels a class on all other nodes."""
    results = Results()
    known = np.flatnonzero(data.labels >= 0)
    splits = [(data.train, data.validation)]
    splits += [
        random_split(data.labels, 20, N_HELD_OUT, 0, seed)[:2]
        for seed in range(FIRST_SEED, FIRST_SEED + n_random)
    ]
    estimator = GPGCClassifier().fit(data.features, _only(data, data.train), data.adjacency)
    smooth = _smoothed(data)
    for place, (train, validation) in enumerate(splits):
        progress(f"{data.name}: split {place + 1} of {len(splits)}")
        rest = np.setdiff1d(known, train)
        forecast = _forecasts(estimator, smooth, data, train, validation)
        kind = results.random if place else results.public
        for method, probabilities in forecast.items():
            unseen = np.setdiff1d(rest, validation) if "500" in method else rest
            _score(kind.setdefault(method, {}), probabilities[unseen], data.labels[unseen])
        if not place:
            results.forecast = {method: table[rest] for method, table in forecast.items()}
            results.truth = data.labels[rest]
        estimator.relabel(_only(data, train))
        _score_sets(results.sets, estimator, data, rest, seed=place)
        _score_strangers(results, estimator, data, train, place)
    _score_scrambled(results, data)
    return results


def _only(data: Dataset, nodes: Integers) -> Integers:
    labels = np.full(len(data.labels), -1)
    labels[nodes] = data.labels[nodes]
    return labels


def _smoothed(data: Dataset) -> Any:
    assert data.adjacency is not None
    step = normalize(data.adjacency, "symmetric")
    return step @ (step @ data.features)


def _forecasts(
    estimator: GPGCClassifier, smooth: Any, data: Dataset, train: Integers, validation: Integers
) -> dict[str, Array]:
    from sklearn.linear_model import LogisticRegression

    held_out = data.labels[validation]
    estimator.relabel(_only(data, train))
    tables = [estimator.predict_proba()]
    tables.append(estimator.calibrate(validation, held_out).predict_proba())
    estimator.set_params(probability="largest").relabel(_only(data, train))
    tables.append(estimator.predict_proba())
    estimator.set_params(probability="calibrated")
    linear = LogisticRegression(max_iter=1000).fit(smooth[train], data.labels[train])
    scores = linear.decision_function(smooth)
    tables.append(softmax(scores))
    t, bias = fit_scale_and_bias(scores[validation], np.eye(scores.shape[1])[held_out])
    tables.append(softmax(t * scores + bias))
    return dict(zip(METHODS, tables, strict=True))


def _score(measures: Measures, probabilities: Array, truth: Integers) -> None:
    for name, value in (
        ("accuracy", np.mean(probabilities.argmax(axis=1) == truth)),
        ("calibration error", expected_calibration_error(probabilities, truth)),
        ("Brier score", brier_score(probabilities, truth)),
        ("log loss", log_loss(probabilities, truth)),
    ):
        measures.setdefault(name, []).append(float(value))


def _score_sets(
    measures: dict[str, Measures],
    estimator: GPGCClassifier,
    data: Dataset,
    rest: Integers,
    seed: int,
) -> None:
    order = np.random.default_rng(seed).permutation(rest)
    held_out, others = order[:N_HELD_OUT], order[N_HELD_OUT:]
    for kind, members in (
        (
            "split-conformal",
            split_conformal_sets(estimator, held_out, data.labels[held_out], LEVEL),
        ),
        ("leave-one-out", leave_one_out_sets(estimator, LEVEL)),
    ):
        row = measures.setdefault(kind, {"coverage": [], "size": []})
        row["coverage"].append(float(members[others, data.labels[others]].mean()))
        row["size"].append(float(members[others].sum(axis=1).mean()))


def _score_strangers(
    results: Results, estimator: GPGCClassifier, data: Dataset, train: Integers, place: int
) -> None:
    """Leave one class out of the labels, another one in each split, and look for its nodes."""
    left_out = place % len(data.classes)
    kept = train[data.labels[train] != left_out]
    estimator.relabel(_only(data, kept))
    rest = np.setdiff1d(np.flatnonzero(data.labels >= 0), kept)
    strange = data.labels[rest] == left_out
    _score_novelty(results.strangers, estimator, rest, strange)
    if not place:
        _, std = estimator.predict_latent(return_std=True)
        right = estimator.predict()[rest] == data.labels[rest]
        results.deviations = {
            "right": std[rest][right],
            "wrong": std[rest][~right & ~strange],
            "of a class without labels": std[rest][strange],
        }


def _score_scrambled(results: Results, data: Dataset) -> None:
    """Give some nodes the features of no node, words shuffled among columns, and look for them."""
    rng = np.random.default_rng(0)
    known = np.setdiff1d(np.flatnonzero(data.labels >= 0), data.train)
    chosen = rng.choice(known, N_SCRAMBLED, replace=False)
    features = sp.lil_array(data.features)
    features[chosen] = features[chosen][:, rng.permutation(features.shape[1])]
    estimator = GPGCClassifier()
    estimator.fit(features.tocsr(), _only(data, data.train), data.adjacency)
    _score_novelty(results.scrambled, estimator, known, np.isin(known, chosen))


def _score_novelty(
    measures: Measures, estimator: GPGCClassifier, nodes: Integers, strange: NDArray[np.bool_]
) -> None:
    for name, score in (
        ("novelty", novelty(estimator)),
        ("1 - largest probability", 1 - estimator.predict_proba().max(axis=1)),
        ("standard deviation", estimator.predict_latent(return_std=True)[1]),
    ):
        measures.setdefault(name, []).append(auroc(score[nodes], strange))


def _forecast_table(results: dict[str, Results], kind: str) -> Table:
    first = next(iter(results.values()))
    n_random = len(next(iter(first.random.values()), {}).get("accuracy", []))
    which = "the public split" if kind == "public" else f"{n_random} random splits"
    table = Table(
        f"calibration_{kind}",
        f"Probabilities on all unlabelled nodes, {which}: mean, per cent except log loss",
        ["method", "data set", "accuracy", "calibration error", "Brier score", "log loss"],
        notes=[
            "Where 500 validation labels fit a temperature and class biases, those nodes are not "
            "counted. "
            + (
                "GCN and GAT are not in this table yet."
                if find_spec("torch_geometric")
                else "GCN and GAT are left out: torch_geometric is not installed."
            )
        ],
    )
    for name, result in results.items():
        for method, measures in getattr(result, kind).items():
            mean = {key: float(np.mean(values)) for key, values in measures.items()}
            cells = [f"{100 * mean[column]:.1f}" for column in table.columns[2:5]]
            table.rows.append([method, name, *cells, f"{mean['log loss']:.3f}"])
    return table


def _set_table(results: dict[str, Results]) -> Table:
    table = Table(
        "prediction_sets",
        f"Prediction sets at {LEVEL:.0%}: coverage in per cent and mean number of classes",
        ["sets", "data set", "coverage", "deviation over splits", "size"],
        notes=[
            f"Split-conformal sets use {N_HELD_OUT} labels drawn uniformly; leave-one-out sets use "
            "the training labels alone, which are balanced and so not exchangeable with the rest."
        ],
    )
    for name, result in results.items():
        for kind, measures in result.sets.items():
            coverage = 100 * np.array(measures["coverage"])
            size = f"{np.mean(measures['size']):.2f}"
            table.rows.append([kind, name, f"{coverage.mean():.1f}", f"{coverage.std():.1f}", size])
    return table


def _stranger_table(results: dict[str, Results]) -> Table:
    names = list(next(iter(results.values())).strangers)
    table = Table(
        "strangers",
        "Nodes that do not belong: area under the curve by score",
        ["nodes", "data set", *names],
        notes=[
            "One class is left out of the labels in each split, each in turn; on the public split "
            f"the features of {N_SCRAMBLED} nodes are shuffled among columns."
        ],
    )
    for kind in ("strangers", "scrambled"):
        title = "of a class without labels" if kind == "strangers" else "with shuffled features"
        for name, result in results.items():
            cells = [f"{np.mean(getattr(result, kind)[key]):.3f}" for key in names]
            table.rows.append([title, name, *cells])
    return table
