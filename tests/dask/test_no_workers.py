"""A cluster without workers is refused after a stated time: nothing waits for ever."""

from __future__ import annotations

import time

import numpy as np
import pytest

pytest.importorskip(
    "distributed", reason="gpgc.dask needs the extra dask: pip install 'gpgc[dask]'"
)

import dask.array as da
from distributed import Client, Event, LocalCluster

from gpgc.dask import DaskGPGCClassifier, DaskGPGCRegressor
from gpgc.dask.cluster import WORKER_SECONDS, Cluster, n_running, task
from gpgc.errors import InputError
from tests.dask.conftest import WORKERS_WITHIN, make_problem

REFUSED = r"client must be of a cluster with workers that are running, got none for 1 s"


@pytest.fixture(scope="module")
def empty_cluster():
    with LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster:
        yield cluster


@pytest.fixture
def nobody(empty_cluster, monkeypatch):
    """A client of a scheduler that has no workers, and a second of patience."""
    monkeypatch.setattr("gpgc.dask.cluster.WORKER_SECONDS", 1)
    with Client(empty_cluster) as client:
        yield client


@pytest.mark.parametrize("estimator", [DaskGPGCClassifier, DaskGPGCRegressor])
@pytest.mark.parametrize("lazy_labels", [False, True])
def test_fit_refuses_a_cluster_without_workers(nobody, estimator, lazy_labels):
    problem = make_problem(n_nodes=200, n_labels=20)
    y = problem.given.astype(float)
    y[y < 0] = np.nan
    y = da.from_array(y, chunks=100) if lazy_labels else y
    with pytest.raises(InputError, match=REFUSED):
        estimator(client=nobody).fit(problem.blocks(2), y, problem.edges(1))


def test_every_wait_has_a_limit(nobody):
    cluster = Cluster(nobody)
    for wait in (cluster.fetch, cluster.finish):
        with pytest.raises(InputError, match=REFUSED):
            wait([task(int, 3)], "waiting")


def test_workers_that_come_in_time_are_waited_for(nobody, empty_cluster, monkeypatch):
    monkeypatch.setattr("gpgc.dask.cluster.WORKER_SECONDS", 300)
    empty_cluster.scale(1)
    try:
        assert Cluster(nobody).fetch([task(int, 3)]) == [3]
    finally:
        empty_cluster.scale(0)


def test_a_worker_without_memory_is_waited_for_no_longer(nobody, empty_cluster):
    def without_memory(dask_worker):
        dask_worker.memory_manager.memory_pause_fraction = 1e-9

    empty_cluster.scale(1)
    try:
        nobody.wait_for_workers(1, timeout=WORKERS_WITHIN)
        nobody.run(without_memory)
        start = time.monotonic()
        while nobody.run_on_scheduler(n_running):
            assert time.monotonic() - start < WORKERS_WITHIN, "the worker still begins tasks"
            time.sleep(0.01)
        with pytest.raises(InputError, match=REFUSED + ".* give them more memory"):
            Cluster(nobody).fetch([task(int, 3)])
    finally:
        empty_cluster.scale(0)


def test_what_is_waited_for_is_said_and_cancelled_by_an_interrupt(
    nobody, empty_cluster, monkeypatch
):
    monkeypatch.setattr("gpgc.dask.cluster.LOOK_SECONDS", 0.05)
    said, cluster = [], Cluster(nobody)

    def announce(step):
        said.append(step)
        raise KeyboardInterrupt

    monkeypatch.setattr("gpgc.dask.cluster.announce", announce)
    empty_cluster.scale(1)
    forever = Event("forever", client=nobody)
    tasks = [task(int, 3), task(wait_for, forever)]
    try:
        with pytest.raises(KeyboardInterrupt):
            cluster.fetch(tasks, "counting")
    finally:
        forever.set()
        empty_cluster.scale(0)
    assert said[0].startswith("counting, 1 of 2 blocks, about ")


def wait_for(event):
    event.wait(timeout=300)


def test_the_stated_time_is_half_a_minute():
    assert WORKER_SECONDS == 30
