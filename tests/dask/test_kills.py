"""A worker killed in the middle of any phase costs its blocks, and the answer is the same."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip(
    "distributed", reason="gpgc.dask needs the extra dask: pip install 'gpgc[dask]'"
)

from gpgc.dask import DaskGPGCClassifier


@pytest.fixture(scope="module")
def undisturbed(cluster, problem, small_model):
    from distributed import Client

    with Client(cluster) as client:
        client.wait_for_workers(2)
        model = DaskGPGCClassifier(small_model, class_prior="labels", client=client)
        model.fit(problem.blocks(), problem.given, problem.edges())
        return model.predict_proba().compute()


@pytest.mark.parametrize(
    ("phase", "after"),
    [
        ("nearby_step-", 3),
        ("neighbour_step-", 3),
        ("diffusion_step-", 10),
        ("sums_of-", 1),
        ("mean_of-", 2),
    ],
    ids=["nearby", "degrees", "diffusion", "sums", "means"],
)
def test_a_worker_killed_while_fitting_changes_nothing(
    client, problem, small_model, undisturbed, kill_after, phase, after
):
    killer = kill_after(phase, after)
    model = DaskGPGCClassifier(small_model, class_prior="labels", client=client)
    model.fit(problem.blocks(), problem.given, problem.edges())
    assert killer.killed
    np.testing.assert_array_equal(model.predict_proba().compute(), undisturbed)


def test_a_worker_killed_while_predicting_changes_nothing(
    client, problem, small_model, undisturbed, kill_after
):
    model = DaskGPGCClassifier(small_model, class_prior="labels", client=client)
    model.fit(problem.blocks(), problem.given, problem.edges())
    killer = kill_after("", 1)
    found = model.predict_proba().compute()
    assert killer.killed
    np.testing.assert_array_equal(found, undisturbed)
