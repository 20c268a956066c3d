"""Rows of features answer threads that ask for different columns at once."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc.compute import Context
from gpgc.kernels.rows import StoredRows, propagated_rows


@pytest.fixture
def restless_threads():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("is_sparse", [True, False])
def test_what_is_kept_for_one_thread_is_not_given_to_another(is_sparse, restless_threads):
    rng = np.random.default_rng(0)
    matrix = sp.csr_array(sp.random_array((60, 60), density=0.1, rng=rng) + sp.eye_array(60))
    features = sp.random_array((60, 40), density=0.01, rng=rng, format="csr")
    if not is_sparse:
        features = rng.standard_normal((60, 40))
    rows = propagated_rows(matrix, features, Context())
    directions, _ = rows.stored().take(None)
    directions = directions.toarray() if sp.issparse(directions) else directions
    columns = [np.arange(first, 2 * first + 6) for first in range(8)]

    def largest_error(turn):
        cols = columns[turn % len(columns)]
        found, _ = rows.cosines(cols, Context.of(n_jobs=1))(None)
        return np.abs(found - directions @ directions[cols].T).max()

    with ThreadPoolExecutor(4) as pool:
        assert max(pool.map(largest_error, range(400))) < 1e-12


def test_rows_that_are_asked_for_in_groups_are_computed_once():
    rng = np.random.default_rng(0)
    rows = propagated_rows(sp.csr_array(np.eye(6)), rng.normal(size=(6, 3)), Context())
    nodes = np.array([4, 1])
    assert rows.stored() is rows.stored()
    for found, expected in zip(rows.gathered(nodes), rows.take(nodes), strict=True):
        np.testing.assert_allclose(found, expected)


def test_directions_without_a_second_array():
    features = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    features[2] = 0
    found, expected = (
        StoredRows.directions_of(features, np.dtype(np.float32)),
        StoredRows.of(features, np.dtype(np.float32)),
    )
    for index in (None, np.array([4, 2]), slice(1, 3)):
        directions, lengths = found.take(index)
        np.testing.assert_allclose(directions, expected.take(index)[0], atol=1e-6)
        np.testing.assert_array_equal(lengths, expected.take(index)[1] > 0)
    np.testing.assert_array_equal(found.lengths, [1, 1, 0, 1, 1, 1])
    assert found.directions is features
