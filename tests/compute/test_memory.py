"""Work is cut to the memory limit, and refused with both numbers where that cannot be."""

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc import GPGCClassifier
from gpgc.compute import Context
from gpgc.errors import InputError


@pytest.mark.parametrize("model", ["big", "broad"])
def test_what_cannot_fit_is_refused_with_both_numbers(model):
    features = np.ones((1000, 600))
    y = np.full(1000, -1)
    y[:4] = [0, 1, 0, 1]
    estimator = GPGCClassifier(model, memory_limit=2**20)
    with pytest.raises(InputError, match=r"memory_limit is 1 MiB, but .* needs [0-9]+ MiB"):
        estimator.fit(features, y, adjacency=sp.csr_array((1000, 1000)))


@pytest.mark.parametrize("model", ["small", "big", "broad"])
def test_a_tight_limit_changes_no_answer(model):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 8))
    y = np.where(np.arange(300) < 20, np.arange(300) % 2, -1)
    free, tight = (
        GPGCClassifier(model, depth=3, memory_limit=limit, dtype="float64").fit(features, y)
        for limit in (None, 2**18)
    )
    np.testing.assert_allclose(tight.predict_latent(), free.predict_latent(), atol=1e-9)


def test_budgets_shrink_with_the_limit():
    assert Context().budget(2**20) == 2**20
    assert Context.of(n_jobs=1, memory_limit=2**21).budget(2**20) == 2**18


def test_a_hub_with_many_neighbors_does_not_blow_memory():
    """A star of 6,000 leaves: the hub labelled and not, means and variances."""
    import tracemalloc

    n = 6_001
    star = (np.zeros(n - 1, dtype=int), np.arange(1, n))
    features = np.random.default_rng(0).normal(size=(n, 4)).astype(np.float32)
    for labelled in ([0, 1, 2, 3], [5, 6, 7, 8]):
        y = np.full(n, -1)
        y[labelled] = [0, 1, 0, 1]
        tracemalloc.start()
        estimator = GPGCClassifier("big", noise_variance=0.1).fit(features, y, adjacency=star)
        mean, std = estimator.predict_latent([0, 1, 9], return_std=True)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert np.isfinite(mean).all()
        assert np.isfinite(std).all()
        assert peak < 50 * 2**20


def peak_of(job):
    import tracemalloc

    tracemalloc.start()
    try:
        job()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("model", ["small", "big", "broad"])
@pytest.mark.parametrize("noise", [0.1, "loo"])
def test_covariances_with_and_among_labels_count(model, noise):
    """N x D is cut into tiles, D x D approximated or refused where it does not fit.

    What is not refused stays below the limit.
    """
    rng = np.random.default_rng(0)
    n_nodes, limit = 3000, (20 if model == "broad" else 8) * 2**20  # PageRanks to 512 hubs
    features = rng.normal(size=(n_nodes, 8)).astype(np.float32)
    graph = sp.random_array((n_nodes, n_nodes), density=4 / n_nodes, rng=rng)
    estimator = GPGCClassifier(model, memory_limit=limit, noise_variance=noise)
    few = np.where(np.arange(n_nodes) < 250, np.arange(n_nodes) % 2, -1)

    def fit_and_predict(y):
        estimator.fit(features, y, adjacency=graph).predict_latent(return_std=True)

    fit_and_predict(few)  # modules that are imported on the way are no work of the fit
    assert peak_of(lambda: fit_and_predict(few)) < limit
    many = np.where(np.arange(n_nodes) < 1200, np.arange(n_nodes) % 2, -1)
    if noise == "loo" or model == "broad":  # at most 1,000 labels judge views
        judging = "1,000" if model == "broad" else "1,200"
        refusal = rf"memory_limit is {limit >> 20} MiB, but .* {judging} labels .* MiB"
        with pytest.raises(InputError, match=refusal):
            estimator.fit(features, many, adjacency=graph)
    else:
        fit_and_predict(many)
        assert peak_of(lambda: fit_and_predict(many)) < limit
        assert estimator.approximations_[0].startswith("Nyström")
    estimator.fit(features, few, adjacency=graph)
    refusal = rf"memory_limit is {limit >> 20} MiB, but .* 3,000 nodes .* MiB"
    with pytest.raises(InputError, match=refusal):
        estimator.predict_latent(return_cov=True)


@pytest.mark.parametrize("model", ["small", "big", "broad"])
def test_variances_in_tiles_are_those_at_once(model):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 8))
    y = np.where(np.arange(300) < 20, np.arange(300) % 2, -1)
    free, tight = (
        GPGCClassifier(model, memory_limit=limit, dtype="float64", noise_variance=0.1).fit(
            features, y
        )
        for limit in (None, 2**17)
    )
    for nodes in (None, np.arange(5, 290, 3)):
        tight_std = tight.predict_latent(nodes, return_std=True)[1]
        free_std = free.predict_latent(nodes, return_std=True)[1]
        np.testing.assert_allclose(tight_std, free_std, atol=1e-7)


def test_tiles_of_variances_count_what_is_solved_in_float64():
    from gpgc.gp import LabelledRoot, WeightSpace
    from gpgc.kernels import Features, InnerProduct

    limit = 16 * 2**20
    context = Context.of("float32", n_jobs=1, memory_limit=limit)
    rows = np.random.default_rng(0).normal(size=(4000, 300))
    covariance = Features.of(InnerProduct(), rows, context)
    posterior = WeightSpace(LabelledRoot.of(covariance, np.arange(20), np.ones((20, 1))), 0.1)
    for answer in (posterior.variance, lambda: posterior.leave_one_out()):
        assert peak_of(answer) < limit // 4  # a thread has an eighth, and the answer itself
