"""Labels that are corrected, taken back or skipped: as if they had been given so at once."""

import networkx as nx
import numpy as np
import pytest

import gpgc
from gpgc.errors import InputError
from gpgc.labelling.growing import GrowingPosterior
from gpgc.labelling.labelling import Labelling
from gpgc.labelling.planning import Plan
from tests.conftest import random_graph


@pytest.fixture
def graph():
    rng = np.random.default_rng(1)
    return random_graph(30, seed=2), rng.normal(size=(30, 4))


@pytest.mark.parametrize("nodes", [None, np.array([0, 3, 8, 9, 22])])
def test_removed_and_changed_observations_leave_no_trace(graph, nodes):
    covariance = gpgc.covariance(*graph)
    values = np.random.default_rng(0).normal(size=(6, 2))
    changed = GrowingPosterior(covariance, 0.1, 2, nodes)
    changed.observe([3, 17, 8, 25, 1, 9], values)
    changed.remove([17, 25])
    fresh = GrowingPosterior(covariance, 0.1, 2, nodes)
    fresh.observe([3, 8, 1, 9], values[[0, 2, 4, 5]])
    np.testing.assert_allclose(changed.mean, fresh.mean, atol=1e-12)
    np.testing.assert_allclose(changed.variance, fresh.variance, atol=1e-12)
    changed.retarget(-values[:4])
    fresh = GrowingPosterior(covariance, 0.1, 2, nodes)
    fresh.observe([3, 8, 1, 9], -values[:4])
    np.testing.assert_allclose(changed.mean, fresh.mean, atol=1e-12)


def test_few_kept_nodes_have_the_values_that_all_would_have(graph):
    covariance, kept = gpgc.covariance(*graph), np.array([2, 5, 11, 29])
    some, every = (GrowingPosterior(covariance, 0.1, 1, nodes) for nodes in (kept, None))
    for posterior in (some, every):
        posterior.observe([3, 5, 17], np.ones((3, 1)))
    np.testing.assert_allclose(some.mean, every.mean[kept], atol=1e-12)
    np.testing.assert_allclose(
        some.residual(kept, kept[:2]), every.residual(kept, kept[:2]), atol=1e-12
    )


def test_a_plan_forgets(graph):
    covariance = gpgc.covariance(*graph, model="broad")
    changed, fresh = (Plan(covariance, np.arange(30)) for _ in range(2))
    changed.observe([4, 9, 20, 7])
    changed.remove([9, 7])
    fresh.observe([4, 20])
    np.testing.assert_allclose(
        changed.gains(np.ones(30)), fresh.gains(np.ones(30)), rtol=1e-4, atol=1e-6
    )


def labelled(graph, nodes, labels):
    labelling = Labelling.on(graph[1], None, graph[0], dtype="float64")
    labelling.add(nodes, labels)
    labelling.refresh()
    return labelling


def test_corrected_and_removed_labels_equal_a_fresh_labelling(graph):
    labelling = labelled(graph, [0, 5, 9, 14, 20], ["a", "b", "c", "a", "b"])
    labelling.predict_proba()
    labelling.correct([14], ["b"])
    labelling.remove([9])
    assert labelling.labels == {0: "a", 5: "b", 14: "b", 20: "b"}
    assert labelling.classes == ["a", "b"]
    labelling.refresh()
    fresh = labelled(graph, [0, 5, 14, 20], ["a", "b", "b", "b"])
    np.testing.assert_allclose(labelling.predict_proba(), fresh.predict_proba(), atol=1e-9)
    assert labelling.suggest(3).nodes.tolist() == fresh.suggest(3).nodes.tolist()


def test_skipped_nodes_are_never_suggested_until_they_are_given_back(graph):
    labelling = Labelling.on(graph[1], None, graph[0])
    first = int(labelling.suggest().nodes[0])
    labelling.skip([first])
    assert first not in labelling.suggest(29).nodes
    labelling.remove([first])
    assert labelling.suggest().nodes[0] == first


def test_pending_nodes_count_as_labelled(graph):
    labelling = Labelling.on(graph[1], None, graph[0])
    two = labelling.suggest(2).nodes
    assert labelling.suggest(1, pending=two[:1]).nodes[0] == two[1]
    assert labelling.labels == {}


def test_choices_are_made_on_request_and_may_come_late(graph):
    labelling = Labelling.on(graph[1], None, graph[0], refresh="manual", dtype="float64")
    labelling.warm()
    labelling.add([0, 5, 6, 7], ["a", "b", "a", "b"])
    assert labelling.stale
    choose = labelling.chooser()
    labelling.add([9], ["c"])
    labelling.adopt(choose())
    assert not labelling.stale
    assert labelling.predict_proba().shape == (30, 3)
    labelling.add([11], ["c"])
    assert labelling.stale
    labelling.refresh()
    assert not labelling.stale


def test_a_sample_of_nodes_is_kept_up(graph, monkeypatch):
    monkeypatch.setattr("gpgc.labelling.planning.EXACT_NODES", 10)
    monkeypatch.setattr("gpgc.labelling.planning.N_WITNESSES", 6)
    sample = Labelling.on(
        graph[1], None, graph[0], nodes=[4, 7], candidates=[1, 2, 3], dtype="float64"
    )
    sample.add([20, 21], ["a", "b"])
    assert set(sample.nodes) >= {1, 2, 3, 4, 7}
    assert len(sample.nodes) < 30
    every = labelled(graph, [20, 21], ["a", "b"])
    np.testing.assert_allclose(
        sample.predict_proba(), every.predict_proba()[sample.nodes], atol=1e-9
    )
    sample.add([5, 6, 8, 9, 10, 11], ["a", "b"] * 3)
    assert sample.suggest(1, "weighted").nodes[0] in (1, 2, 3)


def test_only_labelled_nodes_can_be_corrected(graph):
    labelling = labelled(graph, [0, 5], ["a", "b"])
    with pytest.raises(InputError, match="must have a label"):
        labelling.correct([7], ["a"])
    with pytest.raises(InputError, match="must not be blank"):
        labelling.correct([5], [None])


def test_many_labels_of_nodes_that_are_nearly_equal_stay_finite():
    rng = np.random.default_rng(0)
    truth = np.arange(600) % 4
    X = rng.normal(size=(4, 6))[truth] + 0.1 * rng.normal(size=(600, 6))
    covariance = gpgc.covariance(None, X, model="broad", dtype=np.float32)
    posterior = GrowingPosterior(covariance, 1e-6 * float(covariance.diag().mean()), 4)
    order = rng.permutation(600)[:500]
    for part in np.array_split(order, 20):
        posterior.observe(part, np.eye(4)[truth[part]])
    assert np.abs(posterior.mean).max() < 2
    assert (posterior.mean.argmax(axis=1) == truth).all()
    posterior.remove(order[::7])
    assert np.abs(posterior.mean).max() < 2


def test_nodes_are_called_by_their_names():
    names = [f"n{node}" for node in range(12)]
    graph = nx.relabel_nodes(nx.from_numpy_array(np.kron(np.eye(3), np.ones((4, 4)))), "n{}".format)
    y = dict.fromkeys(names) | {"n0": "a", "n4": "b"}
    by_name = Labelling.on(None, y, graph, nodes=["n8"])
    by_index = Labelling.on(None, y, graph, nodes=[8])
    for labelling, called in ((by_name, "n{}".format), (by_index, int)):
        labelling.add([called(8), called(9)], ["c", "a"])
        labelling.correct([called(9)], ["c"])
        labelling.skip([called(1)])
        labelling.remove([called(4)])
    assert by_name.labels == by_index.labels == {0: "a", 8: "c", 9: "c"}
    np.testing.assert_array_equal(by_name.predict_proba(), by_index.predict_proba())
    found = by_name.suggest(2, pending=["n5"])
    np.testing.assert_array_equal(found.nodes, by_index.suggest(2, pending=[5]).nodes)
    with pytest.raises(InputError, match="nodes of the graph, got 'n12'"):
        by_name.add(["n12"], ["a"])
