"""More labels than a D × D matrix allows, for covariances without a finite root."""

import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp

import gpgc
from gpgc import GPGCClassifier
from gpgc.compute import Context
from gpgc.gp import FunctionSpace, condition
from gpgc.gp import nystrom_space as module
from gpgc.gp.nystrom_space import NystromSpace
from gpgc.graph import Nodes, as_adjacency
from gpgc.kernels.nystrom import Nystrom, choose_landmarks
from gpgc.models import Prior, architecture_from

LEVEL = np.array([0.1])


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(0)
    classes = np.arange(300) % 3
    links = as_adjacency(sp.random_array((300, 300), density=0.02, rng=rng))
    return links, rng.normal(size=(300, 12)) + 2 * np.eye(12)[classes], classes


def covariance(graph, limit=None):
    context = Context.of("float64", 1, limit)
    return Prior(architecture_from("big"), Nodes(*graph[:2]), context).covariance()


def test_with_all_labels_as_landmarks_it_is_exact(graph):
    inner, labelled = covariance(graph), np.arange(0, 200, 2)
    targets = np.eye(3)[graph[2][labelled]]
    exact = condition(inner, labelled, targets, LEVEL, space="function")
    found = condition(inner, labelled, targets, LEVEL, space="weight")
    assert isinstance(found, NystromSpace)
    np.testing.assert_allclose(found.mean(), exact.mean(), atol=1e-6)
    np.testing.assert_allclose(found.variance(), exact.variance(), atol=1e-6)
    np.testing.assert_allclose(found.leave_one_out().mean, exact.leave_one_out().mean, atol=1e-5)


def test_its_error_is_measured_and_said(graph, monkeypatch):
    inner, labelled = covariance(graph), np.arange(280)
    targets = np.eye(3)[graph[2][labelled]]
    exact = condition(inner, labelled, targets, LEVEL, space="function")
    errors = []
    for n_landmarks in (10, 60):
        monkeypatch.setattr(module, "MOST_LANDMARKS", n_landmarks)
        found = NystromSpace(inner, labelled, targets, LEVEL[0])
        (phrase,) = found.approximations
        said = float(re.search(r"means off by ([\d.]+)%", phrase)[1]) / 100
        off = np.linalg.norm(found.mean() - exact.mean()) / np.linalg.norm(exact.mean())
        assert said == pytest.approx(off, rel=0.2, abs=2e-4)
        assert found.variance().mean() > exact.variance().mean()
        errors.append(off)
    assert errors[1] < errors[0] / 2


def test_it_is_taken_where_the_labels_do_not_fit(graph):
    limit = 8 * 4 * 150**2
    inner, labelled = covariance(graph, limit), np.arange(200)
    targets = np.eye(3)[graph[2][labelled]]
    assert isinstance(condition(inner, labelled, targets, LEVEL), NystromSpace)
    few = condition(inner, labelled[:140], targets[:140], LEVEL)
    assert isinstance(few, FunctionSpace)


def test_landmarks_are_not_copies_of_each_other(graph):
    inner = covariance(graph)
    candidates = np.concatenate([np.full(50, 7), np.arange(100, 140)])
    chosen = choose_landmarks(inner, candidates, 12)
    assert len(np.unique(candidates[chosen])) == len(chosen) == 12
    assert len(choose_landmarks(inner, np.full(20, 7), 12)) == 1

    def left(landmarks):
        return float((inner.diag() - Nystrom(inner, landmarks).diag()).sum())

    rng = np.random.default_rng(0)
    at_random = [left(rng.choice(300, 12, replace=False)) for _ in range(20)]
    greedy = left(choose_landmarks(inner, np.arange(300), 12))
    assert greedy < np.mean(at_random)


def test_the_estimator_says_so_saves_and_joins(graph, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_LANDMARKS", 80)
    links, features, classes = graph
    y = np.where(np.arange(300) < 200, classes, -1)
    settings = {"dtype": "float64", "noise_variance": 0.2}
    exact = GPGCClassifier("big", **settings).fit(features, y, adjacency=links)
    found = GPGCClassifier("big", space="weight", **settings).fit(features, y, adjacency=links)
    assert "Nyström with 80 landmarks for 200 labels" in found.approximations_[-1]
    assert found.space_ == "weight"
    assert np.mean(found.predict() == exact.predict()) > 0.97
    new = features[:4] + 0.1, links[:4].toarray()
    joined = found.predict_latent(X=new[0], adjacency=new[1])
    np.testing.assert_allclose(joined, exact.predict_latent(X=new[0], adjacency=new[1]), atol=0.05)
    found.save(tmp_path / "model.gpgc")
    for other in (gpgc.load(tmp_path / "model.gpgc"), pickle.loads(pickle.dumps(found))):
        np.testing.assert_allclose(other.predict_proba(), found.predict_proba(), atol=1e-8)
        again = other.predict_latent(X=new[0], adjacency=new[1])
        np.testing.assert_allclose(again, joined, atol=1e-8)
