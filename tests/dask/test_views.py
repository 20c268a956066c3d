"""Views of what is around nodes: chosen, and computed in blocks, as on one machine."""

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
from gpgc.dask import DaskGPGCClassifier, DaskGPGCRegressor
from gpgc.dask.cluster import cluster_of, task
from gpgc.dask.described import Model, n_rows, stacked
from gpgc.dask.graph import graph_of
from gpgc.graph import Nodes, as_adjacency
from gpgc.models.broad import Broad
from gpgc.models.broad_inputs import FEATURE_VIEWS
from gpgc.models.likeness import likeness_of
from gpgc.models.prior import Prior
from tests.dask.conftest import make_problem
from tests.selection.test_view_choice import CASES, many_links

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
    client, make, view, model
):
    rng = np.random.default_rng(0)
    features, links, truth = make(rng)
    y = np.full(len(truth), -1)
    chosen = rng.choice(len(truth), 200, replace=False)
    y[chosen] = truth[chosen]
    local = GPGCClassifier(MODELS[model]).fit(features, y, links)
    X, edges = in_blocks(features, links)
    found = DaskGPGCClassifier(MODELS[model], client=client).fit(X, y, edges)
    assert found.view_weights_[view] > 0
    assert found.view_weights_ == pytest.approx(local.view_weights_, abs=1e-3)
    assert found.approximations_ == local.approximations_
    assert np.mean(found.predict().compute() == local.predict()) >= 0.999
    np.testing.assert_allclose(found.predict_proba().compute(), local.predict_proba(), atol=2e-3)
    assert np.mean(found.to_local().predict() == local.predict()) >= 0.999


@pytest.mark.parametrize("model", ["exact", "landmarks"])
def test_numbers_take_the_same_views_with_the_same_spread(client, model):
    rng = np.random.default_rng(0)
    features, links, _ = many_links(rng)
    degrees = np.bincount(np.concatenate(links), minlength=len(features))
    values = np.stack([np.log1p(degrees), features[:, 0]], axis=1)
    values += 0.2 * rng.standard_normal(values.shape)
    values[1::2] = np.nan
    local = GPGCRegressor(MODELS[model]).fit(features, values, links)
    X, edges = in_blocks(features, links)
    found = DaskGPGCRegressor(MODELS[model], client=client).fit(X, values, edges)
    assert found.view_weights_ == pytest.approx(local.view_weights_, abs=1e-3)
    assert found.view_weights_["degrees"] > 0
    for part, expected in zip(found.predict(True), local.predict(return_std=True), strict=True):
        np.testing.assert_allclose(part.compute(), expected, atol=5e-3)


def graph_in_blocks(client, problem, model, n_blocks, dtype="float64"):
    labelled = np.flatnonzero(problem.given >= 0)
    cluster = cluster_of(client)
    X, edges = problem.blocks(n_blocks), problem.edges()
    return graph_of(X, labelled, edges, model, "symmetric", "none", "auto", dtype, cluster)


def same(rows):
    return rows


@pytest.fixture
def rows_of_blocks(monkeypatch):
    """Return a function that gives the rows of each block, put together from several parts."""
    monkeypatch.setattr("gpgc.dask.described.ROWS_AT_ONCE", 50)

    def found(graph, views):
        blocks = graph.cluster.fetch(task(same, rows) for rows in graph.rows(views))
        parts = [list(block.parts()) for block in blocks]
        assert min(map(len, parts)) > 1
        return [stacked(some) for some in parts]

    return found


@pytest.fixture(scope="module")
def small_problem():
    return make_problem(n_nodes=600)


@pytest.mark.parametrize("n_blocks", [1, 7])
@pytest.mark.parametrize("model", ["exact", "landmarks"])
def test_rows_of_blocks_are_those_of_one_machine(
    client, small_problem, rows_of_blocks, model, n_blocks
):
    problem, architecture = small_problem, MODELS[model]
    adjacency = as_adjacency((problem.source, problem.target), n_nodes=len(problem.X))
    nodes = Nodes(adjacency, problem.X)
    graph = graph_in_blocks(client, problem, architecture, n_blocks)
    blocks = rows_of_blocks(graph, FEATURE_VIEWS)
    reference, *labelled = graph.cluster.fetch([graph.landmarks, *graph.labelled_rows])
    landmarks = architecture.landmarks(nodes)
    for view in FEATURE_VIEWS:
        expected = architecture.view_inputs(view, nodes, Context()).described.rows
        for reach, local in enumerate(expected):
            unit, lengths = (np.asarray(_dense(part)) for part in local.take(None))
            if view == "structure" and model == "landmarks":
                unit = unit[:, unit[landmarks].any(axis=0)]
            for where, rows in (
                (np.arange(len(nodes)), blocks),
                (np.arange(len(nodes)) if landmarks is None else landmarks, [reference.rows]),
                (np.flatnonzero(problem.given >= 0), labelled),
            ):
                found = [part[view][reach] for part in rows]
                given = np.concatenate([_dense(part.directions) for part in found])
                np.testing.assert_allclose(given, unit[where], atol=1e-6)
                given = np.concatenate([part.lengths for part in found])
                np.testing.assert_allclose(given, lengths[where], atol=1e-6)
    assert sum(map(n_rows, blocks)) == len(nodes)
    assert graph.likeness == pytest.approx(likeness_of(nodes), abs=1e-7)


def _dense(rows):
    return rows.toarray() if hasattr(rows, "toarray") else rows


def test_likeness_of_a_large_graph_is_that_of_the_same_sample(client):
    problem = make_problem(n_nodes=11_000, n_features=3)
    graph = graph_in_blocks(client, problem, BY_LANDMARKS, 3, "float32")
    adjacency = as_adjacency((problem.source, problem.target), n_nodes=len(problem.X))
    expected = likeness_of(Nodes(adjacency, problem.X))
    assert graph.likeness == pytest.approx(expected, abs=1e-6)


def test_covariances_of_all_views_are_those_of_one_machine(client, small_problem, rows_of_blocks):
    problem = small_problem
    adjacency = as_adjacency((problem.source, problem.target), n_nodes=len(problem.X))
    prior = Prior(BY_LANDMARKS, Nodes(adjacency, problem.X))
    graph = graph_in_blocks(client, problem, BY_LANDMARKS, 4)
    reference = graph.cluster.fetch_one(graph.landmarks)
    labelled = np.flatnonzero(problem.given >= 0)
    for view in FEATURE_VIEWS:
        model = Model(BY_LANDMARKS, {view: 1.0}, "float64")
        blocks = rows_of_blocks(graph, [view])
        every = [model.covariance(reference, rows) for rows in blocks]
        roots = [part.root(np.arange(len(reference), part.n_nodes)) for part in every]
        root = np.concatenate(roots)
        expected = prior.view(view).block(None, labelled)
        np.testing.assert_allclose(root @ root[labelled].T, expected, atol=1e-6)


def test_rows_of_all_views_have_the_same_bits_with_1_and_2_workers(
    cluster, small_problem, rows_of_blocks
):
    from distributed import Client

    bits = []
    for n_workers in (1, 2):
        cluster.scale(n_workers)
        with Client(cluster) as client:
            client.wait_for_workers(n_workers)
            graph = graph_in_blocks(client, small_problem, BY_LANDMARKS, 5, "float32")
            blocks = rows_of_blocks(graph, FEATURE_VIEWS)
        parts = [part for rows in blocks for reaches in rows.values() for part in reaches]
        bits.append([_dense(part.directions).tobytes() for part in parts])
    assert bits[0] == bits[1]
