"""Seconds and peak memory as graphs grow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc import GPGCClassifier
from gpgc.models.broad import Broad
from gpgc.models.graph_view import TELEPORTS
from gpgc_lab.plotting import MARKERS, PALETTE, save_figure
from gpgc_lab.speed.measure import fastest, forget_peak, in_own_process
from gpgc_lab.speed.variants import COMPILED, NOTE, loops, variants
from gpgc_lab.tables import Table

N_FEATURES = 128
MEAN_DEGREE = 10
N_LABELS = 200
N_CLASSES = 5
SAME_CLASS = 0.7
"""Share of the edges that join nodes of one class on purpose."""

JOBS = {
    "big, means": {"model": "big", "variances": False},
    "big, means and variances": {"model": "big", "variances": True},
    "broad, means": {"model": "broad", "variances": False},
}
SHORT_JOB = "big, means"
LONG_FROM = 250_000
"""Nodes from which the longer jobs are timed once."""

LINEAR_FROM = 125_000
"""Nodes from which growth is judged; smaller graphs fit in caches."""

ROWS = 4096
"""Rows of the reference product that are computed at once: fast, and less memory than the job."""


def sizes(quick: bool, huge: bool) -> list[int]:
    """Return the numbers of nodes to measure."""
    if quick:
        return [15_625, 31_250, 62_500]
    return [62_500 * 2**power for power in (*range(5), *((6,) if huge else ()))]


def growth_tables(n_nodes: Sequence[int], repeats: int) -> list[Table]:
    """Return seconds and memory for each job and size, and the exponents of growth."""
    table = Table(
        "growth",
        "Fit and predict as graphs grow",
        [
            "nodes",
            "job",
            "seconds",
            "over its product",
            "over half the nodes",
            "peak MB",
            "peak over features",
            "accuracy, per cent",
        ],
        notes=[
            f"Contextual stochastic block models: {N_FEATURES} float32 features, mean degree "
            f"{MEAN_DEGREE}, {N_LABELS} labels; fixed noise. The product is a float32 GEMM, (N × "
            f"{N_FEATURES}) by ({N_FEATURES} × columns), in tiles: for big the columns are the "
            f"neighbours of the labelled nodes, for broad {Broad.n_landmarks} landmarks, "
            f"three times. Each row in a process of its own, least seconds of {repeats} turns (of "
            f"one, where it takes long: variances and broad from {LONG_FROM:,} nodes); MB at the "
            "peak over those after the imports, the graph and its features included. To reach for "
            f"the means of big: at most 2.5 over its product and, from {LINEAR_FROM:,} nodes, "
            "2.2 over half the nodes; at most 3 times the features.",
            NOTE,
        ],
    )
    ways = [
        (job, settings, suffix, is_compiled)
        for job, settings in JOBS.items()
        for suffix, is_compiled in variants(min(n_nodes)).items()
    ]
    for job, settings, suffix, is_compiled in ways:
        seconds: dict[int, float] = {}
        for n in n_nodes:
            turns = 1 if n >= LONG_FROM and job != SHORT_JOB else repeats
            order = {"n_nodes": n, "repeats": turns, "is_compiled": is_compiled, **settings}
            answer = in_own_process("gpgc_lab.speed.growth:run", order)
            seconds[n] = answer["seconds"]
            half = seconds[n] / seconds[n // 2] if n // 2 in seconds else None
            size = n * N_FEATURES * 4
            table.rows.append(
                [
                    n,
                    job + suffix,
                    seconds[n],
                    seconds[n] / answer["product"],
                    half,
                    answer["peak"] / 1e6,
                    answer["peak"] / size,
                    100 * answer["accuracy"],
                ]
            )
    return [table, _exponents(table)]


def run(
    n_nodes: int, model: str, variances: bool, is_compiled: bool, repeats: int
) -> dict[str, Any]:
    """Do one job on one graph: seconds, those of its product, accuracy."""
    adjacency, features, labels = block_model(n_nodes, seed=0)
    known = np.full(n_nodes, -1)
    labelled = np.random.default_rng(1).choice(n_nodes, min(N_LABELS, n_nodes // 2), replace=False)
    known[labelled] = labels[labelled]
    reached = np.unique(adjacency[labelled].indices)
    columns, times = len(np.union1d(reached, labelled)), 1
    if model == "broad":
        columns, times = Broad.n_landmarks, len(TELEPORTS)
    right = np.zeros((N_FEATURES, columns), dtype=np.float32)
    right += features[0, :, None]
    forget_peak()
    right_answers: list[float] = []

    def job() -> None:
        estimator = GPGCClassifier(model, noise_variance=0.1, class_prior="labels", dtype="float32")
        estimator.fit(features, known, adjacency=adjacency)
        if variances:
            estimator.predict_latent(return_std=True)
        right_answers.append(float(np.mean(estimator.predict() == labels)))

    def product() -> None:
        out = np.empty((ROWS, columns), dtype=np.float32)
        for _ in range(times):
            for start in range(0, n_nodes, ROWS):
                part = features[start : start + ROWS]
                np.matmul(part, right, out=out[: len(part)])

    with loops(is_compiled):
        seconds, reference = fastest([job, product], repeats)
    return {"seconds": seconds, "product": reference, "accuracy": right_answers[-1]}


def block_model(
    n_nodes: int, seed: int, n_features: int = N_FEATURES
) -> tuple[sp.csr_array, Any, Any]:
    """Draw a contextual stochastic block model, in time and memory linear in its size.

    Each edge joins a random node with one of its own class, or with any node. Features are the
    mean of the class with noise.

    Returns
    -------
    adjacency : csr_array of shape (N, N)
    features : float32 array of shape (N, F)
    labels : int array of shape (N,)
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(N_CLASSES, size=n_nodes)
    by_class = np.argsort(labels, kind="stable").astype(np.int32)
    counts = np.bincount(labels, minlength=N_CLASSES)
    first = np.cumsum(counts) - counts
    n_edges = n_nodes * MEAN_DEGREE // 2
    source = rng.integers(n_nodes, size=n_edges, dtype=np.int32)
    own = labels[source]
    inside = by_class[first[own] + (rng.random(n_edges) * counts[own]).astype(np.int64)]
    anywhere = rng.integers(n_nodes, size=n_edges, dtype=np.int32)
    target = np.where(rng.random(n_edges) < SAME_CLASS, inside, anywhere)
    proper = source != target
    source, target = source[proper], target[proper]
    ends = (np.concatenate([source, target]), np.concatenate([target, source]))
    weights = np.ones(len(ends[0]), dtype=np.float32)
    adjacency = sp.csr_array((weights, ends), shape=(n_nodes, n_nodes))
    adjacency.data[:] = 1.0
    features = rng.standard_normal((n_nodes, n_features), dtype=np.float32)
    means = rng.standard_normal((N_CLASSES, n_features), dtype=np.float32) / 4
    for start in range(0, n_nodes, 2**16):
        rows = slice(start, start + 2**16)
        features[rows] += means[labels[rows]]
    return adjacency, features, labels


def _exponents(table: Table) -> Table:
    """Return b of seconds ~ N^b and of memory ~ N^b for each job, by least squares."""
    exponents = Table(
        "growth_exponents",
        "Exponents of growth: 1 is linear",
        ["job", "from nodes", "to nodes", "seconds", "peak memory"],
    )
    for job in dict.fromkeys(row[1] for row in table.rows):
        rows = [row for row in table.rows if row[1] == job]
        rows = [row for row in rows if row[0] >= LINEAR_FROM] or rows
        if len(rows) > 1:
            logarithms = np.log([[row[0], row[2], row[5]] for row in rows])
            slopes = [float(np.polyfit(logarithms[:, 0], logarithms[:, k], 1)[0]) for k in (1, 2)]
            exponents.rows.append([job, rows[0][0], rows[-1][0], *slopes])
    return exponents


def draw_growth(table: Table, folder: Path) -> list[Path]:
    """Draw seconds and peak memory over the number of nodes."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2))
    nodes = sorted({row[0] for row in table.rows})
    sides = (
        (2, "seconds", "Labels for all nodes: time"),
        (5, "peak memory in MB", "Memory"),
    )
    for axis, (column, unit, title) in zip(axes, sides, strict=True):
        for job in dict.fromkeys(row[1] for row in table.rows):
            points = [(row[0], row[column]) for row in table.rows if row[1] == job]
            place, line = _look(job)
            axis.loglog(
                *zip(*points, strict=True),
                marker=MARKERS[place],
                color=PALETTE[place],
                linestyle=line,
                label=job,
            )
        if column == 5:
            size = [n * N_FEATURES * 4 / 1e6 for n in nodes]
            axis.loglog(nodes, size, color="0.5", linestyle=":", label="the features themselves")
        else:
            least = min(row[column] for row in table.rows)
            linear = [least / 2 * n / nodes[0] for n in nodes]
            axis.loglog(nodes, linear, color="0.5", linestyle=":", label="slope of linear growth")
        axis.set_xticks(nodes, [f"{n:,}" for n in nodes], rotation=30, ha="right")
        axis.minorticks_off()
        axis.set(title=title, xlabel="nodes", ylabel=unit)
        axis.grid(which="major", color="0.9")
    lines = {
        label: line
        for axis in axes
        for line, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        lines.values(), lines.keys(), loc="lower center", ncols=4, frameon=False, fontsize=8
    )
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    return save_figure(figure, folder, "growth")


def _look(job: str) -> tuple[int, str]:
    """Return the place of a job among all, which gives its colour and mark, and its line."""
    plain = job.removesuffix(COMPILED)
    return list(JOBS).index(plain), "-" if plain == job else "--"
