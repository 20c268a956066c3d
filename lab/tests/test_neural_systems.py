"""What every network of the comparison must do, on two communities."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

import torch

from gpgc_lab.baselines import Problem, system
from gpgc_lab.baselines.diffusion_convolution import diffused_features
from gpgc_lab.baselines.graph_learning import GraphLearning
from gpgc_lab.baselines.network_training import Patience, Window
from gpgc_lab.baselines.tensors import Inputs, SparseMatrix

NETWORKS = ("GCN", "GCN-64", "GAT", "DCNN", "MoNet", "GLCN")
N_NODES = 80
ISOLATED = 79
EPOCHS = 100


@pytest.fixture(scope="module")
def truth():
    return np.repeat([0, 1], N_NODES // 2)


@pytest.fixture(scope="module")
def problem(truth):
    """Two communities with words of their own; the last node has words, but no neighbour."""
    rng = np.random.default_rng(0)
    same = truth[:, None] == truth
    links = np.triu(rng.random((N_NODES, N_NODES)) < np.where(same, 0.2, 0.01), 1)
    links[:, ISOLATED] = False
    likely = np.where(truth[:, None] == np.repeat([0, 1], 15), 0.3, 0.05)
    words = rng.random((N_NODES, 30)) < likely
    train, validation = np.array([0, 1, 2, 40, 41, 42]), np.arange(10, 80, 7)
    labels = np.full(N_NODES, -1)
    labels[train], labels[validation] = truth[train], truth[validation]
    adjacency = sp.csr_array((links | links.T).astype(float))
    return Problem(adjacency, sp.csr_array(words.astype(float)), labels, train, validation, 2)


def hidden(problem):
    return np.flatnonzero(problem.labels < 0)


@pytest.mark.parametrize("name", NETWORKS)
def test_learns_the_communities_and_repeats_itself(name, problem, truth):
    before = torch.get_rng_state()
    prediction = system(name)(problem, seed=1, epochs=EPOCHS)
    assert torch.equal(torch.get_rng_state(), before)
    probabilities = prediction.probabilities
    assert probabilities.shape == (N_NODES, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-12)
    nodes = hidden(problem)
    assert np.mean(probabilities.argmax(axis=1)[nodes] == truth[nodes]) > 0.9
    assert prediction.train_seconds > 0
    assert prediction.epochs is not None
    assert prediction.epochs > 0
    again = system(name)(problem, seed=1, epochs=EPOCHS)
    np.testing.assert_array_equal(again.probabilities, probabilities)
    assert not np.array_equal(system(name)(problem, seed=2, epochs=3).probabilities, probabilities)


@pytest.mark.parametrize("name", NETWORKS)
def test_without_validation_nodes_all_epochs_are_run(name, problem, truth):
    labels = problem.labels.copy()
    labels[problem.validation] = -1
    bare = replace(problem, labels=labels, validation=np.array([], dtype=np.int64))
    prediction = system(name)(bare, seed=0, epochs=EPOCHS)
    assert prediction.epochs == EPOCHS
    nodes = hidden(bare)
    assert np.mean(prediction.probabilities.argmax(axis=1)[nodes] == truth[nodes]) > 0.85


@pytest.mark.parametrize("name", NETWORKS)
def test_weighted_graphs_dense_features_and_featureless_nodes(name, problem):
    rng = np.random.default_rng(1)
    weighted = sp.csr_array(problem.adjacency, copy=True)
    weighted.data = rng.random(weighted.nnz)
    weighted = sp.csr_array(weighted + weighted.T)
    features = rng.normal(size=(N_NODES, 6))
    features[3] = 0.0
    prediction = system(name)(
        replace(problem, adjacency=weighted, features=features), seed=0, epochs=5
    )
    assert np.isfinite(prediction.probabilities).all()


@pytest.mark.parametrize("name", NETWORKS)
def test_one_class_and_no_edges(name, problem):
    labels = np.where(problem.labels < 0, -1, 0)
    empty = sp.csr_array((N_NODES, N_NODES))
    alone = replace(problem, adjacency=empty, labels=labels, n_classes=1)
    np.testing.assert_array_equal(system(name)(alone, seed=0, epochs=3).probabilities, 1.0)


@pytest.mark.parametrize("columns", [1, 4])
def test_sparse_products_have_the_gradients_of_dense_ones(columns):
    rng = np.random.default_rng(0)
    matrix = sp.random_array((7, 5), density=0.4, rng=rng, format="csr")
    sparse = SparseMatrix(matrix)
    values = torch.tensor(matrix.data, requires_grad=True)
    dense = torch.randn(5, columns, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda v, d: sparse.times(d, v), (values, dense))
    wanted = matrix @ dense.detach().numpy()
    np.testing.assert_allclose(sparse.times(dense, values).detach().numpy(), wanted)


def test_features_are_divided_by_their_sum_sparse_or_not():
    features = np.array([[1.0, -3.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 2.0]])
    wanted = [[0.25, -0.75, 0.0], [0.0, 0.0, 0.0], [0.5, 0.0, 0.5]]
    np.testing.assert_allclose(Inputs(features).tensor(), wanted)
    wide = sp.csr_array(np.hstack([features, np.zeros((3, 40))]))
    assert Inputs(wide).tensor().is_sparse
    np.testing.assert_allclose(Inputs(wide).tensor().to_dense()[:, :3], wanted)
    np.testing.assert_allclose(Inputs(wide).times(torch.eye(43))[:, :3], wanted)


def test_dropout_keeps_the_mean_of_the_features():
    inputs = Inputs(sp.csr_array(np.eye(2000, 2000)))
    kept = inputs.times(torch.ones(2000, 1), rate=0.5)
    assert set(kept.ravel().tolist()) == {0.0, 2.0}
    assert float(kept.mean()) == pytest.approx(1.0, abs=0.15)


def test_diffusion_averages_over_walks(problem):
    X, once, twice = np.split(diffused_features(problem, 2).toarray(), 3, axis=1)
    degrees = np.asarray(problem.adjacency.sum(axis=1))
    walk = problem.adjacency.toarray() / np.maximum(degrees, 1)[:, None]
    np.testing.assert_allclose(once, walk @ X, atol=1e-6)
    np.testing.assert_allclose(twice, walk @ walk @ X, atol=1e-6)
    assert not once[ISOLATED].any()


def test_the_learnt_graph_is_stochastic_on_the_given_edges(problem):
    network = GraphLearning(problem)
    weights = network._edge_weights(0.0).detach().numpy()
    learnt = sp.csr_array((weights, (network.graph.rows.numpy(), network.graph.columns.numpy())))
    np.testing.assert_allclose(learnt.sum(axis=1), 1.0, rtol=1e-5)
    assert learnt.nnz == problem.adjacency.nnz + N_NODES


def test_a_window_stops_at_a_loss_above_the_mean_before():
    network, window = torch.nn.Linear(1, 1), Window(2)
    losses = [1.0, 2.0, 3.0, 2.6, 2.7]
    answers = [window.is_over(loss, 0.0, network) for loss in losses]
    assert answers == [False, False, False, True, False]


EPOCHS_SEEN = [(1.0, 0.5), (0.5, 0.7), (0.6, 0.7), (0.7, 0.6), (0.8, 0.6)]


@pytest.mark.parametrize(
    ("or_accuracy", "wanted"),
    [(False, [False, False, False, True, True]), (True, [False, False, False, False, True])],
)
def test_patience_goes_back_to_the_weights_that_were_best(or_accuracy, wanted):
    network, patience = torch.nn.Linear(1, 1), Patience(2, or_accuracy)
    answers = []
    for step, (loss, accuracy) in enumerate(EPOCHS_SEEN):
        torch.nn.init.constant_(network.weight, step)
        answers.append(patience.is_over(loss, accuracy, network))
    assert answers == wanted
    patience.restore(network)
    assert network.weight.item() == 1.0
