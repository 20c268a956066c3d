"""A worker killed in the middle of any phase costs its blocks, and the answer is the same."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

pytest.importorskip(
    "distributed", reason="gpgc.dask needs the extra dask: pip install 'gpgc[dask]'"
)

from gpgc.dask import DaskGPGCClassifier
from gpgc.dask.cluster import Cluster, task
from gpgc.errors import InputError
from tests.dask.conftest import WORKERS_WITHIN


@pytest.fixture(scope="module")
def undisturbed(cluster, problem, small_model):
    from distributed import Client

    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=WORKERS_WITHIN)
        model = DaskGPGCClassifier(small_model, class_prior="labels", client=client)
        model.fit(problem.blocks(), problem.given, problem.edges())
        return model.predict_proba().compute()


@pytest.mark.parametrize(
    ("phase", "after"),
    [
        ("key_terms-", 3),
        ("product-", 40),
        ("weighed-", 2),
        ("answer-", 2),
    ],
    ids=["keys", "diffusion", "sums", "means"],
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


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_block_that_no_worker_survives_is_said(cluster, client, monkeypatch):
    """So ends a worker that takes more memory than it has: its nanny kills it."""
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    for wait in (Cluster(client).fetch, Cluster(client).finish):
        with pytest.raises(InputError, match="have memory for a block of X, got 1 that died"):
            wait([task(die, 1)], "waiting")
        client.wait_for_workers(2, timeout=WORKERS_WITHIN)
