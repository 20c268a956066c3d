"""Tiles and threads change the time, never the answer."""

import multiprocessing
import os
import threading

import numpy as np
import pytest

import gpgc
from gpgc.compute import Context, Threads, split
from gpgc.graph import as_adjacency, normalize
from gpgc.kernels import Activate, DenseLayer, Features, InnerProduct, Propagate, tangent


def test_every_row_is_visited_once():
    visits = np.zeros(1000, dtype=int)

    def work(part):
        visits[part] += 1
        return visits[part]

    Context.of(n_jobs=3).fill(np.empty(1000), work, row_bytes=2**16)
    assert (visits == 1).all()


@pytest.mark.parametrize("runner", [Threads(1), Threads(2)])
def test_results_come_in_order(runner):
    assert runner.map(lambda x: x**2, range(50)) == [x**2 for x in range(50)]


def test_errors_in_threads_reach_the_caller():
    def fail(_):
        raise RuntimeError("in a thread")

    with pytest.raises(RuntimeError, match="in a thread"):
        Threads(2).map(fail, range(4))


def test_nested_work_stays_in_its_thread():
    threads = set()

    def outer(_):
        Threads(4).map(lambda _: threads.add(threading.get_ident()), range(8))

    Threads(2).map(outer, range(2))
    assert len(threads) <= 2


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_the_number_of_threads_does_not_matter(awkward, n_jobs, monkeypatch):
    graph, features = awkward
    expected = gpgc.covariance(graph, features, depth=3, n_jobs=1)
    monkeypatch.setattr("gpgc.compute.context.TILE_BYTES", 1)
    other = gpgc.covariance(graph, features, depth=3, n_jobs=n_jobs)
    np.testing.assert_allclose(other.block(), expected.block(), atol=1e-12)
    np.testing.assert_allclose(other.diag(), expected.diag(), atol=1e-12)


def sum_in_threads():
    total = []
    Threads(2).map(total.append, range(100))
    return sum(total)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_threads_that_stay_do_not_stop_a_forked_process():
    sum_in_threads()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(sum_in_threads).get(timeout=300) == 4950


def test_a_caller_does_not_wait_for_helpers_that_another_holds():
    started, release = threading.Event(), threading.Event()

    def hold(_):
        started.set()
        release.wait(300)

    holder = threading.Thread(target=Threads(2).map, args=(hold, range(2)))
    holder.start()
    started.wait(300)
    try:
        assert sum_in_threads() == 4950
    finally:
        release.set()
        holder.join()


def test_pieces_hold_all_items_however_small_they_must_be():
    for size in (0, 1, 3, 10):
        assert np.concatenate(split(np.arange(7), size)).tolist() == list(range(7))


def test_products_under_a_memory_limit_below_one_column_are_no_zeros():
    n_nodes, few = 3000, np.array([3, 5])
    path = normalize(as_adjacency((np.arange(n_nodes - 1), np.arange(1, n_nodes))))
    features = np.random.default_rng(0).normal(size=(n_nodes, 3))
    context = Context.of(n_jobs=1, memory_limit=2**17)
    assert context.budget(2**30) < features.itemsize * n_nodes
    deep = Activate(Propagate(path, DenseLayer(Features.of(InnerProduct(), features, context))))
    for covariance in (deep, tangent(deep)):
        expected = covariance.block(None, few) @ np.ones((2, 1))
        np.testing.assert_allclose(covariance.matmul(None, few, np.ones((2, 1))), expected)
