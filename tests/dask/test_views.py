"""Views of what is around nodes, of where they are and of columns: chosen as on one machine."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip(
    "distributed", reason="gpgc.dask needs the extra dask: pip install 'gpgc[dask]'"
)

import dask.array as da
import dask.dataframe as dd
import pandas as pd

from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.compute import Context
from gpgc.dask import DaskGPGCClassifier, DaskGPGCRegressor, field
from gpgc.dask.cluster import cluster_of
from gpgc.dask.describe import graph_of
from gpgc.dask.field import field_of
from gpgc.graph import Nodes, as_adjacency
from gpgc.models.broad import Broad
from gpgc.models.homophily import homophily_of
from gpgc.models.view import STANDARDIZED
from tests.dask.conftest import make_problem
from tests.selection.test_stacking import CASES, many_links

BY_LANDMARKS = Broad(exact_nodes=100, n_landmarks=120, one_hot_nodes=100)
SQUARES_BY_LANDMARKS = Broad(exact_nodes=100, n_landmarks=120)  # the other views are exact
MODELS = {"exact": Broad(), "mixed": SQUARES_BY_LANDMARKS, "landmarks": BY_LANDMARKS}


def in_blocks(features, links, n_blocks=3):
    frame = pd.DataFrame({"source": links[0], "target": links[1]})
    size = -(-len(features) // n_blocks)
    blocks = da.from_array(features, chunks=(size, features.shape[1]))
    return blocks, dd.from_pandas(frame, npartitions=2, sort=False)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("make", "view"), CASES)
def test_the_views_that_are_chosen_and_the_labels_are_those_of_one_machine(
    threads, make, view, model
):
    rng = np.random.default_rng(0)
    features, links, truth = make(rng)
    y = np.full(len(truth), -1)
    chosen = rng.choice(len(truth), 200, replace=False)
    y[chosen] = truth[chosen]
    local = GPGCClassifier(MODELS[model], dtype="float64").fit(features, y, links)
    X, edges = in_blocks(features, links)
    found = DaskGPGCClassifier(MODELS[model], client=threads, dtype="float64").fit(X, y, edges)
    assert found.view_weights_ == pytest.approx(local.view_weights_, rel=1e-6)
    assert found.approximations_ == local.approximations_
    assert np.mean(found.predict().compute() == local.predict()) == 1
    np.testing.assert_allclose(found.predict_proba().compute(), local.predict_proba(), atol=1e-6)


@pytest.mark.parametrize("model", ["exact", "landmarks"])
def test_numbers_take_the_same_views_with_the_same_spread(threads, model):
    rng = np.random.default_rng(0)
    features, links, _ = many_links(rng)
    degrees = np.bincount(np.concatenate(links), minlength=len(features))
    values = np.stack([np.log1p(degrees), 5 * features[:, 0]], axis=1)
    values += 0.2 * rng.standard_normal(values.shape)
    values[1::2] = np.nan
    local = GPGCRegressor(MODELS[model], dtype="float64").fit(features, values, links)
    X, edges = in_blocks(features, links)
    found = DaskGPGCRegressor(MODELS[model], client=threads, dtype="float64")
    found.fit(X, values, edges)
    assert found.view_weights_ == pytest.approx(local.view_weights_, rel=1e-6)
    assert {"degrees", "linear"} <= set(found.view_weights_)
    for part, expected in zip(found.predict(True), local.predict(return_std=True), strict=True):
        np.testing.assert_allclose(part.compute(), expected, atol=1e-6)


def described(client, problem, model, n_blocks):
    estimator = GPGCClassifier(model, dtype="float64")
    graph = graph_of(problem.blocks(n_blocks), problem.edges(), estimator, cluster_of(client))
    return graph, field_of(graph, model, np.flatnonzero(problem.given >= 0), Context())


@pytest.fixture(scope="module")
def uneven():
    """Return a problem that is seen in both scalings, with isolated nodes and small components."""
    problem = make_problem(n_nodes=600)
    X = problem.X.astype(np.float64) + 5
    X[:, 2] *= 1e3
    apart = (problem.source < 500) & (problem.target < 500)
    source = np.append(problem.source[apart], [520, 530])
    target = np.append(problem.target[apart], [521, 531])
    return problem._replace(X=X, source=source, target=target)


@pytest.mark.parametrize("n_blocks", [1, 7])
@pytest.mark.parametrize("model", ["exact", "landmarks"])
def test_covariances_of_all_views_are_those_of_one_machine(
    threads, uneven, model, n_blocks, monkeypatch
):
    if n_blocks == 1:  # PageRanks to hubs come in slices of 200 columns
        monkeypatch.setattr("gpgc.dask.describe.COLUMN_BYTES", 600 * 8 * 200)
    _, found = described(threads, uneven, MODELS[model], n_blocks)
    adjacency = as_adjacency((uneven.source, uneven.target), n_nodes=len(uneven.X))
    local = GPGCClassifier(MODELS[model], dtype="float64").make_prior(uneven.X, adjacency, 600)
    assert found.prior.views == local.views
    assert {"hubs", "walk", STANDARDIZED + "linear", STANDARDIZED + "graph"} <= set(local.views)
    assert found.prior.usual_shares() == pytest.approx(local.usual_shares())
    np.testing.assert_array_equal(found.prior.keys, local.keys[found.nodes])
    for name in local.views:
        nodes = found.nodes[found.labelled]
        if local.is_smoother(name):
            n_here, n_nodes = len(found.nodes), len(found.place)
            ours = found.prior.view(name).times(np.eye(n_nodes, n_here))[:n_here]
            theirs = local.view(name).block(found.nodes, found.nodes)
        else:
            ours = found.prior.view(name).block(found.labelled, found.labelled)
            theirs = local.view(name).block(nodes, nodes)
        np.testing.assert_allclose(ours, theirs, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("n_blocks", [1, 3])
def test_labels_are_those_of_the_local_estimator_in_both_scalings(threads, uneven, n_blocks):
    ends = (uneven.source, uneven.target)
    for standardize in ("auto", True, False):
        settings = {"standardize": standardize, "dtype": "float64"}
        local = GPGCClassifier(BY_LANDMARKS, **settings).fit(uneven.X, uneven.given, ends)
        found = DaskGPGCClassifier(BY_LANDMARKS, client=threads, **settings)
        found.fit(uneven.blocks(n_blocks), uneven.given, uneven.edges())
        assert found.standardization_ == local.standardization_
        assert found.view_weights_ == pytest.approx(local.view_weights_, rel=1e-6)
        ours, theirs = found.predict_proba().compute(), local.predict_proba()
        np.testing.assert_allclose(ours, theirs, atol=1e-6)
        np.testing.assert_allclose(found.to_local().predict_proba(), theirs, atol=1e-6)


def test_a_sample_decides_on_scaling_and_homophily_of_larger_graphs(threads):
    problem = make_problem(n_nodes=11_000, n_features=3)
    graph, found = described(threads, problem, BY_LANDMARKS, 3)
    adjacency = as_adjacency((problem.source, problem.target), n_nodes=len(problem.X))
    local = GPGCClassifier(BY_LANDMARKS).make_prior(problem.X, adjacency, 11_000)
    theirs = local.nodes.standardized.standardization
    np.testing.assert_allclose(graph.columns.beside.scale, theirs.scale, rtol=1e-10)
    nodes = Nodes(adjacency, local.nodes.features)
    assert found.prior.homophily == pytest.approx(homophily_of(nodes), abs=1e-9)


def test_the_place_on_the_graph_counts_on_a_cluster_as_on_one_machine(threads, small_model):
    rng = np.random.default_rng(0)
    source = np.repeat(np.arange(1200), 3)
    target = np.clip(source + rng.integers(-5, 6, len(source)), 0, 1199)
    truth, given = np.arange(1200) // 200, np.full(1200, -1)
    known = rng.choice(1200, 120, replace=False)
    given[known] = truth[known]
    features = rng.gamma(1.0, size=(1200, 3))
    local = GPGCClassifier(small_model, dtype="float64").fit(features, given, (source, target))
    assert np.mean(local.predict() == truth) > 0.8
    X, edges = in_blocks(features, (source, target))
    found = DaskGPGCClassifier(small_model, client=threads, dtype="float64").fit(X, given, edges)
    assert np.mean(found.predict().compute() == local.predict()) == 1
    assert {"hubs", "walk"} & set(found.view_weights_)


def test_a_view_that_is_left_out_is_said(threads, uneven, monkeypatch):
    monkeypatch.setattr(field, "FEW", 599)
    monkeypatch.setattr(field, "BUILT", tuple(name for name in field.BUILT if name != "hubs"))
    _, found = described(threads, uneven, BY_LANDMARKS, 2)
    assert not {"walk", "hubs"} & set(found.prior.views)
    said = found.prior.approximations(["features"])
    assert "without the view hubs" in said
    monkeypatch.setattr(field, "FEW", 5_000)
    _, found = described(threads, uneven, BY_LANDMARKS, 2)
    assert "walk" in found.prior.views


def test_rows_without_links_are_seen_by_their_own_features(threads):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), np.full(300, -1)
    y[:40] = X[:40, 0] > 0
    X[7] = 0
    frame = pd.DataFrame({"source": [7], "target": [7]})
    local = GPGCClassifier(BY_LANDMARKS, dtype="float64").fit(X, y, ([7], [7]))
    blocks, edges = in_blocks(X, frame.to_numpy().T)
    found = DaskGPGCClassifier(BY_LANDMARKS, client=threads, dtype="float64").fit(blocks, y, edges)
    np.testing.assert_allclose(found.predict_proba().compute(), local.predict_proba(), atol=1e-6)
