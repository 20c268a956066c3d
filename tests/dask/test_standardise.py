"""Features in unequal units: standardised on a cluster as on one machine."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

pytest.importorskip(
    "distributed", reason="gpgc.dask needs the extra dask: pip install 'gpgc[dask]'"
)

import dask.array as da

from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.dask import DaskGPGCClassifier, DaskGPGCRegressor
from gpgc.dask.standardise import moments_of
from gpgc.errors import GPGCWarning, InputError
from tests.dask.conftest import make_problem


@pytest.fixture(scope="module")
def uneven():
    """Return a problem whose clusters are shifted, with one column in a unit 1e6 times larger."""
    problem = make_problem(seed=3)
    X = problem.X.astype(np.float64) + 5
    X[:, 2] *= 1e6
    return problem._replace(X=X)


@pytest.fixture(scope="module")
def local(uneven, small_model):
    ends = (uneven.source, uneven.target)
    return GPGCClassifier(small_model).fit(uneven.X, uneven.given, adjacency=ends)


@pytest.mark.parametrize("n_blocks", [1, 4, 7])
def test_labels_are_those_of_the_local_estimator_however_rows_are_cut(
    client, uneven, local, small_model, n_blocks
):
    model = DaskGPGCClassifier(small_model, client=client)
    model.fit(uneven.blocks(n_blocks), uneven.given, uneven.edges())
    assert local.standardisation_.startswith("columns centred and scaled: ")
    assert model.standardisation_ == local.standardisation_
    assert np.mean(model.predict().compute() == local.predict()) >= 0.999
    np.testing.assert_allclose(model.predict_proba().compute(), local.predict_proba(), atol=1e-4)


def test_to_local_standardises_once_and_knows_how_nodes_join(client, uneven, local, small_model):
    model = DaskGPGCClassifier(small_model, client=client)
    model.fit(uneven.blocks(), uneven.given, uneven.edges())
    back = model.to_local()
    assert back.standardise == "auto"
    assert back.standardisation_ == local.standardisation_
    np.testing.assert_allclose(back.predict_proba(), local.predict_proba(), atol=1e-4)
    joined = uneven.X[100:104], sp.eye_array(4, len(uneven.X), k=100, format="csr")
    np.testing.assert_allclose(back.predict_proba(*joined), local.predict_proba(*joined), atol=1e-4)


def test_a_sample_decides_on_large_graphs_too(client, uneven, small_model, monkeypatch):
    monkeypatch.setattr("gpgc.estimators.standardise.SAMPLED_ROWS", 70)
    X = uneven.X.copy()
    X[1::43] *= 3  # of 43 rows one is looked at, and it is not one of these
    ends = (uneven.source, uneven.target)
    local = GPGCClassifier(small_model).fit(X, uneven.given, adjacency=ends)
    model = DaskGPGCClassifier(small_model, client=client)
    model.fit(uneven._replace(X=X).blocks(5), uneven.given, uneven.edges())
    assert model.standardisation_ == local.standardisation_
    assert np.mean(model.predict().compute() == local.predict()) >= 0.999


def test_false_warns_as_on_one_machine_and_true_always_acts(client, uneven, small_model):
    ends = (uneven.source, uneven.target)
    given = (uneven.blocks(), uneven.given, uneven.edges())
    with pytest.warns(GPGCWarning, match="not scaled: column 2 .* standardise='auto'") as warned:
        model = DaskGPGCClassifier(small_model, standardise=False, client=client).fit(*given)
    assert [found.filename for found in warned] == [__file__]
    assert model.standardisation_ is None
    even = make_problem(seed=3)
    local = GPGCClassifier(small_model, standardise=True)
    local.fit(even.X, even.given, adjacency=ends)
    model = DaskGPGCClassifier(small_model, standardise=True, client=client)
    model.fit(even.blocks(), even.given, even.edges())
    assert (
        model.standardisation_
        == local.standardisation_
        == "columns centred and scaled: as asked for"
    )
    np.testing.assert_allclose(model.predict_proba().compute(), local.predict_proba(), atol=1e-4)


def test_features_in_one_unit_stay(client, problem, small_model):
    model = DaskGPGCClassifier(small_model, client=client)
    model.fit(problem.blocks(), problem.given, problem.edges())
    assert model.standardisation_ is None


def test_regression_on_centred_columns(client, small_model):
    problem = make_problem(n_nodes=1000, seed=4)
    problem = problem._replace(X=problem.X + 50)
    values = np.where(np.arange(1000) % 9, np.nan, problem.y)
    model = DaskGPGCRegressor(small_model, client=client)
    model.fit(problem.blocks(3), da.from_array(values, chunks=400), problem.edges())
    ends = (problem.source, problem.target)
    local = GPGCRegressor(small_model).fit(problem.X, values, adjacency=ends)
    assert model.standardisation_ == local.standardisation_
    assert model.standardisation_.startswith("columns centred: ")
    np.testing.assert_allclose(model.predict().compute(), local.predict(), atol=2e-3)


def test_moments_of_single_floats_far_from_zero_are_those_of_doubles():
    means = np.array([0, 1e3, 1e5])
    rows = np.random.default_rng(0).normal(means, size=(10_000, 3)).astype(np.float32)
    moments, exact = moments_of(rows), rows.astype(np.float64)
    np.testing.assert_allclose(moments.mean, exact.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(moments.std, exact.std(axis=0), rtol=1e-10)


def test_a_parameter_like_any_other(client, uneven):
    model = DaskGPGCClassifier(standardise="yes", client=client)
    assert clone(DaskGPGCRegressor(standardise=True)).get_params()["standardise"] is True
    with pytest.raises(InputError, match="standardise must be 'auto', True or False, got 'yes'"):
        model.fit(uneven.blocks(), uneven.given, uneven.edges())
