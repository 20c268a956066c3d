"""The default model in blocks on a cluster of this machine: against one process, and large."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gpgc.errors import InputError
from gpgc_lab.speed.cluster_same import same_table
from gpgc_lab.speed.measure import in_own_process
from gpgc_lab.tables import Table

N_FEATURES = 64
MEAN_DEGREE = 10
N_CLASSES = 5
N_LABELS = 200
REACH = 2000
"""How far apart in the order of ids the ends of most links are at most."""

FAR = 1e-7
"""Fraction of links between any two nodes."""

BLOCK = 250_000
"""Nodes of a block, at most."""

FEWEST_BLOCKS = 4
"""Blocks of a graph that is smaller than so many."""

TOTAL_MEMORY = 6e9
OWN_MEMORY = 1e9
"""Bytes of the limit that are left to this process, which holds client and scheduler."""

JOBS = ("one process, GPGCClassifier", "1 worker of 2 threads, DaskGPGCClassifier")


SECTIONS = ("same", "local", "large", "costs")
"""What is measured, table by table."""


def cluster_tables(quick: bool, only: str | None, data_dir: Path | None) -> list[Table]:
    """Return answers, seconds and memory in blocks against one process, and of a large graph."""
    chosen = SECTIONS if only is None else tuple(only.split(","))
    if wrong := set(chosen) - set(SECTIONS):
        raise InputError(f"--only must name some of {', '.join(SECTIONS)}, got {sorted(wrong)[0]}")
    small, large = (20_000, 100_000) if quick else (1_000_000, 10_000_000)
    tables: dict[str, Callable[[], Table]] = {
        "same": lambda: same_table(data_dir, quick),
        "local": lambda: _beside_table(small),
        "large": lambda: _large_table(small, large),
        "costs": cost_table,
    }
    return [tables[name]() for name in SECTIONS if name in chosen]


def _beside_table(small: int) -> Table:
    beside = Table(
        "dask_local",
        f"{small:,} nodes, {N_FEATURES} features: in blocks, and in one process",
        ["job", "seconds", "over one process", "processor seconds", "over one process", "peak MB"],
        notes=[
            _about(),
            "Fit, with all choices made, and labels of all nodes, read from the same Parquet "
            "files; one process after the other. Processor seconds count all processes, and "
            "compare where others use the machine too. To reach: at most 1.4 times one process.",
        ],
    )
    with tempfile.TemporaryDirectory() as folder:
        write_graph(Path(folder), small)
        found = [
            in_own_process(f"gpgc_lab.speed.cluster:{run}", {"folder": folder, "n_nodes": small})
            for run in ("run_local", "run_blocks")
        ]
    first = found[0]
    for job, answer in zip(JOBS, found, strict=True):
        beside.rows.append(
            [
                job,
                answer["seconds"],
                answer["seconds"] / first["seconds"],
                answer["processor"],
                answer["processor"] / first["processor"],
                answer["all_processes"] / 1e6,
            ]
        )
    same = np.mean(np.array(found[0]["sample"]) == np.array(found[1]["sample"]))
    beside.notes.append(f"Labels that are the same on a sample of nodes: {100 * same:.2f} %.")
    return beside


def _large_table(small: int, large: int) -> Table:
    table = Table(
        "dask_large",
        f"{large:,} nodes, {N_FEATURES} features, {TOTAL_MEMORY / 1e9:g} GB in all",
        [
            "nodes",
            "blocks",
            "seconds",
            "processor seconds",
            "over",
            "peak MB",
            "accuracy, per cent",
        ],
        notes=[
            _about(),
            f"One worker of 2 threads with a limit of {(TOTAL_MEMORY - OWN_MEMORY) / 1e9:g} GB, "
            "what is beyond goes to disk; the peak is that of the sum of the resident memory of "
            "client, scheduler and worker, looked at every half second. Over: the processor "
            "seconds of the first row; to reach: at most 12, and 6 GB.",
        ],
    )
    first = None
    for n_nodes in (small, large):
        with tempfile.TemporaryDirectory() as folder:
            write_graph(Path(folder), n_nodes)
            order = {"folder": folder, "n_nodes": n_nodes, "limit": TOTAL_MEMORY - OWN_MEMORY}
            answer = in_own_process("gpgc_lab.speed.cluster:run_blocks", order)
        first = first or answer["processor"]
        table.rows.append(
            [
                n_nodes,
                answer["blocks"],
                answer["seconds"],
                answer["processor"],
                answer["processor"] / first,
                answer["all_processes"] / 1e6,
                100 * answer["accuracy"],
            ]
        )
    return table


def cost_table() -> Table:
    """Return what a step of the diffusion moves, computed: near links, and a random graph."""
    table = Table(
        "dask_costs",
        "What diffusion moves and holds, computed",
        ["nodes", "links", "blocks", "tasks", "GB moved", "GB held at once", "GB on disk"],
        notes=[
            f"{N_FEATURES} float32 features, mean degree {MEAN_DEGREE}, blocks of {BLOCK:,} "
            "nodes, each on a worker of its own; 7 steps. Near: ends of links within "
            f"{REACH:,} ids, so that a block needs the last and first {REACH:,} rows of its "
            "neighbours. Random: a block needs every row that one of its links ends at, which "
            "is nearly all of them. Held at once: nine times the columns that diffuse together, "
            "and the links. On disk: the diffused features of three reaches."
        ],
    )
    for n_nodes in (10**6, 10**7, 10**9):
        for kind in ("near", "random"):
            table.rows.append([n_nodes, kind, *diffusion_costs(n_nodes, kind)])
    return table


def diffusion_costs(n_nodes: int, kind: str) -> list[float]:
    """Return blocks, tasks, GB moved, GB held at once and GB kept of the diffusion."""
    from gpgc.dask.describe import column_slices
    from gpgc.models.graph_view import STEPS, TELEPORTS

    blocks = -(-n_nodes // BLOCK)
    slices = column_slices(n_nodes, N_FEATURES, 4)
    width = -(-N_FEATURES // len(slices))
    if kind == "near":
        pairs, rows = 2 * (blocks - 1), 2 * REACH * (blocks - 1)
    else:
        # A row of another block is needed with probability 1 − exp(−links into it from a block).
        reached = n_nodes * (1 - np.exp(-MEAN_DEGREE * BLOCK / n_nodes))
        pairs, rows = blocks * (blocks - 1), blocks * reached
    tasks = len(slices) * STEPS * (blocks + pairs)
    moved = STEPS * rows * N_FEATURES * 4
    held = 9 * n_nodes * width * 4 + n_nodes * (MEAN_DEGREE + 1) * 8
    kept = len(TELEPORTS) * n_nodes * N_FEATURES * 4
    return [blocks, tasks, moved / 1e9, held / 1e9, kept / 1e9]


def write_graph(folder: Path, n_nodes: int) -> None:
    """Write a graph with features and labels in blocks, whose links are mostly near."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"x{column}" for column in range(N_FEATURES)]
    means = np.random.default_rng(0).standard_normal((N_CLASSES, N_FEATURES)) / 4
    for kind in ("features", "edges"):
        (folder / kind).mkdir()
    size = min(BLOCK, -(-n_nodes // FEWEST_BLOCKS))
    for number, start in enumerate(range(0, n_nodes, size)):
        rng = np.random.default_rng([1, number])
        nodes = np.arange(start, min(start + size, n_nodes))
        rows = rng.standard_normal((len(nodes), N_FEATURES), dtype=np.float32)
        rows += means[labels_of(nodes)].astype(np.float32)
        columns = {name: rows[:, place] for place, name in enumerate(names)}
        file = f"part-{number:05}.parquet"
        pq.write_table(pa.table({"id": nodes, **columns}), folder / "features" / file)
        source = np.repeat(nodes, MEAN_DEGREE // 2)
        target = source + rng.integers(-REACH, REACH + 1, len(source))
        target = np.clip(target, 0, n_nodes - 1)
        far = rng.random(len(source)) < FAR
        target[far] = rng.integers(n_nodes, size=int(far.sum()))
        alike = labels_of(source) == labels_of(target)
        kept = alike | (rng.random(len(source)) < 0.5)
        ends = {"source": source[kept], "target": target[kept]}
        pq.write_table(pa.table(ends), folder / "edges" / file)


def labels_of(nodes: Any) -> Any:
    """Return the true classes of nodes: runs of 100 ids, in turn."""
    return nodes // 100 % N_CLASSES


def known_labels(n_nodes: int) -> Any:
    """Return the given labels, −1 elsewhere."""
    y = np.full(n_nodes, -1)
    chosen = np.random.default_rng(2).choice(n_nodes, N_LABELS, replace=False)
    y[chosen] = labels_of(chosen)
    return y


def run_local(folder: str, n_nodes: int) -> dict[str, Any]:
    """Read all, fit and predict in one process."""
    import pyarrow.parquet as pq

    from gpgc import GPGCClassifier

    with Watch() as watch:
        table = pq.read_table(Path(folder) / "features")
        X = np.empty((n_nodes, N_FEATURES), dtype=np.float32)
        for column in range(N_FEATURES):
            X[:, column] = table.column(f"x{column}").to_numpy()
        del table
        edges = pq.read_table(Path(folder) / "edges")
        ends = (edges.column("source").to_numpy(), edges.column("target").to_numpy())
        model = GPGCClassifier().fit(X, known_labels(n_nodes), adjacency=ends)
        labels = model.predict()
    return {**watch.answer(), **_judged(labels)}


def run_blocks(folder: str, n_nodes: int, limit: float | None = None) -> dict[str, Any]:
    """Fit and predict in blocks, with one worker of two threads."""
    from distributed import Client

    from gpgc.dask import DaskGPGCClassifier
    from gpgc.dask.cluster import local_cluster
    from gpgc.dask.parquet import parquet_features

    with (
        local_cluster(1, 2, None if limit is None else int(limit), folder) as cluster,
        Client(cluster) as client,
    ):
        client.run(_warm)
        with Watch(list(client.run(os.getpid).values())) as watch:
            X = parquet_features(Path(folder) / "features")
            model = DaskGPGCClassifier(client=client)
            model.fit(X, known_labels(n_nodes), Path(folder) / "edges")
            labels = model.predict().compute()
        return {**watch.answer(), **_judged(labels), "blocks": X.numblocks[0]}


def _warm() -> None:
    """Import what a worker needs, which is no part of the job."""
    import gpgc.dask.files  # noqa: F401


def _judged(labels: Any) -> dict[str, Any]:
    sample = np.linspace(0, len(labels) - 1, 10_000).astype(int)
    right = float(np.mean(labels == labels_of(np.arange(len(labels)))))
    return {"accuracy": right, "sample": np.asarray(labels)[sample].tolist()}


def _about() -> str:
    return (
        f"Links within {REACH:,} ids, one in {1 / FAR:,.0f} anywhere, mean degree about "
        f"{0.6 * MEAN_DEGREE:g}; float32; {N_LABELS} labels, {N_CLASSES} classes."
    )


class Watch:
    """Seconds, processor seconds and peak resident memory of this process and some others."""

    def __init__(self, others: list[int] | None = None) -> None:
        self._pids = [os.getpid(), *(others or [])]
        self._peak, self._stop = 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._before = self._processor()
        self._start = time.perf_counter()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._seconds = time.perf_counter() - self._start
        self._used = self._processor() - self._before
        self._stop.set()
        self._thread.join()

    def answer(self) -> dict[str, float]:
        """Return what was seen."""
        return {
            "seconds": self._seconds,
            "processor": self._used,
            "all_processes": float(self._peak),
        }

    def _look(self) -> None:
        while not self._stop.wait(0.5):
            self._peak = max(self._peak, sum(_resident(pid) for pid in self._pids))

    def _processor(self) -> float:
        return sum(_processor(pid) for pid in self._pids)


def _resident(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _processor(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
