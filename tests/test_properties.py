"""Properties on random graphs, isolated and featureless nodes included."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import gpgc
import gpgc.kernels
from gpgc.graph import as_adjacency, normalize
from tests.laws import check_laws

NODES = st.integers(1, 14)


@st.composite
def graphs(draw):
    n = draw(NODES)
    edges = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30))
    weights = draw(
        st.lists(st.floats(0, 10, allow_subnormal=False), min_size=len(edges), max_size=len(edges))
    )
    source = np.array([edge[0] for edge in edges], dtype=int)
    target = np.array([edge[1] for edge in edges], dtype=int)
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    features = rng.normal(size=(n, draw(st.integers(1, 5))))
    features[rng.random(n) < draw(st.sampled_from([0.0, 0.3, 1.0]))] = 0.0
    return n, (source, target, np.array(weights)), features


@settings(max_examples=60)
@given(
    graphs(),
    st.sampled_from(["small", "big", "broad"]),
    st.sampled_from(list(gpgc.kernels.BASE_KERNELS)),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.7]),
)
def test_laws_hold_on_any_graph(graph, model, kernel, depth, bias):
    n, edges, features = graph
    check_laws(
        gpgc.covariance(
            as_adjacency(edges, n),
            features,
            model=model,
            base_kernel=kernel,
            depth=depth,
            bias_variance=bias,
        )
    )


@settings(max_examples=60)
@given(graphs(), st.sampled_from(["symmetric", "row"]))
def test_normalized_adjacency_is_a_contraction(graph, normalization):
    n, edges, _ = graph
    matrix = normalize(as_adjacency(edges, n), normalization).toarray()
    assert (matrix >= 0).all()
    assert (np.diagonal(matrix) > 0).all()
    assert np.abs(np.linalg.eigvals(matrix)).max() < 1 + 1e-9


@pytest.mark.filterwarnings("ignore:the features are not")
@pytest.mark.filterwarnings("ignore:y names one class only")
@pytest.mark.filterwarnings("ignore:y holds only")
@settings(max_examples=40, deadline=None)
@given(graphs(), st.integers(0, 2**16), st.sampled_from(["loo", "evidence", 0.05]))
def test_answers_are_finite_and_variance_never_grows(graph, seed, noise):
    n, edges, features = graph
    rng = np.random.default_rng(seed)
    y = rng.integers(-1, 3, size=n)
    y[rng.integers(n)] = 1
    estimator = gpgc.GPGCClassifier(noise_variance=noise)
    estimator.fit(features, y, adjacency=as_adjacency(edges, n))
    mean, std = estimator.predict_latent(return_std=True)
    assert np.isfinite(mean).all()
    assert (std**2 <= prior_variance(estimator.posterior_) + 1e-9).all()
    assert np.isfinite(std).all()
    np.testing.assert_allclose(estimator.predict_proba().sum(axis=1), 1)
    assert set(estimator.transduction_[y >= 0] == y[y >= 0]) == {True}


def prior_variance(stack):
    """Return Σ p_v of each view's prior variance, the usual one where a view knows nothing."""
    total = 0.0
    for view, share, usual in zip(stack.views, stack.shares, stack.usual_variances, strict=True):
        known = view.posterior.prior_variance()
        total = total + share[0] * np.where(known == 0, usual, known)
    return total


@settings(max_examples=30, deadline=None)
@given(graphs(), st.integers(0, 2**16))
def test_relabelling_permutes(graph, seed):
    n, edges, features = graph
    order = np.random.default_rng(seed).permutation(n)
    adjacency = as_adjacency(edges, n)
    plain = gpgc.covariance(adjacency, features).block()
    moved = gpgc.covariance(sp.csr_array(adjacency[order][:, order]), features[order]).block()
    np.testing.assert_allclose(moved, plain[np.ix_(order, order)], atol=1e-10)
