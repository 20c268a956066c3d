"""``gpgc benchmark core``: this code beside another version, on the listed sets, in one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gpgc.errors import InputError
from gpgc_lab.locations import StudyFolder
from gpgc_lab.studies.core.core_costs import cost_table
from gpgc_lab.studies.core.core_runs import CorePlan, chosen_sets, measure_cells
from gpgc_lab.studies.core.core_sets import DRAWS, FIRST_SEED
from gpgc_lab.studies.core.core_tables import class_table, value_table
from gpgc_lab.studies.core.core_targets import target_table
from gpgc_lab.studies.core.versions import Version
from gpgc_lab.tables import Table

CELLS = {
    "tables": "Tables without a graph",
    "values": "Values",
    "graphs": "Graphs",
    "public": "Published divisions",
    "held-out": "Sets that nothing was designed on",
}
COSTS = "costs"
SECTIONS = (COSTS, *CELLS)
USUAL = (COSTS, "tables", "values", "graphs")
"""What is run when nothing is said: published divisions and held-out sets must be asked for."""


def chosen_sections(only: str | None) -> tuple[str, ...]:
    """Return the sections of names with commas between them.

    Examples
    --------
    >>> chosen_sections("values,costs"), chosen_sections(None)
    (('values', 'costs'), ('costs', 'tables', 'values', 'graphs'))
    """
    if only is None:
        return USUAL
    names = tuple(name.strip() for name in only.split(","))
    if unknown := [name for name in names if name not in SECTIONS]:
        raise InputError(f"only must be among {', '.join(SECTIONS)}, got {unknown[0]!r:.60}")
    return names


def chosen_names(sets: str | None, sections: Sequence[str]) -> list[str]:
    """Return the names of sets with semicolons between them, each of one of the sections.

    Examples
    --------
    >>> chosen_names("power_grid, zones; texas", ["graphs"]), chosen_names(None, ["tables"])
    (['power_grid, zones', 'texas'], [])
    """
    names = [name.strip() for name in sets.split(";")] if sets else []
    known = [one.name for section in sections if section in CELLS for one in chosen_sets(section)]
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"sets must be among {'; '.join(known)}, got {unknown[0]!r:.60}")
    return names


def core_study(
    versions: Sequence[Version],
    folder: StudyFolder,
    progress: Callable[[str], None],
    sections: Sequence[str] = USUAL,
    sets: Sequence[str] = (),
    n_draws: int = DRAWS,
    first_seed: int = FIRST_SEED,
    data_dir: Path | None = None,
) -> list[Table]:
    """Return the tables of some sections, and what was to be reached.

    Parameters
    ----------
    versions : sequence of Version
        This code first.
    folder : StudyFolder
        Of ``core_runs.jsonl``, to which each cell is added as soon as it is measured; what is
        found there, made by the same code, is not measured again.
    progress : callable
        Told what is being done.
    sections : sequence of str
        Of `SECTIONS`.
    sets : sequence of str
        Names of the sets to run; all of a section when empty.
    n_draws, first_seed : int
        Of the draws at random.
    data_dir : Path, optional
        Where the data are; else ``$GPGC_DATA``.
    """
    journal = folder.journal("core_runs.jsonl", ("key", "measured"))
    names = [version.name for version in versions]
    tables: list[Table] = []
    found = []
    if COSTS in sections:
        tables.append(cost_table(versions, journal, progress, data_dir))
    for section in sections:
        if section not in CELLS:
            continue
        chosen = [one for one in chosen_sets(section) if not sets or one.name in sets]
        plan = CorePlan(versions, chosen, section == "public", n_draws, first_seed, data_dir)
        remarks: list[str] = []
        cells = list(measure_cells(plan, journal, progress, remarks))
        found += cells
        for kind, make in (("values", value_table), ("", class_table)):
            some = [cell for cell in cells if (cell.core_set.kind == "values") == bool(kind)]
            if some:
                name = f"core_{section}{'_values' if kind and section != 'values' else ''}"
                notes = [f"Draws with seeds from {first_seed} on.", *remarks]
                tables.append(make(name, CELLS[section], some, names, notes))
    if found:
        tables.append(target_table(found, names))
    return tables
