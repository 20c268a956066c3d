"""No process, client and scheduler included, ever holds all rows of X, by the view of the graph.

The client's process is the scheduler's too. Where labels take the view by neighbors, a worker that
has more than its share of blocks can still hold more than X (docs/dask.md, limits).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip(
    "distributed", reason="gpgc.dask needs the extra dask: pip install 'gpgc[dask]'"
)

import dask.array as da
import dask.dataframe as dd

from gpgc.dask import DaskGPGCClassifier
from tests.dask.conftest import WORKERS_WITHIN

N_NODES, N_FEATURES, N_BLOCKS, N_WORKERS = 640_000, 64, 8, 6
SIZE = N_NODES // N_BLOCKS

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the system does not tell peak memory"
)


def memory(name):
    """Return a line of this process's status in bytes: VmRSS now, VmHWM at the peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def begin():
    """Import what a fit imports, forget the peak so far, and return what is held now."""
    import gpgc.dask.files  # noqa: F401
    from gpgc.compute.primitives import primitives_for

    rows = np.ones((2, 2), dtype=np.float32)
    loops = primitives_for(N_NODES, rows.dtype)
    loops.relu_correlation(loops.scale_rows(rows)[0])
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def peak():
    return memory("VmHWM")


def make_block(block_info):
    """Make rows where they are needed; they exist nowhere else."""
    start = block_info[None]["array-location"][0][0]
    rng = np.random.default_rng(start)
    return rng.standard_normal(block_info[None]["chunk-shape"]) + start % 3


def make_edges(number):
    import pandas as pd

    source = np.arange(number * SIZE, (number + 1) * SIZE)
    return pd.DataFrame({"source": source, "target": np.minimum(source + 7, N_NODES - 1)})


@pytest.mark.slow
def test_no_process_ever_holds_all_rows(cluster, small_model, monkeypatch):
    from distributed import Client

    monkeypatch.setattr("gpgc.dask.describe.COLUMN_BYTES", 2**24)
    X = da.map_blocks(make_block, chunks=((SIZE,) * N_BLOCKS, (N_FEATURES,)), dtype=np.float64)
    edges = dd.from_map(make_edges, range(N_BLOCKS))
    y = np.full(N_NODES, -1)
    y[:: N_NODES // 40] = np.arange(40) % 2
    cluster.scale(N_WORKERS)
    with Client(cluster) as client:
        client.wait_for_workers(N_WORKERS, timeout=WORKERS_WITHIN)
        held, own = client.run(begin), begin()
        model = DaskGPGCClassifier(small_model, class_prior="labels", client=client)
        labels = model.fit(X, y, edges).predict().compute()
        grown = {worker: size - held[worker] for worker, size in client.run(peak).items()}
        here = peak() - own
    cluster.scale(2)
    assert len(labels) == N_NODES
    assert max(grown.values()) < X.nbytes, (grown, X.nbytes)
    assert here < X.nbytes / 2, here
