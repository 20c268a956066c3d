"""``gpgc reproduce graphs``: the default on every graph at hand, beside what needs no training."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gpgc.errors import InputError
from gpgc_lab.locations import StudyFolder
from gpgc_lab.studies.graphs.graph_runs import StudyPlan, measure_all
from gpgc_lab.studies.graphs.graph_sources import GRAPHS
from gpgc_lab.studies.graphs.graph_systems import SYSTEMS
from gpgc_lab.studies.graphs.graph_tables import graph_tables
from gpgc_lab.studies.graphs.regimes import REGIMES
from gpgc_lab.studies.graphs.value_study import values_table
from gpgc_lab.tables import Table


def make_plan(
    graphs: str | None = None,
    systems: str | None = None,
    regimes: str | None = None,
    n_seeds: int = 10,
    design: bool = False,
    has_values: bool = True,
) -> StudyPlan:
    """Return a plan of names with commas between them, all where none are given.

    Examples
    --------
    >>> make_plan("texas,cora", "gpgc,LR on X").graphs
    ('texas', 'cora')
    """
    return StudyPlan(
        () if graphs == "none" else _names("graphs", graphs, GRAPHS),
        _names("systems", systems, SYSTEMS),
        _names("regimes", regimes, REGIMES),
        n_seeds,
        design,
        has_values,
    )


def _names(option: str, given: str | None, known: tuple[str, ...]) -> tuple[str, ...]:
    if given is None:
        return known
    names = tuple(name.strip() for name in given.split(","))
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"{option} must be among {', '.join(known)}, got {unknown[0]!r:.60}")
    return names


def graphs_study(
    data_dir: Path | None,
    plan: StudyPlan,
    folder: StudyFolder,
    progress: Callable[[str], None],
) -> list[Table]:
    """Return the tables of classification and of regression.

    Parameters
    ----------
    data_dir : Path, optional
        Where the graphs are; else ``$GPGC_DATA``. A graph that is not at hand is left out.
    plan : StudyPlan
        What is run.
    folder : StudyFolder
        Folder of ``graphs_runs.jsonl``, which holds every measurement as soon as it is made; what
        is found there, made by the same code, is not measured again.
    progress : callable
        Told what is being done.
    """
    journal = folder.journal("graphs_runs.jsonl", ("key", "measured"))
    tables = []
    if plan.graphs:
        tables += graph_tables(measure_all(plan, data_dir, journal, progress), plan)
    if plan.has_values:
        tables.append(values_table(data_dir, plan.n_seeds, plan.design, journal, progress))
    return tables
