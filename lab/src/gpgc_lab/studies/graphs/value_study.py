"""Numbers at nodes: the default regressor beside ridge regression and a random forest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from gpgc.errors import DataError
from gpgc_lab.array_types import Array
from gpgc_lab.journal import Measurements, Record, StudyJournal
from gpgc_lab.studies.graphs.paired import by_division, standard_error
from gpgc_lab.studies.graphs.regimes import FIRST_SEED
from gpgc_lab.studies.graphs.value_sources import (
    ABOUT,
    MADE_UP,
    TARGETS,
    ValuedGraph,
    draw_values,
    load_target,
)
from gpgc_lab.studies.graphs.value_systems import OURS, SYSTEMS, code_of, measure_values
from gpgc_lab.studies.graphs.view_weights import describe_views
from gpgc_lab.tables import Table

GIVEN = (100, 1000)
"""Values that are given, at most half of the nodes."""


def values_table(
    data_dir: Path | None,
    n_seeds: int,
    design: bool,
    journal: StudyJournal,
    progress: Callable[[str], None],
) -> Table:
    """Return the table of regression; what the journal holds is not measured again."""
    first = 0 if design else FIRST_SEED
    table = Table(
        "graphs_values",
        f"Numbers at nodes, means over {n_seeds} draws (seeds from {first})",
        [
            "target",
            "given",
            "system",
            "R²",
            "default − system",
            "log density",
            "inside 95 % intervals",
            "width",
            "seconds",
            "views",
        ],
        notes=[
            ABOUT,
            "R² in per cent ± its standard error; default − system: the paired difference. Log "
            "density and width of intervals: values in units of their standard deviation. Ridge "
            "regression: penalty by leave-one-out, intervals by the root mean square of the "
            "leave-one-out residuals; random forest: 200 trees on [X, Â²X], wide X by 64 singular "
            "vectors; it has no intervals. Sparse rows are scaled to length one, dense columns "
            "standardised. Processor seconds, medians.",
        ],
    )
    known = {system: Measurements(journal, code_of(system)) for system in SYSTEMS}
    for target in TARGETS:
        load = _loader(target, data_dir)
        try:
            load(first)
        except (DataError, OSError) as error:
            table.notes.append(f"{target} left out: {error}.")
            continue
        for n_given in GIVEN:
            runs: dict[str, list[Record]] = {system: [] for system in SYSTEMS}
            for seed in range(first, first + n_seeds):
                for system, measurements in known.items():
                    progress(f"{target}, {n_given:,} values, seed {seed}: {system}")
                    record = measurements.recall(
                        partial(_measure, load, system, n_given, seed),
                        target=target,
                        given=n_given,
                        seed=seed,
                        system=system,
                    )
                    runs[system].append({**record, "division": str(seed)})
            size = int(np.isfinite(load(first).values).sum())
            for system in SYSTEMS:
                cells = _cells(runs, system)
                table.rows.append([target, f"{min(n_given, size // 2):,}", system, *cells])
    return table


def _loader(target: str, data_dir: Path | None) -> Callable[[int], ValuedGraph]:
    """Return what loads a target by seed, once for all seeds where nothing is drawn."""
    if target in MADE_UP:
        return lru_cache(1)(partial(load_target, target, data_dir))
    graph = lru_cache(1)(partial(load_target, target, data_dir, 0))
    return lambda seed: graph()


def _measure(load: Callable[[int], ValuedGraph], system: str, n_given: int, seed: int) -> Record:
    graph = load(seed)
    given, judged = draw_values(graph, n_given, seed)
    return measure_values(system, graph, given, judged, seed)


def _cells(runs: dict[str, list[Record]], system: str) -> list[str | None]:
    ours, theirs = by_division(runs[OURS], "r2"), by_division(runs[system], "r2")
    values = 100 * np.array(list(theirs.values()))
    gaps = 100 * np.array([ours[name] - theirs[name] for name in theirs])
    coverage = by_division(runs[system], "coverage").values()
    return [
        _with_error(values),
        None if system == OURS else _with_error(gaps, "+"),
        _mean(by_division(runs[system], "log_density").values(), "{:.3f}"),
        _mean([100 * value for value in coverage], "{:.1f} %"),
        _mean(by_division(runs[system], "width").values(), "{:.2f}"),
        f"{np.median([record['seconds'] for record in runs[system]]):.2f}",
        describe_views(runs[system]),
    ]


def _with_error(values: Array, sign: str = "") -> str:
    error = standard_error(values)
    return f"{values.mean():{sign}.1f}" + ("" if np.isnan(error) else f" ± {error:.1f}")


def _mean(values: Iterable[float], form: str) -> str | None:
    listed = list(values)
    return form.format(np.mean(listed)) if listed else None
