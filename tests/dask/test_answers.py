"""Answers of a cluster: those of the local estimator, and the same bits for any workers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

pytest.importorskip(
    "distributed", reason="gpgc.dask needs the extra dask: pip install 'gpgc[dask]'"
)

import dask.array as da
import dask.dataframe as dd
import pandas as pd

from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.dask import DaskGPGCClassifier, DaskGPGCRegressor
from gpgc.dask.labels import BlockCovariance
from gpgc.errors import InputError
from tests.dask.conftest import make_problem

SETTINGS = {"dtype": "float64"}


def both(client, problem, model, n_blocks=3, **settings):
    """Return the same fit in blocks and in one process."""
    found = DaskGPGCClassifier(model, client=client, **settings)
    found.fit(problem.blocks(n_blocks), problem.given, problem.edges())
    local = GPGCClassifier(model, **settings)
    return found, local.fit(problem.X, problem.given, (problem.source, problem.target))


def assert_same(found, local, atol):
    np.testing.assert_array_equal(found.predict().compute(), local.predict())
    np.testing.assert_allclose(found.predict_proba().compute(), local.predict_proba(), atol=atol)
    answers = found.predict_latent(return_std=True), local.predict_latent(return_std=True)
    for ours, theirs in zip(*answers, strict=True):
        np.testing.assert_allclose(ours.compute(), theirs, atol=atol)
    assert found.view_weights_ == pytest.approx(local.view_weights_, rel=1e-6)
    assert found.approximations_ == local.approximations_
    assert found.space_ == local.space_
    np.testing.assert_allclose(found.noise_variance_, local.noise_variance_, rtol=1e-6)
    np.testing.assert_allclose(
        found.log_marginal_likelihood_, local.log_marginal_likelihood_, rtol=1e-6
    )
    assert found.labelled_nodes_.tolist() == local.labelled_nodes_.tolist()


@pytest.mark.parametrize("n_blocks", [1, 3, 7])
@pytest.mark.parametrize("n_labels", [60, 200], ids=["labels below the rank", "above"])
def test_all_answers_are_those_of_the_local_estimator(threads, small_model, n_labels, n_blocks):
    problem = make_problem(n_nodes=1500, n_labels=n_labels)
    assert_same(*both(threads, problem, small_model, n_blocks, **SETTINGS), 1e-6)


def test_small_graphs_whose_covariances_are_exact(threads):
    problem = make_problem(n_nodes=700, n_labels=60)
    assert_same(*both(threads, problem, "broad", **SETTINGS), 1e-6)


def test_single_floats_give_the_same_labels(threads, problem, small_model):
    found, local = both(threads, problem, small_model)
    assert np.mean(found.predict().compute() == local.predict()) >= 0.999
    np.testing.assert_allclose(found.predict_proba().compute(), local.predict_proba(), atol=1e-3)


@pytest.mark.parametrize("noise_variance", ["loo", "evidence", 0.05])
def test_many_labels_choose_the_noise_of_the_local_estimator(
    threads, small_model, monkeypatch, noise_variance
):
    for name in ("MANY_LABELS", "LABELS_FOR_VIEWS"):
        monkeypatch.setattr(f"gpgc.selection.choice.{name}", 150)
    problem = make_problem(n_nodes=1500, n_labels=300, n_classes=5, seed=1)
    settings = {"noise_variance": noise_variance, **SETTINGS}
    assert_same(*both(threads, problem, small_model, **settings), 1e-6)


@pytest.mark.parametrize("noise_variance", ["loo", 0.05])
def test_rows_of_more_labels_than_are_held_stay_in_blocks_and_are_summed_there(
    threads, small_model, monkeypatch, noise_variance
):
    asked = []
    for name in ("MANY_LABELS", "LABELS_FOR_VIEWS"):
        monkeypatch.setattr(f"gpgc.selection.choice.{name}", 150)
    monkeypatch.setattr("gpgc.dask.field.LABELS_HERE", 449)
    monkeypatch.setattr("gpgc.dask.labels.ROWS_AT_ONCE", 64)
    sum_root = BlockCovariance.sum_root
    monkeypatch.setattr(
        BlockCovariance, "sum_root", lambda *args: asked.append(args[0]) or sum_root(*args)
    )
    problem = make_problem(n_nodes=1500, n_labels=450, n_classes=5, seed=1)
    settings = {"noise_variance": noise_variance, **SETTINGS}
    assert_same(*both(threads, problem, small_model, 7, **settings), 1e-6)
    assert len(asked[0].labels.held) == small_model.n_landmarks


def test_values_of_many_nodes_are_summed_in_blocks(threads, small_model, monkeypatch):
    monkeypatch.setattr("gpgc.dask.field.LABELS_HERE", 449)
    problem = make_problem(n_nodes=1500, n_labels=450)
    values = np.where(problem.given >= 0, problem.X[:, 0] + problem.y, np.nan)
    found = DaskGPGCRegressor(small_model, client=threads, **SETTINGS)
    found.fit(problem.blocks(), values, problem.edges())
    ends = (problem.source, problem.target)
    local = GPGCRegressor(small_model, **SETTINGS).fit(problem.X, values, ends)
    for ours, theirs in zip(found.predict(True), local.predict(return_std=True), strict=True):
        np.testing.assert_allclose(ours.compute(), theirs, atol=1e-6)


def test_labels_as_a_dask_array_soft_labels_and_weights(threads, problem, small_model):
    ends = (problem.source, problem.target)
    rows = np.where(problem.given[:, None] >= 0, 0.1 + 0.7 * np.eye(3)[problem.given], np.nan)
    weights = np.linspace(0.5, 2, len(rows))
    local = GPGCClassifier(small_model, **SETTINGS)
    local.fit(problem.X, rows, ends, sample_weight=weights)
    found = DaskGPGCClassifier(small_model, client=threads, **SETTINGS)
    y = da.from_array(rows, chunks=(1700, 2))
    found.fit(problem.blocks(), y, problem.edges(), sample_weight=weights)
    assert_same(found, local, 1e-6)


def test_to_local_gives_the_same_answers(threads, problem, small_model):
    found, local = both(threads, problem, small_model, **SETTINGS)
    back = found.to_local()
    assert isinstance(back, GPGCClassifier)
    np.testing.assert_allclose(back.predict_proba(), local.predict_proba(), atol=1e-6)
    assert back.view_weights_ == pytest.approx(local.view_weights_)


def test_regression_with_gaps_and_weights_of_links(threads, problem, small_model):
    rng = np.random.default_rng(2)
    values = np.stack([problem.y * 3.0, problem.X[:, 0]], axis=1)
    values[rng.choice(len(values), 2900, replace=False)] = np.nan
    values[np.flatnonzero(~np.isnan(values[:, 0]))[:20], 1] = np.nan
    weighted = problem.edges().assign(weight=2.0)
    found = DaskGPGCRegressor(small_model, client=threads, **SETTINGS)
    found.fit(problem.blocks(), da.from_array(values, chunks=(1100, 1)), weighted)
    ends = (problem.source, problem.target, np.full(len(problem.source), 2.0))
    local = GPGCRegressor(small_model, **SETTINGS).fit(problem.X, values, ends)
    for ours, theirs in zip(found.predict(True), local.predict(return_std=True), strict=True):
        np.testing.assert_allclose(ours.compute(), theirs, atol=1e-5)
    np.testing.assert_allclose(found.noise_variance_, local.noise_variance_, rtol=1e-5)
    np.testing.assert_allclose(found.to_local().predict(), local.predict(), atol=1e-5)


def test_isolated_and_blank_nodes_are_reached_as_on_one_machine(threads, small_model):
    X = np.zeros((40, 4))
    X[:10, 0], X[10:30, 1] = 1, 1  # rows from 30 on have no features
    frame = pd.DataFrame({"source": [0, 12, 31, 35], "target": [12, 31, 32, 36]})
    y = np.full(40, -1)
    y[[0, 1, 29]] = [0, 1, 1]
    settings = {"noise_variance": 0.1, **SETTINGS}
    found = DaskGPGCClassifier(small_model, client=threads, **settings)
    found.fit(da.from_array(X, chunks=(11, 4)), y, dd.from_pandas(frame, npartitions=2))
    local = GPGCClassifier(small_model, **settings).fit(X, y, (frame["source"], frame["target"]))
    np.testing.assert_allclose(found.predict_proba().compute(), local.predict_proba(), atol=1e-6)


def test_answers_have_the_same_bits_with_1_2_and_4_workers(cluster, problem, small_model):
    """Those of 1 and 2 are processes, those of 4 are threads of this one."""
    from distributed import Client, LocalCluster

    alone = {"processes": False, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(n_workers=4, **alone) as threads:
        found = [answers_of(Client(each), problem, small_model) for each in (threads, cluster)]
    cluster.scale(1)
    found.append(answers_of(Client(cluster), problem, small_model))
    assert found[0] == found[1] == found[2]


def answers_of(client, problem, model):
    """Return the bits of all answers of a cluster."""
    with client:
        found = DaskGPGCClassifier(model, client=client)
        found.fit(problem.blocks(), problem.given, problem.edges())
        answers = [found.predict_proba(), *found.predict_latent(return_std=True)]
        return [answer.compute().tobytes() for answer in answers]


def test_a_pickle_holds_parameters_and_no_client(threads, problem, small_model):
    model = DaskGPGCClassifier(small_model, client=threads)
    model.fit(problem.blocks(), problem.given, problem.edges())
    assert model.client_ is threads
    other = pickle.loads(pickle.dumps(model))
    assert other.client is None
    assert other.model == small_model
    with pytest.raises(Exception, match="not fitted"):
        other.predict()


def test_parameters_are_those_of_the_local_estimator_but_a_few():
    model = DaskGPGCRegressor(standardize=True, dtype="float64")
    assert clone(model).get_params() == model.get_params()
    own, local = set(model.get_params()), set(GPGCRegressor().get_params())
    assert (own - local, local - own) == ({"client"}, {"learn", "n_neighbors", "kernel"})
    with pytest.raises(InputError, match="learn must be left out on a cluster, got True"):
        DaskGPGCClassifier(learn=True)


def test_models_without_a_root_in_blocks_are_refused(threads, problem):
    with pytest.raises(InputError, match=r"model must be 'broad' on a cluster, .* got 'big'"):
        DaskGPGCClassifier("big", client=threads).fit(
            problem.blocks(), problem.given, problem.edges()
        )


def test_the_memory_of_this_process_has_a_limit(threads, problem):
    model = DaskGPGCClassifier(client=threads, memory_limit="100KB")
    with pytest.raises(InputError, match="the covariance of 60 labels alone needs"):
        model.fit(problem.blocks(), problem.given, problem.edges())
