"""How far probabilities can be trusted: log loss and calibration error, by graph and regime."""

from __future__ import annotations

import numpy as np

from gpgc_lab.studies.graphs.graph_runs import Found, StudyPlan, rows_of
from gpgc_lab.studies.graphs.graph_systems import OURS
from gpgc_lab.studies.graphs.paired import by_division
from gpgc_lab.tables import Table

FEW = ("1 a class", "5 a class")
MOST_OFF = 0.06
"""Calibration error that is tolerated with more labels than those."""


def probability_table(found: Found, plan: StudyPlan) -> Table:
    """Return log loss and calibration error of every system that gives probabilities."""
    systems = [
        system
        for system in plan.systems
        if any(by_division(runs.get(system, []), "log_loss") for _, _, runs in rows_of(found, plan))
    ]
    table = Table(
        "graphs_probabilities",
        "Log loss; calibration error in per cent (15 bins), means over draws",
        ["graph", "labels", "log of the classes", *systems, "if calibrated"],
        notes=[
            "Log of the classes: the log loss of knowing nothing. Test nodes of a class without a "
            "training label are left out of the log loss. If calibrated: the calibration error "
            "that the default's probabilities would have by chance if they were calibrated, larger "
            "where test nodes are few. Systems without probabilities are not shown."
        ],
    )
    for graph, regime, runs in rows_of(found, plan):
        cells = []
        for system in systems:
            records = runs.get(system, [])
            losses = list(by_division(records, "log_loss").values())
            errors = list(by_division(records, "calibration_error").values())
            cells.append(f"{np.mean(losses):.3f}; {100 * np.mean(errors):.1f}" if losses else None)
        floor = by_division(runs.get(OURS, []), "calibration_floor").values()
        cells.append(f"{100 * np.mean([*floor]):.1f}" if floor else None)
        table.rows.append([graph, regime, f"{np.log(found.n_classes[graph]):.3f}", *cells])
    table.notes.append(_unsure(found, plan))
    return table


def _unsure(found: Found, plan: StudyPlan) -> str:
    """Say where the default's probabilities are worse than they may be."""
    above, off = [], []
    for graph, regime, runs in rows_of(found, plan):
        losses = [*by_division(runs.get(OURS, []), "log_loss").values()]
        errors = [*by_division(runs.get(OURS, []), "calibration_error").values()]
        if losses and np.mean(losses) > np.log(found.n_classes[graph]):
            above.append(f"{graph}, {regime}")
        if errors and regime not in FEW and np.mean(errors) > MOST_OFF:
            off.append(f"{graph}, {regime}")
    return (
        f"Log loss of the default above that of knowing nothing: {'; '.join(above) or 'nowhere'}. "
        f"Its calibration error above {MOST_OFF:.0%} with 20 or more labels a class: "
        f"{'; '.join(off) or 'nowhere'}."
    )
