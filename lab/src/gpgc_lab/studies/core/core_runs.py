"""Every cell of the tables: a set, a budget and a system, over all draws, measured once."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from gpgc.errors import DataError
from gpgc.uncertainty.measures import log_loss
from gpgc_lab import baselines, scores
from gpgc_lab.array_types import Array, Integers
from gpgc_lab.code_digest import syntax_digest
from gpgc_lab.journal import Measurements, Record, StudyJournal
from gpgc_lab.scores import score_classes
from gpgc_lab.studies.core import core_rivals, draws, exchange, package_sets, worker
from gpgc_lab.studies.core.core_rivals import class_rivals, timed, value_rivals
from gpgc_lab.studies.core.core_sets import PUBLIC, SETS, CoreSet
from gpgc_lab.studies.core.draws import Draw, draws_of
from gpgc_lab.studies.core.open_sets import open_set
from gpgc_lab.studies.core.package_sets import OpenedSet
from gpgc_lab.studies.core.versions import Version
from gpgc_lab.studies.graphs import value_systems
from gpgc_lab.studies.graphs.value_systems import Forecast, score_values

Progress = Callable[[str], None]


@dataclass(frozen=True)
class CorePlan:
    """What is run.

    Attributes
    ----------
    versions : sequence of Version
        This code first.
    sets : sequence of CoreSet
    is_public : bool
        Whether the published divisions are run, and no others.
    n_draws, first_seed : int
        Of the draws at random.
    data_dir : Path, optional
    limit : float
        Seconds that all draws of a cell may take.
    """

    versions: Sequence[Version]
    sets: Sequence[CoreSet]
    is_public: bool = False
    n_draws: int = 20
    first_seed: int = 7000
    data_dir: Path | None = None
    limit: float = 3600.0


@dataclass(frozen=True, eq=False)
class Cell:
    """A set and a budget: system → its records, one for each draw, with the draw's name."""

    core_set: CoreSet
    budget: str
    runs: dict[str, dict[str, Record]]

    def values(self, system: str, measure: str) -> dict[str, float]:
        """Return a measure by the name of the draw, where it was measured."""
        found = self.runs.get(system, {})
        return {
            name: record[measure]
            for name, record in found.items()
            if record.get(measure) is not None
        }


def chosen_sets(section: str) -> list[CoreSet]:
    """Return the sets of a section: graphs, tables, values to design on, or those held out."""
    if section == "held-out":
        return [one for one in SETS if one.is_held_out]
    if section == "public":
        return [one for one in SETS if PUBLIC in one.budgets]
    kind = {"graphs": "graph", "tables": "table", "values": "values"}[section]
    return [one for one in SETS if one.kind == kind and not one.is_held_out]


def measure_cells(
    plan: CorePlan, journal: StudyJournal, progress: Progress, remarks: list[str]
) -> Iterator[Cell]:
    """Give every cell; a set that is not at hand, or a system that fails, is a remark."""
    shared = syntax_digest(_shared_files())

    @cache
    def recalled(code: str) -> Measurements:
        return Measurements(journal, shared + code)

    for core_set in plan.sets:
        try:
            opened = open_set(core_set.name, plan.data_dir)
        except (DataError, OSError) as error:
            remarks.append(f"{core_set.name} left out: {error}.")
            continue
        wanted = [one for one in core_set.budgets if (one == PUBLIC) == plan.is_public]
        for budget in wanted:
            drawn = draws_of(core_set, opened, budget, plan.first_seed, plan.n_draws, plan.data_dir)
            yield _measure_cell(plan, core_set, opened, budget, drawn, recalled, progress, remarks)


def _measure_cell(
    plan: CorePlan,
    core_set: CoreSet,
    opened: OpenedSet,
    budget: str,
    drawn: Sequence[Draw],
    recalled: Callable[[str], Measurements],
    progress: Progress,
    remarks: list[str],
) -> Cell:
    runs: dict[str, dict[str, Record]] = {}
    systems: list[tuple[str, str, Callable[[Sequence[Draw]], dict[str, Record]]]] = [
        (version.name, version.code, _of_version(version, core_set, opened, plan.limit))
        for version in plan.versions
    ]
    systems += [(name, "", _of_rival(name, core_set, opened)) for name in core_set.rivals]
    for name, code, measure in systems:
        known = recalled(code[:16])
        key: dict[str, Any] = {"set": core_set.name, "budget": budget, "system": name}
        if code:
            key["system"] = "gpgc"  # what a version is called does not change its answers
        missing = [one for one in drawn if known.find(**key, draw=one.name) is None]
        found: dict[str, Record] = {}
        if missing:
            progress(f"{core_set.name}, {budget}: {name}, {len(missing)} draws")
            try:
                found = measure(missing)
            except (RuntimeError, TimeoutError) as error:
                reason = str(error).strip().splitlines()[-1]
                remarks.append(f"{core_set.name}, {budget}, {name}: {reason}.")
        runs[name] = {}
        for one in drawn:
            record = known.find(**key, draw=one.name)
            if record is None and one.name in found:
                record = known.recall(partial(found.__getitem__, one.name), **key, draw=one.name)
            if record is not None:
                runs[name][one.name] = record
    return Cell(core_set, budget, runs)


def _of_version(
    version: Version, core_set: CoreSet, opened: OpenedSet, limit: float
) -> Callable[[Sequence[Draw]], dict[str, Record]]:
    def measure(drawn: Sequence[Draw]) -> dict[str, Record]:
        with tempfile.TemporaryDirectory(prefix="gpgc-core-") as folder:
            problem, answers = Path(folder) / "problem.npz", Path(folder) / "answers.npz"
            given = {one.name: (one.given, opened.targets[one.given], one.judged) for one in drawn}
            exchange.write_problem(problem, opened.adjacency, opened.features, given)
            told = version.call("answer", limit, problem=str(problem), answers=str(answers))
            with np.load(answers) as arrays:
                said = dict(arrays)
        records = {}
        for place, one in enumerate(drawn):
            if core_set.kind == "values":
                parts = [said[f"{part}_{place}"] for part in ("mean", "std", "low", "high")]
                record = score_values(Forecast(*parts), opened.targets[one.judged], slice(None))
            else:
                shares = np.zeros((len(one.judged), int(opened.targets.max()) + 1))
                shares[:, said[f"classes_{place}"]] = said[f"probabilities_{place}"]
                record = _score(shares, opened.targets, one)
            records[one.name] = {**record, "seconds": told["seconds"][one.name]}
        return records

    return measure


def _of_rival(
    name: str, core_set: CoreSet, opened: OpenedSet
) -> Callable[[Sequence[Draw]], dict[str, Record]]:
    def measure(drawn: Sequence[Draw]) -> dict[str, Record]:
        records = {}
        is_value = core_set.kind == "values"
        run: Any = (value_rivals(opened) if is_value else class_rivals(opened))[name]
        for one in drawn:
            seed = int(one.name.rpartition(" ")[2])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if is_value:
                    mean, seconds = timed(partial(run, one.given, seed))
                    record = score_values(Forecast(mean), opened.targets, one.judged)
                else:
                    labels = np.full(len(opened.targets), -1, dtype=np.int64)
                    labels[one.given] = opened.targets[one.given]
                    said, seconds = timed(partial(run, labels, seed))
                    record = _score(said.probabilities[one.judged], opened.targets, one)
            records[one.name] = {**record, "seconds": seconds}
        return records

    return measure


def _score(shares: Array, targets: Integers, one: Draw) -> Record:
    """Return the scores of a forecast, and the log loss of the labels' class fractions."""
    truth, labels = targets[one.judged], targets[one.given]
    fractions = np.bincount(labels, minlength=shares.shape[1]) / len(labels)
    known = np.isin(truth, np.unique(labels))
    plain = log_loss(np.tile(fractions, (int(known.sum()), 1)), truth[known])
    return {**score_classes(shares, truth, np.unique(labels)), "fractions_log_loss": plain}


def _shared_files() -> list[Path]:
    """Return the files that every number depends on, apart from the version's own."""
    modules = (core_rivals, draws, exchange, package_sets, scores, value_systems, worker)
    folder = Path(baselines.__file__).parent
    rivals = (
        *("label_propagation", "logistic_regression", "propagated_features", "classical"),
        "gradient_boosting",
    )
    return [
        *(Path(str(module.__file__)) for module in modules),
        *(folder / f"{name}.py" for name in rivals),
    ]
