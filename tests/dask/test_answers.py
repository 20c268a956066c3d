"""Answers of a cluster: those of the local estimator, and the same bits for any workers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip(
    "distributed", reason="gpgc.dask needs the extra dask: pip install 'gpgc[dask]'"
)

import dask.array as da
import dask.dataframe as dd
import pandas as pd

from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.dask import DaskGPGCClassifier, DaskGPGCRegressor
from gpgc.errors import InputError
from tests.dask.conftest import make_problem


def test_labels_and_probabilities_are_those_of_the_local_estimator(client, problem, small_model):
    model = DaskGPGCClassifier(small_model, client=client)
    model.fit(problem.blocks(), problem.given, problem.edges())
    local = GPGCClassifier(small_model).fit(
        problem.X, problem.given, adjacency=(problem.source, problem.target)
    )
    assert isinstance(model.predict(), da.Array)
    assert np.mean(model.predict().compute() == local.predict()) >= 0.999
    np.testing.assert_allclose(model.predict_proba().compute(), local.predict_proba(), atol=1e-4)
    mean, std = model.predict_latent(return_std=True)
    local_mean, local_std = local.predict_latent(return_std=True)
    np.testing.assert_allclose(mean.compute(), local_mean, atol=1e-4)
    np.testing.assert_allclose(std.compute(), local_std, atol=1e-4)
    assert model.view_weights_ == pytest.approx(local.view_weights_, rel=1e-6)
    assert model.approximations_ == local.approximations_
    np.testing.assert_allclose(model.noise_variance_, local.noise_variance_, rtol=1e-5)
    np.testing.assert_allclose(model.class_prior_, local.class_prior_, atol=1e-4)
    np.testing.assert_allclose(
        model.log_marginal_likelihood_, local.log_marginal_likelihood_, rtol=1e-4
    )
    assert model.labelled_nodes_.tolist() == local.labelled_nodes_.tolist()


def test_many_labels_as_a_dask_array_choose_the_noise_of_the_local_estimator(
    client, small_model, monkeypatch
):
    for name in ("MANY_LABELS", "LABELS_FOR_VIEWS"):
        monkeypatch.setattr(f"gpgc.selection.choice.{name}", 300)
        monkeypatch.setattr(f"gpgc.dask.base.{name}", 300)
    monkeypatch.setattr("gpgc.dask.spaces.MANY_LABELS", 300)
    problem = make_problem(n_labels=900, seed=1)
    y = da.from_array(problem.given, chunks=1700)
    model = DaskGPGCClassifier(small_model, client=client, dtype="float64")
    model.fit(problem.blocks(), y, problem.edges())
    local = GPGCClassifier(small_model, dtype="float64").fit(
        problem.X, problem.given, adjacency=(problem.source, problem.target)
    )
    np.testing.assert_allclose(model.noise_variance_, local.noise_variance_, rtol=1e-6)
    assert np.mean(model.predict().compute() == local.predict()) >= 0.999


def test_to_local_gives_the_same_answers(client, problem, small_model):
    model = DaskGPGCClassifier(small_model, client=client)
    model.fit(problem.blocks(), problem.given, problem.edges())
    local = model.to_local()
    assert isinstance(local, GPGCClassifier)
    np.testing.assert_allclose(local.predict_proba(), model.predict_proba().compute(), atol=1e-4)


def test_regression_is_that_of_the_local_estimator(client, problem, small_model):
    rng = np.random.default_rng(2)
    values = np.stack([problem.y * 3.0, problem.X[:, 0]], axis=1)
    values[rng.choice(len(values), 2800, replace=False)] = np.nan
    weighted = problem.edges().assign(weight=2.0)
    model = DaskGPGCRegressor(small_model, client=client)
    model.fit(problem.blocks(), da.from_array(values, chunks=(1100, 1)), weighted)
    ends = (problem.source, problem.target, np.full(len(problem.source), 2.0))
    local = GPGCRegressor(small_model).fit(problem.X, values, adjacency=ends)
    found, std = model.predict(return_std=True)
    expected, local_std = local.predict(return_std=True)
    np.testing.assert_allclose(found.compute(), expected, atol=2e-3)
    np.testing.assert_allclose(std.compute(), local_std, atol=2e-3)
    np.testing.assert_allclose(model.to_local().predict(), expected, atol=2e-3)


def test_isolated_and_blank_nodes_are_reached_as_on_one_machine(client, small_model):
    X = np.zeros((40, 4), dtype=np.float32)
    X[:10, 0], X[10:30, 1] = 1, 1  # rows from 30 on have no features
    frame = pd.DataFrame({"source": [0, 12, 31, 35], "target": [12, 31, 32, 36]})
    y = np.full(40, -1)
    y[[0, 1, 29]] = [0, 1, 1]
    model = DaskGPGCClassifier(small_model, client=client, noise_variance=0.1)
    model.fit(da.from_array(X, chunks=(11, 4)), y, dd.from_pandas(frame, npartitions=2))
    local = GPGCClassifier(small_model, noise_variance=0.1)
    local.fit(X, y, adjacency=(frame["source"], frame["target"]))
    np.testing.assert_allclose(model.predict_proba().compute(), local.predict_proba(), atol=1e-5)


@pytest.fixture(scope="module")
def fitted_bits(cluster, problem, small_model):
    """Return the bits of all answers with 1, 2 and 4 workers."""
    from distributed import Client

    bits = []
    for n_workers in (1, 4, 2):
        cluster.scale(n_workers)
        with Client(cluster) as client:
            client.wait_for_workers(n_workers)
            model = DaskGPGCClassifier(small_model, client=client)
            model.fit(problem.blocks(), problem.given, problem.edges())
            answers = [model.predict_proba(), *model.predict_latent(return_std=True)]
            bits.append([answer.compute().tobytes() for answer in answers])
    return bits


def test_answers_have_the_same_bits_with_1_2_and_4_workers(fitted_bits):
    assert fitted_bits[0] == fitted_bits[1] == fitted_bits[2]


def test_a_pickle_holds_parameters_and_no_client(client, problem, small_model):
    model = DaskGPGCClassifier(small_model, client=client)
    model.fit(problem.blocks(), problem.given, problem.edges())
    assert model.client_ is client
    other = pickle.loads(pickle.dumps(model))
    assert other.client is None
    assert other.model == small_model
    with pytest.raises(Exception, match="not fitted"):
        other.predict()


def test_models_without_a_root_in_blocks_are_refused(client, problem):
    with pytest.raises(InputError, match=r"model must be 'broad' on a cluster, .* got 'big'"):
        DaskGPGCClassifier("big", client=client).fit(
            problem.blocks(), problem.given, problem.edges()
        )


@pytest.fixture(scope="module")
def many_labels():
    """More labels than choose the noise in function space, and a rank below that number."""
    return make_problem(n_labels=2400, n_classes=5, seed=3)


@pytest.mark.parametrize("noise_variance", ["loo", "evidence"])
def test_many_labels_choose_the_local_noise_where_the_rank_is_small(
    client, small_model, many_labels, noise_variance
):
    ends = (many_labels.source, many_labels.target)
    settings = {"dtype": "float64", "noise_variance": noise_variance}
    model = DaskGPGCClassifier(small_model, client=client, **settings)
    model.fit(many_labels.blocks(), many_labels.given, many_labels.edges())
    local = GPGCClassifier(small_model, **settings)
    local.fit(many_labels.X, many_labels.given, adjacency=ends)
    np.testing.assert_allclose(model.noise_variance_, local.noise_variance_, rtol=1e-6)
    np.testing.assert_allclose(model.predict_proba().compute(), local.predict_proba(), atol=1e-4)


def test_many_values_choose_the_local_noise_where_the_rank_is_small(
    client, small_model, many_labels
):
    values = np.stack([many_labels.y * 3.0, many_labels.X[:, 0]], axis=1).astype(float)
    values[many_labels.given < 0] = np.nan
    model = DaskGPGCRegressor(small_model, client=client, dtype="float64")
    model.fit(many_labels.blocks(), values, many_labels.edges())
    local = GPGCRegressor(small_model, dtype="float64")
    local.fit(many_labels.X, values, adjacency=(many_labels.source, many_labels.target))
    np.testing.assert_allclose(model.noise_variance_, local.noise_variance_, rtol=1e-6)
