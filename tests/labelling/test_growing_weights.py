"""Growing in weight space is growing in function space."""

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc import GPGCClassifier
from gpgc.graph import Nodes, as_adjacency
from gpgc.labelling import growing
from gpgc.labelling.growing import GrowingPosterior, GrowingWeights
from gpgc.labelling.label_posterior import LabelPosterior
from gpgc.models import Broad, Prior

MODEL = Broad(exact_nodes=10, n_landmarks=8, one_hot_nodes=10)


@pytest.fixture(scope="module")
def nodes():
    rng = np.random.default_rng(0)
    graph = as_adjacency(sp.random_array((90, 90), density=0.04, rng=rng))
    rough = rng.normal(size=(90, 7))
    return Nodes(graph, rough + graph @ rough)  # alike along the links


def check_equal(found, expected):
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-8)
    np.testing.assert_allclose(found.variance, expected.variance, atol=1e-8)
    assert sorted(found.observed) == sorted(expected.observed)
    some = np.arange(0, 90, 9) if found.nodes is None else found.nodes[:5]
    np.testing.assert_allclose(
        found.residual(some, some[:2]), expected.residual(some, some[:2]), atol=1e-8
    )


@pytest.mark.parametrize("at_once", [2, 1000])
@pytest.mark.parametrize("kept", [None, np.arange(5, 90, 3)])
def test_both_grow_alike(nodes, kept, at_once, monkeypatch):
    monkeypatch.setattr(growing, "AT_ONCE", at_once)
    covariance = Prior(MODEL, nodes).covariance()
    found, expected = (
        kind(covariance, 0.05, 2, kept) for kind in (GrowingWeights, GrowingPosterior)
    )
    rng = np.random.default_rng(1)
    many, values = rng.permutation(90)[:60], rng.normal(size=(60, 2))
    for posterior in (found, expected):
        posterior.observe(many, values)
        posterior.observe([], np.zeros((0, 2)))
    check_equal(found, expected)
    branch = found.copy()
    for posterior in (found, expected):
        posterior.remove(many[5:9])
        posterior.remove(many[20:21])
        posterior.widen(3)
        posterior.observe(many[6:7], [[0.0, 0.0, 1.0]])
    check_equal(found, expected)
    others = rng.normal(size=(len(found.observed), 1))
    by_node = dict(zip(found.observed, others, strict=True))
    found.retarget(others)
    expected.retarget([by_node[node] for node in expected.observed])
    check_equal(found, expected)
    untouched = GrowingPosterior(covariance, 0.05, 2, kept)
    untouched.observe(many, values)
    check_equal(branch, untouched)


def test_a_session_with_many_labels_grows_in_weight_space(nodes):
    y = np.where(np.arange(90) < 70, np.arange(90) % 3, -1)
    estimator = GPGCClassifier(MODEL, dtype="float64", noise_variance=0.1)
    estimator.fit(nodes.features, y, adjacency=nodes.adjacency)
    posterior = LabelPosterior(estimator)
    assert isinstance(posterior.growing, GrowingWeights)
    posterior.follow({node: int(y[node]) for node in range(70)}, 3)
    np.testing.assert_allclose(posterior.growing.mean, estimator.predict_latent(), atol=1e-8)
    changed = {node: int(y[node]) for node in range(3, 70)} | {80: 1, 5: 0}
    posterior.follow(changed, 3)
    again = np.full(90, -1)
    again[list(changed)] = list(changed.values())
    fresh = estimator.relabel(again)
    np.testing.assert_allclose(posterior.growing.mean, fresh.predict_latent(), atol=1e-8)
    few = GPGCClassifier(MODEL).fit(nodes.features, np.where(np.arange(90) < 6, y, -1))
    assert isinstance(LabelPosterior(few).growing, GrowingPosterior)
