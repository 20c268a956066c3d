"""A cluster without workers is refused after a stated time: nothing waits for ever."""

from __future__ import annotations

import time

import numpy as np
import pytest

pytest.importorskip(
    "distributed", reason="gpgc.dask needs the extra dask: pip install 'gpgc[dask]'"
)

import dask.array as da
from distributed import Client, LocalCluster

from gpgc.dask import DaskGPGCClassifier, DaskGPGCRegressor
from gpgc.dask.cluster import WORKER_SECONDS, Cluster, task
from gpgc.dask.files import write_blocks
from gpgc.errors import InputError
from tests.dask.conftest import make_problem

REFUSED = r"client must be of a cluster with workers, got none for 1 s"


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
    start = time.monotonic()
    with pytest.raises(InputError, match=REFUSED):
        estimator(client=nobody).fit(problem.blocks(2), y, problem.edges(1))
    assert time.monotonic() - start < 20


def test_writing_refuses_a_cluster_without_workers(nobody, tmp_path):
    class Fitted:
        classes_ = np.array([0, 1])

        def predict_proba(self):
            return da.full((4, 2), 0.5, chunks=(2, 2))

        def predict(self):
            return da.zeros(4, dtype=int, chunks=2)

    names = np.array(["a", "b"])
    with pytest.raises(InputError, match=REFUSED):
        write_blocks(tmp_path, Fitted(), np.full(4, -1), names, nobody)


def test_every_wait_has_a_limit(nobody):
    cluster = Cluster(nobody)
    for wait in (cluster.fetch, cluster.finish, lambda tasks: cluster.fetch_one(tasks[0])):
        with pytest.raises(InputError, match=REFUSED):
            wait([task(int, 3)])


def test_workers_that_come_in_time_are_waited_for(nobody, empty_cluster, monkeypatch):
    monkeypatch.setattr("gpgc.dask.cluster.WORKER_SECONDS", 60)
    empty_cluster.scale(1)
    try:
        assert Cluster(nobody).fetch_one(task(int, 3)) == 3
    finally:
        empty_cluster.scale(0)


def test_the_stated_time_is_half_a_minute():
    assert WORKER_SECONDS == 30
