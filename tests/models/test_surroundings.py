"""Views of what a node has around it: their laws, and nodes that join."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import gpgc
from gpgc.estimators.given import encode_given
from gpgc.graph import as_adjacency
from gpgc.graph.nodes import Nodes
from gpgc.kernels import Mix
from gpgc.models import Broad, Prior
from gpgc.models import view as registered
from gpgc.selection.choice import Choice, ChosenView
from tests.laws import check_laws

VIEWS = ("features", "neighbors", "structure", "degrees")
STANDARDIZED = ("linear", "rbf")
KNOWN = tuple(registered.VIEWS)  # other tests add to them
FEW = Broad(exact_nodes=10, n_landmarks=12, one_hot_nodes=0)


def test_every_view_is_tried_here():
    assert set(KNOWN) == {"graph", *VIEWS, "hubs", "walk", *STANDARDIZED}


@pytest.mark.parametrize("model", [Broad(), FEW], ids=["exact", "landmarks"])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_view_obeys_the_laws(awkward, model, sparse):
    graph, features = awkward
    features = np.where(np.abs(features) > 1.2, features, 0.0) if sparse else features
    nodes = Nodes(as_adjacency(graph), sp.csr_array(features) if sparse else features)
    prior = Prior(model, nodes)
    assert prior.views == ("graph", *VIEWS, "hubs", "walk")
    for name in prior.views[:-1]:
        check_laws(prior.view(name))
    assert prior.is_smoother("walk")
    parts = [prior.view(name) for name in ("graph", "structure", "neighbors")]
    check_laws(Mix(parts, [0.7, 0.2, 0.1]))


def test_views_without_features(awkward):
    nodes = Nodes(as_adjacency(awkward[0]))
    assert Prior(Broad(), nodes).views == ("graph", "structure", "degrees", "walk")
    assert Prior(FEW, nodes).views == ("graph", "structure", "degrees", "hubs", "walk")
    for name in ("structure", "degrees"):
        check_laws(Prior(FEW, nodes).view(name))


@pytest.mark.parametrize("name", [*STANDARDIZED, "standardized neighbors", "standardized features"])
@pytest.mark.parametrize("model", [Broad(), FEW], ids=["exact", "landmarks"])
def test_views_of_standardized_columns_obey_the_laws_and_join(awkward, model, name):
    graph, features = awkward
    estimator = gpgc.GPGCClassifier(model, dtype="float64")
    prior = estimator.make_prior(features * [1.0, 9.0, 0.1, 3.0, 30.0], graph, 24)
    name = name if name in prior.views else f"standardized {name}"
    check_laws(prior.view(name))
    nodes, copied, labelled = prior.nodes, np.array([0, 3, 8]), np.array([1, 5, 9, 20])
    scaled = nodes.standardized
    joined = replace(
        nodes.joined(nodes.adjacency[copied], nodes.features[copied], 3),
        standardized=scaled.joined(scaled.adjacency[copied], scaled.features[copied], 3),
    )
    found = prior.joined(joined, labelled, [name])
    block = found.covariances[name].block(found.new, found.labelled)
    np.testing.assert_allclose(block, prior.view(name).block(copied, labelled), atol=1e-6)


def test_linear_and_rbf_are_what_they_say():
    X = np.random.default_rng(0).normal(size=(30, 4)) * [1.0, 5.0, 0.2, 3.0] + 2
    prior = gpgc.GPGCRegressor(standardize=True, dtype="float64").make_prior(X, None, 30)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(prior.view("linear").dense(), scaled @ scaled.T / 4 + 1, atol=1e-9)
    apart = ((scaled[:, None] - scaled[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(prior.view("rbf").dense(), np.exp(-apart / 8), atol=1e-9)


def test_landmarks_give_views_a_finite_rank(awkward):
    prior = Prior(FEW, Nodes(as_adjacency(awkward[0]), awkward[1]))
    assert [prior.view(name).rank for name in ("neighbors", "structure", "degrees")] == [12, 12, 3]


def test_neighbors_are_told_apart_from_the_node_itself():
    features = np.array([[1.0, 0], [0, 1], [1, 0], [0, 1]])
    nodes = Nodes(as_adjacency(([0, 2], [1, 3])), features)
    neighbors = Prior(Broad(), nodes).view("neighbors").dense()
    assert neighbors[0, 2] == pytest.approx(1)
    assert neighbors[0, 1] < 0.7  # the same features in sight, with the roles exchanged


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
    found = prior.joined(joined, labelled, [view])
    expected, there = prior.view(view), found.covariances[view]
    block = there.block(found.new, found.labelled)
    np.testing.assert_allclose(block, expected.block(copied, labelled), atol=1e-6)
    among = there.block(found.labelled, found.labelled)
    np.testing.assert_allclose(among, expected.block(labelled, labelled), atol=1e-6)


def test_chosen_views_are_saved_and_joined(tmp_path, awkward):
    graph, features = awkward
    y = np.full(24, -1)
    y[::2] = np.arange(12) % 2
    estimator = gpgc.GPGCClassifier().fit(features, y, graph)
    prior = estimator.prior_
    weights = {"neighbors": 0.5, "structure": 0.3, "degrees": 0.1, "walk": 0.1}
    chosen = [ChosenView(name, np.array([w]), np.array([0.1])) for name, w in weights.items()]
    estimator.fit_prior(prior, encode_given(y), Choice(tuple(chosen), np.ones(1)))
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
    """Neighborhoods of few nodes are looked up; all rows are computed at once."""
    rng = np.random.default_rng(0)
    n = 2000
    features = rng.normal(size=(n, 5))
    around = (np.arange(n), (np.arange(n) + rng.integers(1, 4, n)) % n)
    nodes = Nodes(as_adjacency(around), sp.csr_array(features) if sparse else features)
    prior, few = Prior(Broad(), nodes), np.array([3, 700, 1999, 3])
    for view in ("neighbors", "structure"):
        rows = prior.view(view).inner.inner.inner.rows
        some, lengths = rows.take(few)
        every = rows.stored()
        dense = [
            part.toarray() if sp.issparse(part) else part for part in (some, every.take(few)[0])
        ]
        np.testing.assert_allclose(*dense, atol=1e-12)
        np.testing.assert_allclose(lengths, every.take(few)[1], atol=1e-12)
