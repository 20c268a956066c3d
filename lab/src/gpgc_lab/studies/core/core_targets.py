"""What was to be reached, beside what each version reached; only rows whose cells were measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gpgc_lab.studies.core.core_runs import Cell
from gpgc_lab.studies.core.core_sets import PUBLIC
from gpgc_lab.studies.core.core_tables import Gap, best_rival, mean_of
from gpgc_lab.tables import Table

POINTS, LOSS, ERRORS = 0.5, 0.01, 2.0
"""How far a mean may fall behind the other version: points or paired errors; log loss."""

LEAST = {
    ("cora", "20 a class"): 83.4,
    ("citeseer", "20 a class"): 72.2,
    ("pubmed", "20 a class"): 79.4,
    ("cora", "5 a class"): 76.5,
    ("citeseer", "5 a class"): 66.0,
    ("pubmed", "5 a class"): 72.0,
    ("cora", "1 a class"): 59.0,
    ("citeseer", "1 a class"): 45.0,
    ("pubmed", "1 a class"): 59.0,
    ("cora", PUBLIC): 84.0,
    ("citeseer", PUBLIC): 72.2,
    ("pubmed", PUBLIC): 81.0,
    ("chameleon", PUBLIC): 74.0,
    ("actor", PUBLIC): 34.5,
    ("minesweeper", PUBLIC): 89.0,
    ("texas", PUBLIC): 85.0,
    ("power_grid", "10 % at random"): 78.0,
    ("power_grid, zones", "20 a class"): 82.0,
    ("yeast_proteins", "half at random"): 70.0,
}
"""Per cent of a cell's measure."""

UNLIKE = ("chameleon", "texas", "minesweeper")
"""Graphs whose log loss with five labels a class may not rise by more than `UNLIKE_LOSS`."""

UNLIKE_LOSS, FRACTIONS_LOSS, TABLE_LOSS = 0.02, 0.02, 0.05
TABLE_POINTS = 5.0
R2_POINTS, R2_CELLS, DENSITY = 3.0, 0.9, -2.0
COVERAGE = (0.86, 0.94)


@dataclass(frozen=True)
class Reached:
    """What one version reached of a target, and whether that is enough."""

    text: str
    is_enough: bool

    def __str__(self) -> str:
        return f"{self.text} {'✓' if self.is_enough else '✗'}"


def target_table(cells: Sequence[Cell], systems: Sequence[str]) -> Table:
    """Return a row for each target whose cells are there, with ✓ or ✗ for each version."""
    table = Table(
        "core_targets",
        "What was to be reached",
        ["what", "wanted", *systems],
        notes=["Rows of which no cell was measured are left out; few draws say little."],
    )
    rows: list[tuple[str, str, Callable[[str], Reached | None]]] = []
    for cell in cells:
        least = LEAST.get((cell.core_set.name, cell.budget))
        if least is not None:
            title = f"{cell.core_set.name}, {cell.budget}"
            rows.append((title, f"≥ {least:g}", _at_least(cell, least)))
    classes = [cell for cell in cells if cell.core_set.kind != "values"]
    graphs = [cell for cell in classes if cell.core_set.kind == "graph"]
    tables = [cell for cell in classes if cell.core_set.kind == "table"]
    values = [cell for cell in cells if cell.core_set.kind == "values"]
    if len(systems) > 1:
        rows += [
            (
                "graphs: cells behind the other version",
                f"0 by more than {ERRORS:g} paired errors or {POINTS:g} points",
                _cells_behind(graphs, systems),
            ),
            (
                "graphs: cells with more log loss than the other version",
                f"0 by more than {LOSS:g}",
                _cells_with_more_loss(graphs, systems, LOSS),
            ),
            (
                "unlike graphs, 5 a class: cells with more log loss",
                f"0 by more than {UNLIKE_LOSS:g}",
                _cells_with_more_loss(
                    [c for c in graphs if c.core_set.name in UNLIKE and c.budget == "5 a class"],
                    systems,
                    UNLIKE_LOSS,
                ),
            ),
        ]
    rows += [
        (
            "classes: cells with more log loss than class fractions",
            f"0 by more than {FRACTIONS_LOSS:g}",
            _above_fractions(classes),
        ),
        (
            "tables: mean log loss above the best rival's",
            f"≤ {TABLE_LOSS:g}",
            _table_loss(tables),
        ),
        (
            "tables, 5 labels a class or more: cells behind the best rival",
            f"0 by {TABLE_POINTS:g} points beyond two paired errors",
            _tables_behind(tables),
        ),
        (
            "values: cells with R² within 3 points of the best rival's",
            "≥ 90 %",
            _values_near(values),
        ),
        ("values: least log density of a cell", f"≥ {DENSITY:g}", _least_density(values)),
        ("values: coverage of 90 % intervals, least and most", "86 to 94 %", _coverage(values)),
    ]
    for title, wanted, reach in rows:
        reached = [reach(system) for system in systems]
        if any(one is not None for one in reached):
            table.rows.append([title, wanted, *(one and str(one) for one in reached)])
    return table


def _at_least(cell: Cell, least: float) -> Callable[[str], Reached | None]:
    def reach(system: str) -> Reached | None:
        mean = mean_of(cell, system, cell.core_set.measure)
        return None if mean is None else Reached(f"{100 * mean:.1f}", 100 * mean >= least)

    return reach


def _count(
    cells: Sequence[Cell], judge: Callable[[Cell, str], bool | None], system: str
) -> Reached | None:
    """Count the cells that are judged, and name those that are bad."""
    judged = {f"{cell.core_set.name} {cell.budget}": judge(cell, system) for cell in cells}
    known = {name: bad for name, bad in judged.items() if bad is not None}
    if not known:
        return None
    named = [name for name, bad in known.items() if bad]
    listed = f" ({', '.join(named[:6])}{', …' if len(named) > 6 else ''})" if named else ""
    return Reached(f"{len(named)} of {len(known)}{listed}", not named)


def _cells_behind(cells: Sequence[Cell], systems: Sequence[str]) -> Callable[[str], Reached | None]:
    def judge(cell: Cell, system: str) -> bool | None:
        measure = cell.core_set.measure
        gap = Gap.between(
            cell.values(systems[0], measure), cell.values(systems[1], measure), 1, 100
        )
        return None if gap is None else gap.mean < -max(POINTS, ERRORS * np.nan_to_num(gap.error))

    return lambda system: _count(cells, judge, system) if system == systems[0] else None


def _cells_with_more_loss(
    cells: Sequence[Cell], systems: Sequence[str], most: float
) -> Callable[[str], Reached | None]:
    def judge(cell: Cell, system: str) -> bool | None:
        ours, theirs = (cell.values(name, "log_loss") for name in systems[:2])
        gap = Gap.between(ours, theirs, digits=3)
        return None if gap is None else gap.mean > most

    return lambda system: _count(cells, judge, system) if system == systems[0] else None


def _above_fractions(cells: Sequence[Cell]) -> Callable[[str], Reached | None]:
    def judge(cell: Cell, system: str) -> bool | None:
        ours, plain = (cell.values(system, name) for name in ("log_loss", "fractions_log_loss"))
        gap = Gap.between(ours, plain, digits=3)
        return None if gap is None else gap.mean > FRACTIONS_LOSS

    return lambda system: _count(cells, judge, system)


def _table_loss(cells: Sequence[Cell]) -> Callable[[str], Reached | None]:
    def reach(system: str) -> Reached | None:
        gaps = []
        for cell in cells:
            rival = best_rival(cell, "log_loss", lower=True)
            ours = cell.values(system, "log_loss")
            gap = Gap.between(ours, cell.values(rival, "log_loss"), 3) if rival else None
            gaps += [] if gap is None else [gap.mean]
        if not gaps:
            return None
        return Reached(
            f"{np.mean(gaps):+.3f} ({len(gaps)} cells)", bool(np.mean(gaps) <= TABLE_LOSS)
        )

    return reach


def _tables_behind(cells: Sequence[Cell]) -> Callable[[str], Reached | None]:
    def judge(cell: Cell, system: str) -> bool | None:
        rival = best_rival(cell, "accuracy")
        ours = cell.values(system, "accuracy")
        gap = Gap.between(ours, cell.values(rival, "accuracy"), 1, 100) if rival else None
        if gap is None:
            return None
        return gap.mean < -(TABLE_POINTS + ERRORS * float(np.nan_to_num(gap.error)))

    many = [cell for cell in cells if cell.budget != "1 a class"]
    return lambda system: _count(many, judge, system)


def _values_near(cells: Sequence[Cell]) -> Callable[[str], Reached | None]:
    def reach(system: str) -> Reached | None:
        near = []
        for cell in cells:
            rival = best_rival(cell, "r2")
            ours = mean_of(cell, system, "r2")
            theirs = mean_of(cell, rival, "r2") if rival else None
            if ours is not None and theirs is not None:
                near.append(100 * ours >= 100 * theirs - R2_POINTS)
        if not near:
            return None
        return Reached(f"{sum(near)} of {len(near)}", bool(np.mean(near) >= R2_CELLS))

    return reach


def _least_density(cells: Sequence[Cell]) -> Callable[[str], Reached | None]:
    def reach(system: str) -> Reached | None:
        found = [mean_of(cell, system, "log_density") for cell in cells]
        known = [one for one in found if one is not None]
        return Reached(f"{min(known):.2f}", min(known) >= DENSITY) if known else None

    return reach


def _coverage(cells: Sequence[Cell]) -> Callable[[str], Reached | None]:
    def reach(system: str) -> Reached | None:
        found = [mean_of(cell, system, "coverage") for cell in cells]
        known = [one for one in found if one is not None]
        if not known:
            return None
        low, high = min(known), max(known)
        text = f"{100 * low:.1f} to {100 * high:.1f} %"
        return Reached(text, low >= COVERAGE[0] and high <= COVERAGE[1])

    return reach
