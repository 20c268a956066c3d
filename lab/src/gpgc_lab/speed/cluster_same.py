"""Answers in blocks beside those of one process, on known graphs and a made-up one."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gpgc_lab.studies.core.open_sets import open_set
from gpgc_lab.tables import Table

GRAPHS = {
    "texas": (60,),
    "chameleon": (200,),
    "actor": (200, 1_500),
    "minesweeper": (200, 1_500),
    "power_grid": (200,),
}
"""Graph → how many nodes are labelled: fewer than the rank of a view, and more."""

MADE = (100, 1_500, 2_500)
"""Labels of the made-up graph of 6,000 nodes: below the rank, above it, and so many that noise is
chosen again by all."""

PARTITIONS = (1, 3, 7)


class Case(NamedTuple):
    """A graph with known classes."""

    features: Any
    ends: tuple[Any, Any]
    truth: Any


def same_table(data_dir: Path | None, quick: bool) -> Table:
    """Return how far labels and means in blocks are from those of one process, in float64."""
    table = Table(
        "dask_same",
        "In blocks, and in one process: the same answers",
        ["graph", "nodes", "labels", "partitions", "labels that differ", "largest of means"],
        notes=[
            "Default model, float64, labels drawn at random; the largest difference between the "
            "latent means of all nodes. To reach: no label, and means to 1e-6."
        ],
    )
    chosen = {"texas": GRAPHS["texas"]} if quick else GRAPHS
    for name, budgets in chosen.items():
        compare(table, name, _known(name, data_dir), budgets)
    compare(table, "made up", _made(), MADE[:1] if quick else MADE)
    return table


def compare(table: Table, name: str, case: Case, budgets: tuple[int, ...]) -> None:
    """Add the rows of a graph."""
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd
    from distributed import Client

    from gpgc import GPGCClassifier
    from gpgc.dask import DaskGPGCClassifier

    X, (source, target), truth = case
    frame = pd.DataFrame({"source": source, "target": target})
    with Client(processes=False, threads_per_worker=2, dashboard_address=None) as client:
        for n_labels in budgets:
            y = np.full(len(truth), -1)
            known = np.flatnonzero(truth >= 0)
            given = np.random.default_rng(0).choice(known, n_labels, replace=False)
            y[given] = truth[given]
            local = GPGCClassifier(dtype="float64").fit(X, y, (source, target))
            for parts in PARTITIONS:
                blocks = da.from_array(X, chunks=(-(-len(X) // parts), X.shape[1]))
                found = DaskGPGCClassifier(dtype="float64", client=client)
                found.fit(blocks, y, dd.from_pandas(frame, npartitions=2))
                differ = int((found.predict().compute() != local.predict()).sum())
                apart = np.abs(found.predict_latent().compute() - local.predict_latent()).max()
                table.rows.append([name, len(X), n_labels, parts, differ, float(apart)])


def _known(name: str, data_dir: Path | None) -> Case:
    found = open_set(name, data_dir)
    links = sp.triu(found.adjacency, k=1).tocoo()
    X: Any = found.features
    X = X.toarray() if sp.issparse(X) else np.asarray(X)
    ends = links.coords[0].astype(np.int64), links.coords[1].astype(np.int64)
    return Case(X, ends, np.asarray(found.targets))


def _made() -> Case:
    rng = np.random.default_rng(0)
    truth = np.arange(6_000) // 30 % 3
    source = np.repeat(np.arange(6_000), 3)
    target = np.clip(source + rng.integers(-40, 41, len(source)), 0, 5_999)
    kept = (truth[source] == truth[target]) | (rng.random(len(source)) < 0.1)
    X = rng.standard_normal((6_000, 8)) + 0.7 * rng.standard_normal((3, 8))[truth]
    return Case(X, (source[kept], target[kept]), truth)
