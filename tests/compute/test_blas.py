"""BLAS has as many threads after a fit as before it, however many threads fit at once."""

import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from gpgc import GPGCClassifier
from gpgc.compute import Threads, one_blas_thread, small_matrices
from gpgc.graph import neighbor_graph

BLAS = ThreadpoolController().select(user_api="blas")
"""What NumPy and SciPy compute with; faiss may load another one for itself later."""


def blas_threads():
    return [library["num_threads"] for library in BLAS.info()]


@pytest.fixture
def two_blas_threads():
    with BLAS.limit(limits=2):
        before = blas_threads()
        assert set(before) == {2}
        with one_blas_thread():
            pass  # which leaves the control of OpenBLAS to whoever wants it next
        yield before


def test_callers_that_overlap_leave_blas_as_it_was(two_blas_threads):
    """The second enters before the first leaves, and leaves after it."""
    first, second = small_matrices(2), small_matrices(2)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_threads()) == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == two_blas_threads


def test_threads_that_overlap_leave_blas_as_it_was(two_blas_threads):
    inside = [threading.Event(), threading.Event()]
    go_on = [threading.Event(), threading.Event()]

    def hold(turn):
        def wait(_):
            inside[turn].set()
            go_on[turn].wait(300)

        Threads(n_jobs=1).map(wait, range(1))

    threads = [threading.Thread(target=hold, args=(turn,)) for turn in range(2)]
    for turn, thread in enumerate(threads):
        thread.start()
        assert inside[turn].wait(300)
    for turn, thread in enumerate(threads):
        go_on[turn].set()
        thread.join()
    assert blas_threads() == two_blas_threads


def test_every_thread_can_hold_blas(two_blas_threads):
    """Whoever came first: threadpoolctl lets one thread control OpenBLAS and ignores others."""
    seen = []

    def hold():
        with one_blas_thread():
            seen.append(blas_threads())
        seen.append(blas_threads())

    hold()
    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    hold()
    assert [set(each) for each in seen[::2]] == [{1}] * 3
    assert seen[1::2] == [two_blas_threads] * 3


def test_a_fit_is_the_same_in_every_thread(two_blas_threads):
    """Rounding of float32 differs with the number of BLAS threads."""
    rng = np.random.default_rng(0)
    classes = rng.integers(5, size=700)
    features = rng.normal(size=(5, 30))[classes] + rng.normal(size=(700, 30))
    y = np.where(np.arange(700) < 60, classes, -1)
    found = []

    def fit():
        found.append(GPGCClassifier().fit(features, y).predict_proba())

    fit()
    thread = threading.Thread(target=fit)
    thread.start()
    thread.join()
    np.testing.assert_array_equal(found[0], found[1])


def test_a_search_for_neighbors_does_not_end_the_hold_of_others(two_blas_threads, monkeypatch):
    """It saves the limit before another thread holds BLAS, and restores it while that one does."""
    from sklearn.neighbors import NearestNeighbors

    limited, held, restored, asked = (threading.Event() for _ in range(4))
    search = NearestNeighbors.kneighbors

    def slow_search(self, *arguments, **settings):
        with BLAS.limit(limits=1):
            limited.set()
            assert held.wait(300)
        restored.set()
        assert asked.wait(300)
        return search(self, *arguments, **settings)

    monkeypatch.setattr(NearestNeighbors, "kneighbors", slow_search)
    thread = threading.Thread(target=neighbor_graph, args=(np.eye(9), 2))
    thread.start()
    assert limited.wait(300)
    with one_blas_thread():
        held.set()
        assert restored.wait(300)
        seen = blas_threads()
        asked.set()
    thread.join()
    assert set(seen) == {1}
    assert blas_threads() == two_blas_threads


def test_concurrent_fits_leave_blas_as_it_was(two_blas_threads):
    features = np.random.default_rng(0).normal(size=(60, 4))
    y = np.where(np.arange(60) < 10, np.arange(60) % 2, -1)
    errors = []

    def fit():
        try:
            for _ in range(3):
                GPGCClassifier("big").fit(features, y)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=fit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert blas_threads() == two_blas_threads


def test_ten_thousand_jobs_start_no_more_threads_than_there_are_cores():
    def helpers():
        return sum(thread.name.startswith("gpgc") for thread in threading.enumerate())

    cores = Threads().n_threads
    assert Threads(n_jobs=10_000).n_threads == cores
    seen = []
    for n_jobs in (2, 3, 10_000):
        Threads(n_jobs).map(lambda _: seen.append(helpers()), range(50))
    assert max(seen) <= cores
