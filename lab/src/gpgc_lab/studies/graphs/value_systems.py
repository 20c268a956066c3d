"""Systems that predict numbers at nodes: ours, ridge regression, a random forest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import norm
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV

import gpgc
from gpgc.estimators import GPGCRegressor
from gpgc_lab.array_types import Array, Integers
from gpgc_lab.baselines import propagated_features as propagation
from gpgc_lab.baselines.propagated_features import as_dense, propagated_features
from gpgc_lab.code_digest import core_digest, digest
from gpgc_lab.journal import Record
from gpgc_lab.problem import Problem
from gpgc_lab.studies.graphs import value_sources
from gpgc_lab.studies.graphs.value_sources import ValuedGraph
from gpgc_lab.studies.graphs.view_weights import rounded

LEVEL = 0.95
ALPHAS = np.logspace(-3, 5, 17)
TREES, COLUMNS = 200, 64
OURS = "gpgc"


@dataclass(frozen=True, eq=False)
class Forecast:
    """Means (N,), and where a system has them standard deviations, intervals (N,), and views."""

    mean: Array
    std: Array | None = None
    low: Array | None = None
    high: Array | None = None
    views: dict[str, float] = field(default_factory=dict)


def measure_values(
    system: str, graph: ValuedGraph, given: Integers, judged: Integers, seed: int
) -> Record:
    """Return R², log density, coverage and width of intervals at the judged nodes, and seconds.

    Log density and width are those of values in units of the standard deviation of the judged ones.
    """
    start = time.process_time()
    forecast = SYSTEMS[system](graph, given, seed)
    seconds = time.process_time() - start
    record = {**score_values(forecast, graph.values, judged), "seconds": seconds}
    if forecast.views:
        record["views"] = rounded(forecast.views)
    return record


def score_values(forecast: Forecast, values: Array, judged: Integers | slice) -> Record:
    """Return R², and where a forecast has them log density, coverage and width of intervals."""
    truth = values[judged]
    scale = float(truth.std()) or 1.0
    error = truth - forecast.mean[judged]
    record: Record = {"r2": 1 - float(np.mean(error**2)) / scale**2}
    if forecast.std is not None:
        record["log_density"] = float(
            np.mean(norm.logpdf(error / scale, scale=forecast.std[judged] / scale))
        )
    if forecast.low is not None and forecast.high is not None:
        low, high = forecast.low[judged], forecast.high[judged]
        record["coverage"] = float(np.mean((low <= truth) & (truth <= high)))
        record["width"] = float(np.mean(high - low)) / scale
    return record


def run_default(graph: ValuedGraph, given: Integers, seed: int) -> Forecast:
    """Fit our regressor with its defaults; intervals are its own."""
    values = np.full(len(graph.values), np.nan)
    values[given] = graph.values[given]
    model = GPGCRegressor(n_jobs=1).fit(graph.features, values, adjacency=graph.adjacency)
    mean, std = model.predict(return_std=True)
    low, high = model.predict_interval(LEVEL)
    spread = np.sqrt(std**2 + float(np.ravel(model.noise_variance_)[0]))
    return Forecast(mean, spread, low, high, dict(model.view_weights_))


def run_ridge(graph: ValuedGraph, given: Integers, seed: int, steps: int) -> Forecast:
    r"""Fit ridge regression on :math:`\hat A^s X`, its penalty by leave-one-out.

    The standard deviation of all nodes is the root mean square of the leave-one-out residuals.
    """
    rows = propagated_features(_problem(graph), steps)
    model = RidgeCV(ALPHAS, store_cv_results=True)
    model.fit(as_dense(rows[given]), graph.values[given])
    squares = model.cv_results_.reshape(len(given), -1)[:, list(ALPHAS).index(model.alpha_)]
    std = np.full(len(graph.values), float(np.sqrt(squares.mean())))
    mean = np.asarray(model.predict(rows))
    half = norm.ppf((1 + LEVEL) / 2) * std
    return Forecast(mean, std, mean - half, mean + half)


def run_forest(graph: ValuedGraph, given: Integers, seed: int) -> Forecast:
    r"""Grow a random forest on :math:`[X, \hat A^2 X]`; wide sparse X by its singular vectors."""
    narrow = _narrow(graph.features, seed)
    pair = [propagated_features(_problem(graph, narrow), steps) for steps in (0, 2)]
    rows = np.hstack(pair)
    forest = RandomForestRegressor(TREES, max_features=1 / 3, random_state=seed)
    forest.fit(rows[given], graph.values[given])
    return Forecast(forest.predict(rows))


def _narrow(features: csr_array | Array, seed: int) -> Array:
    if features.shape[1] > COLUMNS:
        return np.asarray(TruncatedSVD(COLUMNS, random_state=seed).fit_transform(features))
    return as_dense(features)


def _problem(graph: ValuedGraph, features: Array | None = None) -> Problem:
    """Return graph and features as the linear systems take them, without labels."""
    nobody = np.array([], dtype=np.int64)
    rows = graph.features if features is None else features
    unknown = np.full(len(graph.values), -1, dtype=np.int64)
    return Problem(graph.adjacency, rows, unknown, nobody, nobody, 0)


SYSTEMS: dict[str, Callable[[ValuedGraph, Integers, int], Forecast]] = {
    OURS: run_default,
    "ridge on X": partial(run_ridge, steps=0),
    "ridge on Â²X": partial(run_ridge, steps=2),
    "random forest": run_forest,
}


def code_of(system: str) -> str:
    """Return a digest of the code of a system."""
    links = Path(gpgc.__file__).parent / "graph"
    modules = (propagation, value_sources)
    shared = [Path(__file__), *(Path(str(module.__file__)) for module in modules)]
    return core_digest(*shared) if system == OURS else digest([*shared, *links.glob("*.py")])
