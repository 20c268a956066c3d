"""Machine code gives what NumPy and SciPy give."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc import GPGCClassifier, GPGCWarning, compute
from gpgc.compute import Context, primitives
from gpgc.kernels.rows import propagated_rows

pytest.importorskip("numba", reason="compiled loops need the extra fast")

from gpgc.compute import loops

FLOAT32 = 3e-7


@pytest.fixture
def every_size(monkeypatch):
    monkeypatch.setattr(primitives, "LARGE", 1)


def sparse(rng, shape, density=0.3):
    return sp.random_array(shape, density=density, rng=rng, format="csr", dtype=np.float32)


def test_relu_of_correlations_against_the_formula_in_float64():
    values = np.linspace(-1, 1, 100_001)
    found = values.astype(np.float32)
    loops.relu_correlation(found)
    expected = primitives.NUMPY.relu_correlation(values.astype(np.float32).astype(np.float64))
    np.testing.assert_allclose(found, expected, rtol=0, atol=FLOAT32)


def test_relu_at_the_ends_beyond_them_and_of_what_is_no_number():
    above = np.nextafter(np.float32(1), np.float32(2))
    found = np.array([1, -1, above, -above, np.nan], dtype=np.float32)
    loops.relu_correlation(found)
    np.testing.assert_allclose(found[:4], [1, 0, above, 0], rtol=0, atol=1e-9)
    assert np.isnan(found[4])


@pytest.mark.parametrize("index", [slice(2, 9), np.array([11, 0, 5])], ids=["slice", "rows"])
def test_products_of_some_rows(index):
    rng = np.random.default_rng(0)
    left, right = sparse(rng, (12, 20), 0.5), sparse(rng, (20, 7))
    expected = left[index] @ right.toarray()
    for other in (right, right.toarray()):
        found = primitives.CompiledPrimitives(loops).rows_times(left, index, other)
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_numba_that_cannot_be_used_is_left_out_with_a_warning(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "gpgc.compute.loops")
    monkeypatch.delattr(compute, "loops")
    monkeypatch.setattr(primitives, "find_spec", lambda name: object())
    with pytest.warns(GPGCWarning, match="numba is installed but cannot be used"):
        assert primitives._compiled.__wrapped__() is None


def test_machine_code_that_cannot_be_kept_is_compiled_anew(monkeypatch):
    kept = []

    def fussy(cache=False, **options):
        kept.append(cache)
        if cache:
            raise RuntimeError("no locator available")
        return lambda function: function

    monkeypatch.setattr(loops, "njit", fussy)
    assert loops._compile(len) is len
    assert kept == [True, False]


def test_rows_are_scaled_and_zeros_stay():
    block = np.array([[3, 4], [0, 0]], dtype=np.float32)
    rows, lengths = primitives.CompiledPrimitives(loops).scale_rows(block.copy())
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0]], rtol=1e-6)
    assert lengths.tolist() == [5, 0]


def graph_with_isolated_and_empty_nodes(rng):
    adjacency = sparse(rng, (60, 60), 0.1)
    adjacency = (adjacency + adjacency.T).tolil()
    adjacency[:, 7] = adjacency[7] = 0
    features = sparse(rng, (60, 30), 0.2).tolil()
    features[[7, 9]] = 0
    y = np.full(60, -1)
    y[:12] = np.arange(12) % 3
    return adjacency.tocsr(), features.tocsr(), y


@pytest.mark.parametrize("model", ["small", "big", "broad"])
@pytest.mark.parametrize("is_sparse", [True, False], ids=["sparse", "dense"])
def test_estimators_answer_the_same(model, is_sparse, every_size, monkeypatch):
    adjacency, features, y = graph_with_isolated_and_empty_nodes(np.random.default_rng(1))
    given = features if is_sparse else features.toarray()
    answers = []
    for code in (primitives._compiled(), None):
        monkeypatch.setattr(primitives, "_compiled", lambda code=code: code)
        fitted = GPGCClassifier(model, noise_variance=0.1, dtype="float32")
        answers.append(fitted.fit(given, y, adjacency=adjacency).predict_latent(return_std=True))
    for found, expected in zip(*answers, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=2e-5)


def test_sparse_features_are_multiplied_first_and_products_are_kept(every_size):
    adjacency, features, _ = graph_with_isolated_and_empty_nodes(np.random.default_rng(2))
    features.data[:] = 1
    rows = propagated_rows(
        sp.csr_array(adjacency + sp.eye_array(60)),
        features,
        Context.of(np.float32),
    )
    cols = np.array([3, 7, 50])
    columns = rows.cosines(cols, rows.context)
    kept = rows._kept[1]
    rows.cosines(cols, rows.context)
    assert rows._kept[1] is kept
    directions, all_lengths = rows.stored().take(None)
    np.testing.assert_allclose(columns(None)[0], directions @ directions[cols].T, atol=1e-5)
    np.testing.assert_allclose(columns.std, all_lengths[cols], rtol=1e-5)
    assert np.abs(columns(np.array([7]))[0]).max() == pytest.approx(0, abs=1e-6)


def test_products_that_do_not_fit_are_computed_in_tiles(every_size):
    adjacency, features, y = graph_with_isolated_and_empty_nodes(np.random.default_rng(3))
    answers = [
        GPGCClassifier("big", noise_variance=0.1, dtype="float32", memory_limit=limit)
        .fit(features, y, adjacency=adjacency)
        .predict_latent()
        for limit in (None, 200_000)
    ]
    np.testing.assert_allclose(answers[0], answers[1], rtol=1e-4, atol=1e-6)
