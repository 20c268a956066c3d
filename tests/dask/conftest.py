"""A real cluster of worker processes on the loopback interface, and a graph in blocks."""

from __future__ import annotations

import os
import signal
import threading
from typing import NamedTuple

import numpy as np
import pytest

from gpgc.models.broad import Broad

WORKERS_WITHIN = 300
"""Seconds within which workers must be there, so that a test fails and does not hang."""

NEEDS_DASK = "gpgc.dask needs the extra dask: pip install 'gpgc[dask]'"


class Problem(NamedTuple):
    """A graph whose links are mostly near in the order of ids, with few labels."""

    X: np.ndarray
    y: np.ndarray
    source: np.ndarray
    target: np.ndarray
    given: np.ndarray

    def edges(self, npartitions=3):
        import dask.dataframe as dd
        import pandas as pd

        frame = pd.DataFrame({"source": self.source, "target": self.target})
        return dd.from_pandas(frame, npartitions=npartitions, sort=False)

    def blocks(self, n_blocks=3):
        import dask.array as da

        return da.from_array(self.X, chunks=(-(-len(self.X) // n_blocks), self.X.shape[1]))


def make_problem(n_nodes=3000, n_features=8, n_classes=3, n_labels=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_nodes) // 30 % n_classes
    source = np.repeat(np.arange(n_nodes), 3)
    target = np.clip(source + rng.integers(-40, 41, len(source)), 0, n_nodes - 1)
    target[:3] = n_nodes - 1  # links across all blocks
    kept = (y[source] == y[target]) | (rng.random(len(source)) < 0.1)
    means = 0.7 * rng.standard_normal((n_classes, n_features))
    X = (rng.standard_normal((n_nodes, n_features)) + means[y]).astype(np.float32)
    given = np.full(n_nodes, -1)
    labelled = rng.choice(n_nodes, n_labels, replace=False)
    given[labelled] = y[labelled]
    return Problem(X, y, source[kept], target[kept], given)


@pytest.fixture(scope="session")
def problem():
    return make_problem()


@pytest.fixture(scope="session")
def small_model():
    """Return the default model with few landmarks, so that matrices are small."""
    return Broad(exact_nodes=500, n_landmarks=120, one_hot_nodes=500)


@pytest.fixture(scope="session")
def threads():
    """Return a client of two threads of this process: answers do not depend on processes."""
    pytest.importorskip("distributed", reason=NEEDS_DASK)
    from distributed import Client

    settings = {"processes": False, "threads_per_worker": 2, "dashboard_address": None}
    with Client(protocol="tcp", **settings) as connected:
        yield connected


@pytest.fixture(scope="module")
def cluster():
    """Start workers for the tests of one file: those that were scaled or killed serve no other."""
    pytest.importorskip("distributed", reason=NEEDS_DASK)
    from gpgc.dask.cluster import local_cluster

    with local_cluster(2, threads=1) as found:
        yield found


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster) as connected:
        connected.wait_for_workers(2, timeout=WORKERS_WITHIN)
        yield connected


class Killer:
    """Kills the worker that finishes the n-th task of a kind, or of any, at that very moment."""

    def __init__(self, cluster, client, function="", after=2):
        from distributed.diagnostics.plugin import SchedulerPlugin

        pids = client.run(os.getpid)
        killer = self
        self.killed, self.left = [], after
        self.lock = threading.Lock()

        class Plugin(SchedulerPlugin):
            name = "killer"

            def transition(self, key, start, finish, *args, worker=None, **kwargs):
                if finish != "memory" or not str(key).startswith(function) or not worker:
                    return
                with killer.lock:
                    killer.left -= 1
                    if killer.left or worker not in pids:
                        return
                    os.kill(pids[worker], signal.SIGKILL)
                    killer.killed.append(worker)

        self.scheduler = cluster.scheduler
        self.scheduler.add_plugin(Plugin(), name="killer")

    def stop(self):
        self.scheduler.remove_plugin(name="killer")


@pytest.fixture
def kill_after(cluster, client):
    killers = []

    def start(function, after=2):
        killers.append(Killer(cluster, client, function, after))
        return killers[-1]

    yield start
    for killer in killers:
        killer.stop()
    client.wait_for_workers(2, timeout=WORKERS_WITHIN)
