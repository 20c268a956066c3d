"""How often intervals of numbers hold values that were kept out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from gpgc.estimators import GPGCRegressor
from gpgc_lab.array_types import Array
from gpgc_lab.code_digest import core_digest
from gpgc_lab.journal import Measurements, Record
from gpgc_lab.locations import StudyFolder
from gpgc_lab.tables import Table

LABELS = (20, 50, 100)
LEVELS = (0.8, 0.9, 0.95)
FIRST_SEED = 100
"""Seeds of the draws, apart from the small ones of tests and examples."""


class Numbers(NamedTuple):
    """Features (N, F) and the values (N,) that are to be predicted from them."""

    features: Array
    values: Array


def _column_of(load: Callable[[], object], name: str) -> Numbers:
    """Return one measured column, to be predicted from the others of a table."""
    data = load()
    names = [str(column) for column in data.feature_names]  # type: ignore[attr-defined]
    place, table = names.index(name), np.asarray(data.data)  # type: ignore[attr-defined]
    return Numbers(np.delete(table, place, axis=1), table[:, place])


def _diabetes() -> Numbers:
    data = load_diabetes()
    return Numbers(np.asarray(data.data), np.asarray(data.target, dtype=np.float64))


def _made_up() -> Numbers:
    """Return temperatures of places: smooth, with noise of long tails."""
    rng = np.random.default_rng(7)
    place = rng.uniform(-1, 1, size=(600, 2))
    smooth = np.sin(3 * place[:, 0]) + place[:, 1] ** 2
    return Numbers(place, smooth + 0.2 * rng.standard_t(3, size=600))


PROBLEMS: dict[str, Callable[[], Numbers]] = {
    "diabetes, progression": _diabetes,
    "breast cancer, mean concavity": lambda: _column_of(load_breast_cancer, "mean concavity"),
    "wine, alcohol": lambda: _column_of(load_wine, "alcohol"),
    "made up, noise of long tails": _made_up,
}


def intervals_study(
    n_seeds: int, folder: StudyFolder, progress: Callable[[str], None]
) -> tuple[list[Table], list[Path]]:
    """Return the table of coverage; what is measured is kept and not measured again."""
    journal = folder.journal("intervals_runs.jsonl", ("key", "measured"))
    known = Measurements(journal, core_digest(Path(__file__)))
    table = Table(
        "intervals",
        f"Values that their interval holds, in per cent, mean of {n_seeds} draws",
        [
            "data set",
            "values given",
            *(f"{level:.0%}" for level in LEVELS),
            *(f"{level:.0%}, normal quantile" for level in LEVELS),
            "width at 90% over that of the normal quantile",
            "error over the spread of the values",
        ],
        notes=[
            "Values are drawn at random, all others are kept out and counted. gpgc: "
            "`predict_interval`, whose width is calibrated by leaving out the given values in "
            "turn; beside it the posterior's own mean ± z · standard deviation. Settings are the "
            "defaults with base_kernel='squared_exponential'. Data come with scikit-learn, but "
            f"for the last. Seeds from {FIRST_SEED} on."
        ],
    )
    for name, load in PROBLEMS.items():
        data = load()
        for n_labels in (n for n in LABELS if n <= len(data.values) // 2):
            runs = []
            for seed in range(FIRST_SEED, FIRST_SEED + n_seeds):
                progress(f"{name}: {n_labels} values")
                runs.append(
                    known.recall(
                        partial(_measure, data, n_labels, seed),
                        dataset=name,
                        labels=n_labels,
                        seed=seed,
                    )
                )
            table.rows.append([name, n_labels, *_cells(runs)])
    table.notes.extend(known.notes())
    return [table], []


def _measure(data: Numbers, n_labels: int, seed: int) -> Record:
    order = np.random.default_rng([seed, n_labels]).permutation(len(data.values))
    given, hidden = order[:n_labels], order[n_labels:]
    y = np.full(len(data.values), np.nan)
    y[given] = data.values[given]
    model = GPGCRegressor(base_kernel="squared_exponential").fit(data.features, y)
    mean, std = model.predict(return_std=True)
    spread = np.sqrt(std**2 + model.noise_variance_)
    truth, found = data.values[hidden], {}
    for level in LEVELS:
        low, high = model.predict_interval(level)
        half = norm.ppf((1 + level) / 2) * spread
        inside = (low[hidden] <= truth) & (truth <= high[hidden])
        found[f"{level}"] = float(inside.mean())
        found[f"{level} normal"] = float((np.abs(truth - mean[hidden]) <= half[hidden]).mean())
        found[f"{level} width"] = float((high - low)[hidden].mean() / (2 * half[hidden].mean()))
    error = np.sqrt(np.mean((truth - mean[hidden]) ** 2)) / truth.std()
    return {**found, "error": float(error)}


def _cells(runs: list[Record]) -> list[str]:
    def cell(name: str, factor: float = 100.0, digits: int = 1) -> str:
        values = factor * np.array([run[name] for run in runs])
        return f"{values.mean():.{digits}f} ± {values.std() / np.sqrt(len(values)):.{digits}f}"

    own = [cell(f"{level}") for level in LEVELS]
    normal = [cell(f"{level} normal") for level in LEVELS]
    return [*own, *normal, cell("0.9 width", 1, 2), cell("error", 1, 2)]
