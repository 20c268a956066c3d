"""Views of what a node has around it: their laws, and nodes that join."""

import numpy as np
import pytest
import scipy.sparse as sp

import gpgc
from gpgc.estimators.given_labels import encode_given
from gpgc.graph import as_adjacency
from gpgc.graph.nodes import Nodes
from gpgc.models import Broad, Prior
from gpgc.selection.choice import Choice
from tests.laws import check_laws

VIEWS = ("features", "neighbours", "structure", "degrees")
FEW = Broad(exact_nodes=10, n_landmarks=12, one_hot_nodes=0)


@pytest.mark.parametrize("model", [Broad(), FEW], ids=["exact", "landmarks"])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_view_obeys_the_laws(awkward, model, sparse):
    graph, features = awkward
    features = np.where(np.abs(features) > 1.2, features, 0.0) if sparse else features
    nodes = Nodes(as_adjacency(graph), sp.csr_array(features) if sparse else features)
    prior = Prior(model, nodes)
    assert prior.views == ("graph", *VIEWS, "hubs")
    for name in prior.views:
        check_laws(prior.view(name))
    check_laws(prior.covariance({"graph": 0.7, "structure": 0.2, "neighbours": 0.1}))


def test_views_without_features(awkward):
    nodes = Nodes(as_adjacency(awkward[0]))
    assert Prior(Broad(), nodes).views == ("graph", "structure", "degrees")
    assert Prior(FEW, nodes).views == ("graph", "hubs", "structure", "degrees")
    for name in ("structure", "degrees"):
        check_laws(Prior(FEW, nodes).view(name))


def test_landmarks_give_views_a_finite_rank(awkward):
    prior = Prior(FEW, Nodes(as_adjacency(awkward[0]), awkward[1]))
    assert [prior.view(name).rank for name in ("neighbours", "structure", "degrees")] == [12, 12, 3]


def test_neighbours_are_told_apart_from_the_node_itself():
    features = np.array([[1.0, 0], [0, 1], [1, 0], [0, 1]])
    nodes = Nodes(as_adjacency(([0, 2], [1, 3])), features)
    neighbours = Prior(Broad(), nodes).view("neighbours").dense()
    assert neighbours[0, 2] == pytest.approx(1)
    assert neighbours[0, 1] < 0.7  # the same features in sight, with the roles exchanged


@pytest.mark.parametrize("model", [Broad(), FEW], ids=["exact", "landmarks"])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("sparse", [False, True])
def test_a_twin_that_joins_is_seen_as_the_node_it_copies(awkward, model, view, sparse):
    graph, features = awkward
    features = sp.csr_array(features) if sparse else features
    nodes = Nodes(as_adjacency(graph), features)
    prior, labelled = Prior(model, nodes), np.array([1, 5, 9, 20])
    copied = np.array([0, 3, 8, 13])
    joined = nodes.joined(nodes.adjacency[copied], features[copied], len(copied))
    found = prior.joined(joined, labelled, {view: 1.0})
    expected = prior.view(view)
    block = found.covariance.block(found.new, found.labelled)
    np.testing.assert_allclose(block, expected.block(copied, labelled), atol=1e-6)
    among = found.covariance.block(found.labelled, found.labelled)
    np.testing.assert_allclose(among, expected.block(labelled, labelled), atol=1e-6)


def test_chosen_views_are_saved_and_joined(tmp_path, awkward):
    graph, features = awkward
    y = np.full(24, -1)
    y[::2] = np.arange(12) % 2
    estimator = gpgc.GPGCClassifier().fit(features, y, graph)
    prior, weights = estimator.prior_, {"neighbours": 0.6, "structure": 0.3, "degrees": 0.1}
    estimator.fit_prior(prior, encode_given(y), Choice(weights, np.array([0.1])))
    estimator.save(tmp_path / "model.gpgc")
    again = gpgc.load(tmp_path / "model.gpgc")
    assert again.view_weights_ == weights
    np.testing.assert_allclose(again.predict_proba(), estimator.predict_proba(), atol=1e-6)
    rows, links = features[:3], prior.nodes.adjacency[:3]
    np.testing.assert_allclose(
        again.predict_proba(rows, links), estimator.predict_proba(rows, links), atol=1e-6
    )


@pytest.mark.parametrize("sparse", [False, True])
def test_few_rows_are_those_of_all(sparse):
    """Neighbourhoods of few nodes are looked up; all rows are computed at once."""
    rng = np.random.default_rng(0)
    n = 2000
    features = rng.normal(size=(n, 5))
    around = (np.arange(n), (np.arange(n) + rng.integers(1, 4, n)) % n)
    nodes = Nodes(as_adjacency(around), sp.csr_array(features) if sparse else features)
    prior, few = Prior(Broad(), nodes), np.array([3, 700, 1999, 3])
    for view in ("neighbours", "structure"):
        rows = prior.view(view).inner.inner.inner.rows
        some, lengths = rows.take(few)
        every = rows.stored()
        dense = [
            part.toarray() if sp.issparse(part) else part for part in (some, every.take(few)[0])
        ]
        np.testing.assert_allclose(*dense, atol=1e-12)
        np.testing.assert_allclose(lengths, every.take(few)[1], atol=1e-12)
