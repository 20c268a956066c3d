"""All runs of the study, measured once each and written down as they are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from gpgc.errors import DataError
from gpgc_lab.journal import Measurements, Record, StudyJournal
from gpgc_lab.studies.graphs.graph_sources import GRAPHS, LabelledGraph, load_graph
from gpgc_lab.studies.graphs.graph_systems import GCN, OURS, OURS_X, SYSTEMS, GraphRuns, code_of
from gpgc_lab.studies.graphs.regimes import REGIMES, divisions

LARGE = 50_000
"""Nodes from which on there are few seeds and only `LARGE_SYSTEMS`."""

LARGE_SEEDS, GCN_SEEDS = 2, 3
LARGE_SYSTEMS = (OURS, "LR on X", "LR on Â²X", "label propagation")

Progress = Callable[[str], None]


@dataclass(frozen=True)
class StudyPlan:
    """What is run.

    Attributes
    ----------
    graphs, systems, regimes : sequence of str
        Without graphs, only numbers are predicted.
    n_seeds : int
        Draws of labels; graphs from `LARGE` nodes have at most `LARGE_SEEDS`, a GCN `GCN_SEEDS`.
    design : bool
        Whether seeds and masks are those that settings are designed on.
    has_values : bool
        Whether numbers at nodes are predicted too.
    """

    graphs: Sequence[str]
    systems: Sequence[str] = SYSTEMS
    regimes: Sequence[str] = REGIMES
    n_seeds: int = 10
    design: bool = False
    has_values: bool = True

    def command(self) -> str:
        """Return the command line that makes this plan, as far as it is not the default."""
        words = ["gpgc reproduce graphs", f"--seeds {self.n_seeds}"]
        if not self.graphs:
            words.append("--graphs none")
        for option, chosen, known in (
            ("graphs", self.graphs, GRAPHS),
            ("systems", self.systems, SYSTEMS),
            ("regimes", self.regimes, REGIMES),
        ):
            if chosen and tuple(chosen) != tuple(known):
                words.append(f"--{option} '{','.join(chosen)}'")
        words += ["--no-values"] * (not self.has_values) + ["--design"] * self.design
        return " ".join(words)


@dataclass(frozen=True, eq=False)
class Found:
    """What was measured: (graph, regime, system) → a record for each division, and remarks."""

    runs: dict[tuple[str, str, str], list[Record]]
    n_classes: dict[str, int]
    remarks: list[str]


def measure_all(
    plan: StudyPlan, data_dir: Path | None, journal: StudyJournal, progress: Progress
) -> Found:
    """Run what is not known yet; a graph that is not at hand, or a library, is a remark."""
    found = Found({}, {}, [])
    systems = list(plan.systems)
    if GCN in systems and find_spec("torch") is None:
        systems.remove(GCN)
        found.remarks.append(f"{GCN} left out: needs torch, which is not installed.")
    known = {system: Measurements(journal, code_of(system)) for system in systems}
    for name in plan.graphs:
        try:
            graph = load_graph(name, data_dir)
        except (DataError, OSError) as error:
            found.remarks.append(f"{name} left out: {error}.")
            continue
        found.n_classes[name] = graph.n_classes
        _measure_graph(graph, plan, known, found, progress)
    return found


def _measure_graph(
    graph: LabelledGraph,
    plan: StudyPlan,
    known: dict[str, Measurements],
    found: Found,
    progress: Progress,
) -> None:
    is_large = len(graph.labels) >= LARGE
    runs = GraphRuns(graph)
    for regime in plan.regimes:
        n_seeds = min(plan.n_seeds, LARGE_SEEDS) if is_large else plan.n_seeds
        for turn, division in enumerate(divisions(graph, regime, n_seeds, plan.design)):
            for system, measurements in known.items():
                if (system == GCN and turn >= GCN_SEEDS) or (
                    is_large and system not in LARGE_SYSTEMS
                ):
                    continue
                if system == OURS_X and not len(division.validation):
                    continue
                progress(f"{graph.name}, {regime}, {division.name}: {system}")
                record = measurements.recall(
                    partial(runs.measure, system, division),
                    graph=graph.name,
                    regime=regime,
                    division=division.name,
                    system=system,
                )
                found.runs.setdefault((graph.name, regime, system), []).append(
                    {**record, "division": division.name}
                )


def rows_of(found: Found, plan: StudyPlan) -> Iterator[tuple[str, str, dict[str, list[Record]]]]:
    """Give graph, regime and the runs of each system, in the order of the plan."""
    for graph in plan.graphs:
        for regime in plan.regimes:
            runs = {
                system: found.runs[graph, regime, system]
                for system in plan.systems
                if (graph, regime, system) in found.runs
            }
            if runs:
                yield graph, regime, runs
