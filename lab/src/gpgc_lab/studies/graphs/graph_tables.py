"""Tables of the study: accuracies, probabilities, ranks, seconds, published numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from gpgc_lab import published
from gpgc_lab.array_types import Array
from gpgc_lab.journal import Record
from gpgc_lab.studies.graphs.graph_runs import (
    GCN_SEEDS,
    LARGE,
    LARGE_SEEDS,
    Found,
    StudyPlan,
    rows_of,
)
from gpgc_lab.studies.graphs.graph_systems import GCN, OURS, RIVALS
from gpgc_lab.studies.graphs.paired import by_division, paired, standard_error
from gpgc_lab.studies.graphs.probability_table import probability_table
from gpgc_lab.studies.graphs.regimes import FIRST_SEED, TABLE_MASKS
from gpgc_lab.studies.graphs.view_weights import describe_views
from gpgc_lab.tables import Table

ACCURACY, AREA = "accuracy", "area_under_curve"


def main_measure(n_classes: int) -> str:
    """Return what systems are ranked by: the area under the ROC curve for two classes."""
    return AREA if n_classes == 2 else ACCURACY


def graph_tables(found: Found, plan: StudyPlan) -> list[Table]:
    """Return all tables of classification."""
    tables = [
        accuracy_table(found, plan),
        probability_table(found, plan),
        rank_table(found, plan),
        seconds_table(found, plan),
        views_table(found, plan),
        published_table(found),
    ]
    tables[0].notes.extend(found.remarks)
    return [tables[0], *(table for table in tables[1:] if table.rows)]


def accuracy_table(found: Found, plan: StudyPlan) -> Table:
    """Return accuracy, for two classes also the area under the curve, and the paired difference."""
    masks = "2 to 9" if plan.design else " and ".join(map(str, TABLE_MASKS))
    which = f"seeds from {0 if plan.design else FIRST_SEED}, masks {masks}"
    table = Table(
        "graphs_accuracy",
        f"Test accuracy in per cent, mean over draws ± its standard error ({which})",
        ["graph", "labels", *plan.systems, "best rival", "default − rival"],
        notes=[
            "AUC: area under the ROC curve, in per cent. Labels are drawn at random within each "
            "class, one at least and at most half of a class; 20·C in proportion: 20 times the "
            "number of classes, in proportion to the classes; test nodes are all others whose "
            f"class is known. Own masks: {masks}, those of the published numbers being "
            f"{TABLE_MASKS[0]} and {TABLE_MASKS[1]}; citation networks: their public split; test "
            "nodes are those of the mask; validation labels are not used. a / b / c: parts of the "
            "known nodes at random, trained on, left out (or given too where it says so), tested.",
            f"Best rival: the best of {', '.join(RIVALS)} by its mean. The difference is paired "
            "over the same draws, with its standard error; ▼ worse by more than two standard "
            "errors, or by more than a point; ▼▼ both.",
            "LR: logistic regression, C by 3-fold cross-validation of the log loss where there are "
            "5 labels a class on average (on 5,000 labels at most), else 1; sparse rows are scaled "
            "to length one, dense columns standardised, and so again after Â². Five linear models: "
            f"those of GraphAny with uniform weights. {GCN}: 64 hidden units, 200 epochs, at most "
            f"{GCN_SEEDS} draws. Graphs from {LARGE:,} nodes: at most {LARGE_SEEDS} draws, few "
            "systems.",
        ],
    )
    for graph, regime, runs in rows_of(found, plan):
        measures = [ACCURACY, AREA] if found.n_classes[graph] == 2 else [ACCURACY]
        for measure in measures:
            cells = [mean_cell(runs.get(system, []), measure) for system in plan.systems]
            gap = paired(runs, measure)
            kind = f"{regime}, AUC" if measure == AREA else regime
            rival, difference = (None, None) if gap is None else (gap.rival, str(gap))
            table.rows.append([graph, kind, *cells, rival, difference])
    table.notes.append(_summary(found, plan))
    return table


def _summary(found: Found, plan: StudyPlan) -> str:
    """Say where the default is behind, by the measure that graphs are ranked by."""
    judged, behind = 0, []
    for graph, regime, runs in rows_of(found, plan):
        gap = paired(runs, main_measure(found.n_classes[graph]))
        judged += gap is not None
        if gap is not None and gap.mark:
            behind.append(f"{graph}, {regime} ({gap})")
    listed = "; ".join(behind) or "nowhere"
    return f"Behind the best rival in {len(behind)} of {judged} cases: {listed}."


def rank_table(found: Found, plan: StudyPlan) -> Table:
    """Return the mean rank of each system over graphs, by regime."""
    table = Table(
        "graphs_ranks",
        "Mean rank over graphs by accuracy (two classes: area under the curve); 1 is best",
        ["labels", "graphs", *plan.systems],
        notes=["A system has no rank on a graph that it was not run on; equal means share ranks."],
    )
    for regime in plan.regimes:
        scores = []
        for graph, kind, runs in rows_of(found, plan):
            if kind == regime:
                measure = main_measure(found.n_classes[graph])
                values = [by_division(runs.get(system, []), measure) for system in plan.systems]
                scores.append([np.mean([*one.values()]) if one else np.nan for one in values])
        if scores:
            table.rows.append([regime, len(scores), *_mean_ranks(np.array(scores))])
    return table


def _mean_ranks(scores: Array) -> list[str | None]:
    """Return the mean rank of each column over the rows where it has a score, NaN being none."""
    ranks = np.full(scores.shape, np.nan)
    for place, row in enumerate(scores):
        has = ~np.isnan(row)
        ranks[place, has] = rankdata(-row[has])
    return [None if np.isnan(column).all() else f"{np.nanmean(column):.1f}" for column in ranks.T]


def seconds_table(found: Found, plan: StudyPlan) -> Table:
    """Return processor seconds by graph and regime."""
    table = Table(
        "graphs_seconds",
        "Processor seconds of a run, medians over draws",
        ["graph", "labels", *plan.systems],
        notes=[
            "Ours on a graph that was seen before: the covariance is built once and relabelled, "
            "all choices made anew; in brackets a fit from the start, where one was timed."
        ],
    )
    for graph, regime, runs in rows_of(found, plan):
        cells = []
        for system in plan.systems:
            records = [record for record in runs.get(system, []) if "seconds" in record]
            again = [record["seconds"] for record in records if not record.get("is_new")]
            new = [record["seconds"] for record in records if record.get("is_new")]
            text = f"{np.median(again):.2f}" if again else ""
            cells.append((text + (f" ({np.median(new):.2f})" if new else "")).strip() or None)
        table.rows.append([graph, regime, *cells])
    return table


def views_table(found: Found, plan: StudyPlan) -> Table:
    """Return which views of the nodes the default took."""
    table = Table(
        "graphs_views",
        "Views of the nodes that the default took: mean weight where taken (number of draws)",
        ["graph", "labels", "draws", "views"],
    )
    for graph, regime, runs in rows_of(found, plan):
        if records := runs.get(OURS):
            table.rows.append([graph, regime, len(records), describe_views(records)])
    return table


def published_table(found: Found) -> Table:
    """Return published numbers beside the default's."""
    table = Table(
        "graphs_published",
        "Published numbers beside the default, per cent",
        ["graph", "labels", "measure", "default", "published"],
        notes=["Published numbers are their authors', by the same split rule, on other draws."],
    )
    for (graph, regime, measure), numbers in published.GRAPHS.items():
        records = found.runs.get((graph, regime, OURS), [])
        if records:
            listed = ", ".join(f"{system} {value}" for system, value in numbers.items())
            table.rows.append([graph, regime, measure, mean_cell(records, measure), listed])
    return table


def mean_cell(records: Sequence[Record], measure: str) -> str | None:
    """Return a mean in per cent with its standard error, or why there is none."""
    values = 100 * np.array(list(by_division(records, measure).values()))
    if not len(values):
        failed = [record["failed"] for record in records if "failed" in record]
        return failed[0] if failed else None
    error = standard_error(values)
    return f"{values.mean():.1f}" + ("" if np.isnan(error) else f" ± {error:.1f}")
