"""What is said about a node does not depend on which other nodes are asked about with it."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.models import Broad

N_NEW = 500
WITHOUT_AVX512 = {
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F,AVX512CD,AVX512_SKX,AVX512_CLX,AVX512_CNL,AVX512_ICL",
}


def fitted(model, kind):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(600, 12)) + (np.arange(600) % 2)[:, None]
    new = rng.normal(size=(N_NEW, 12)) + (np.arange(N_NEW) % 2)[:, None]
    y = np.where(np.arange(600) < 40, np.arange(600) % 2, -1)
    links = sp.random_array((N_NEW, 600), density=0.01, rng=rng, format="csr")
    estimator = GPGCClassifier(model)
    if kind == "neighbors":
        return estimator.fit(features, y), lambda part: {"X": new[part]}
    graph = sp.random_array((600, 600), density=0.01, rng=rng)
    if kind == "no features":
        return estimator.fit(None, y, adjacency=graph), lambda part: {"adjacency": links[part]}
    sparse = sp.csr_array(np.where(np.abs(features) > 1.5, features, 0.0))
    estimator.fit(sparse, y, adjacency=graph)
    added = sp.csr_array(np.where(np.abs(new) > 1.5, new, 0.0))
    return estimator, lambda part: {"X": added[part], "adjacency": links[part]}


def check_joining(model, kind):
    estimator, chosen = fitted(model, kind)
    whole = estimator.predict_proba(**chosen(slice(None)))
    mean, std, cov = estimator.predict_latent(
        return_std=True, return_cov=True, **chosen(slice(None))
    )
    for part in (slice(3, 4), slice(0, 7), slice(100, 250)):
        asked = chosen(part)
        np.testing.assert_allclose(estimator.predict_proba(**asked), whole[part], rtol=0, atol=1e-8)
        few = estimator.predict_latent(return_std=True, return_cov=True, **asked)
        for found, expected in zip(few, (mean[part], std[part], cov[part, part]), strict=True):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("kind", ["neighbors", "no features", "sparse features"])
@pytest.mark.parametrize("model", ["small", "big", "broad"])
def test_joining_nodes(model, kind):
    check_joining(model, kind)


@pytest.mark.parametrize("model", ["big", Broad(exact_nodes=100, n_landmarks=50)])
def test_joining_nodes_of_a_graph_with_landmarks_and_compiled_loops(model, monkeypatch):
    monkeypatch.setattr("gpgc.compute.primitives.LARGE", 100)
    check_joining(model, "neighbors")


def test_joining_nodes_in_regression():
    rng = np.random.default_rng(0)
    features, new = rng.normal(size=(200, 6)), rng.normal(size=(60, 6))
    estimator = GPGCRegressor().fit(features, np.where(np.arange(200) < 50, features[:, 0], np.nan))
    whole = estimator.predict(new)
    each = np.concatenate([estimator.predict(new[node : node + 1]) for node in range(60)])
    np.testing.assert_allclose(each, whole, rtol=0, atol=1e-8)


def test_on_a_processor_without_avx512():
    """The same arithmetic as on a processor that has AVX2 and no more, as far as can be told."""
    code = (
        "from tests.estimators.test_subset_invariance import check_joining\n"
        "for model in ('small', 'big', 'broad'): check_joining(model, 'neighbors')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | WITHOUT_AVX512,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode < 0:
        pytest.skip("the BLAS of this NumPy crashes when it is told to be another processor")
    assert done.returncode == 0, done.stderr
