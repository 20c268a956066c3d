"""Graphs without features, of every size: communities are found, joins, plans and files work."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import gpgc
from gpgc import GPGCClassifier
from gpgc.graph import Nodes, as_adjacency, normalize
from gpgc.kernels.diffuse import PageRank
from gpgc.models import Broad, Prior, graph_view, projection


def planted_partition(n_nodes, n_classes=4, inside=0.8, degree=10, seed=0):
    """Draw edges that end in the class where they start with probability ``inside``."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n_nodes) % n_classes)
    by_class = np.argsort(truth, kind="stable")
    starts = np.searchsorted(truth[by_class], np.arange(n_classes + 1))
    source = rng.integers(n_nodes, size=n_nodes * degree // 2)
    other = (truth[source] + 1 + rng.integers(n_classes - 1, size=len(source))) % n_classes
    target_class = np.where(rng.random(len(source)) < inside, truth[source], other)
    sizes = np.diff(starts)[target_class]
    target = by_class[starts[target_class] + (rng.random(len(source)) * sizes).astype(int)]
    return as_adjacency((source, target), n_nodes), truth


def some_labels(truth, per_class=20, seed=1):
    rng = np.random.default_rng(seed)
    y = np.full(len(truth), -1)
    for label in np.unique(truth[truth >= 0]):
        y[rng.choice(np.flatnonzero(truth == label), per_class, replace=False)] = label
    return y


def accuracy(predicted, truth, y):
    asked = (y == -1) & (truth != -1)
    return np.mean(predicted[asked] == truth[asked])


def by_pagerank(graph, y, n_classes):
    """Return the class whose labels have the largest personalised PageRank."""
    onehot = np.eye(n_classes)[y] * (y >= 0)[:, None]
    return PageRank(normalize(graph), 0.1, 50).apply(onehot).argmax(axis=1)


@pytest.mark.parametrize(
    "n_nodes",
    [3_000, 16_800, *(pytest.param(n, marks=pytest.mark.slow) for n in (16_000, 20_000, 200_000))],
)
def test_communities_are_found_at_every_size(n_nodes):
    graph, truth = planted_partition(n_nodes)
    y = some_labels(truth)
    assert accuracy(GPGCClassifier().fit(None, y, graph).transduction_, truth, y) >= 0.95


def test_isolated_nodes_and_pairs_do_not_disturb():
    graph, truth = planted_partition(5_000)
    pairs = sp.kron(sp.eye_array(1_000), np.array([[0, 1], [1, 0]]))
    graph = sp.block_diag([graph, sp.csr_array((1_000, 1_000)), pairs], format="csr")
    truth = np.concatenate([truth, np.full(3_000, -1)])
    y = some_labels(truth)
    y[6_000] = 3
    estimator = GPGCClassifier().fit(None, y, graph)
    assert accuracy(estimator.transduction_, truth, y) >= 0.95
    assert estimator.transduction_[6_001] == 3
    assert not estimator.covariance_.diag(np.arange(5_000, 6_000)).any()
    assert (estimator.covariance_.block([6_001], [6_002, 0]) == 0).all()


def test_a_hundred_classes():
    graph, truth = planted_partition(10_000, n_classes=100)
    y = some_labels(truth, per_class=5)
    assert accuracy(GPGCClassifier().fit(None, y, graph).transduction_, truth, y) >= 0.95


def test_unlike_neighbors():
    graph, truth = planted_partition(6_000, n_classes=2, inside=0.1)
    y = some_labels(truth)
    assert accuracy(GPGCClassifier().fit(None, y, graph).transduction_, truth, y) >= 0.95


def test_a_memory_limit_does_not_cost_the_answer():
    graph, truth = planted_partition(5_000)
    y = some_labels(truth)
    free, tight = (
        GPGCClassifier(memory_limit=limit).fit(None, y, graph) for limit in (None, 200 * 2**20)
    )
    assert accuracy(tight.transduction_, truth, y) >= 0.95
    assert np.mean(free.transduction_ == tight.transduction_) > 0.999


def test_seeds_agree_and_the_same_seed_repeats():
    graph, truth = planted_partition(5_000)
    y = some_labels(truth)
    first, again, other = (
        GPGCClassifier(random_state=seed).fit(None, y, graph).transduction_ for seed in (0, 0, 1)
    )
    assert (first == again).all()
    assert np.mean(first == other) > 0.97


@pytest.mark.parametrize(("n_classes", "inside"), [(4, 0.8), (2, 0.1)])
def test_nodes_join_and_files_keep_the_answer(tmp_path, n_classes, inside):
    graph, truth = planted_partition(5_200, n_classes=n_classes, inside=inside)
    y = some_labels(truth[:5_000])
    estimator = GPGCClassifier().fit(None, y, graph[:5_000, :5_000])
    joined = estimator.predict(adjacency=graph[5_000:, :])
    assert np.mean(joined == truth[5_000:]) >= 0.9
    estimator.save(tmp_path / "model.gpgc")
    loaded = gpgc.load(tmp_path / "model.gpgc")
    np.testing.assert_allclose(loaded.predict_proba(), estimator.predict_proba(), atol=1e-4)


def test_suggestions_cover_the_communities():
    graph, truth = planted_partition(5_000)
    nodes, _ = gpgc.suggest(None, adjacency=graph, n=12)
    assert set(truth[nodes]) == {0, 1, 2, 3}


def test_what_is_not_exact_is_told(monkeypatch):
    graph, truth = planted_partition(300)
    features = sp.random_array(
        (300, 2_000), density=0.01, rng=np.random.default_rng(0), format="csr"
    )
    y = some_labels(truth, 3)
    assert GPGCClassifier().fit(features, y, graph).approximations_ == ()
    wide = projection.WideFeatures(n_from=200, n_columns=100)
    monkeypatch.setattr(graph_view, "projection_for", partial(projection.projection_for, wide=wide))
    (told,) = Prior(Broad(), Nodes(as_adjacency(graph), features)).approximations()
    assert told.startswith("2,000 columns by 100 singular vectors, which leave out ")
    large = Broad(exact_nodes=100, n_landmarks=50, one_hot_nodes=200)
    told = Prior(large, Nodes(as_adjacency(graph))).approximations()
    assert told == ("64 eigenvectors stand for one-hot rows", "squares over 50 landmarks")


@pytest.mark.slow
@pytest.mark.data
def test_wordnet_without_features_is_above_pagerank(lab_datasets, data_dir):
    """With the labels' own class shares on both sides."""
    data = lab_datasets.load_npz_graph(data_dir / "graphs" / "wordnet.npz")
    truth = np.asarray(data.labels)
    y = some_labels(truth)
    estimator = GPGCClassifier(class_prior="labels").fit(None, y, data.adjacency)
    rival = by_pagerank(as_adjacency(data.adjacency), y, truth.max() + 1)
    assert accuracy(estimator.transduction_, truth, y) > accuracy(rival, truth, y)
