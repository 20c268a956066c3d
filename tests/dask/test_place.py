"""Where a node is on the graph, which features may not tell: not yet asked on a cluster."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip(
    "distributed", reason="gpgc.dask needs the extra dask: pip install 'gpgc[dask]'"
)

from gpgc import GPGCClassifier
from gpgc.dask import DaskGPGCClassifier
from tests.dask.conftest import Problem


@pytest.mark.xfail(strict=True, reason="a cluster has no view by PageRanks to hubs")
def test_the_place_on_the_graph_counts_on_a_cluster_as_on_one_machine(client, small_model):
    rng = np.random.default_rng(0)
    source = np.repeat(np.arange(1200), 3)
    target = np.clip(source + rng.integers(-5, 6, len(source)), 0, 1199)
    truth, given = np.arange(1200) // 200, np.full(1200, -1)
    known = rng.choice(1200, 120, replace=False)
    given[known] = truth[known]
    problem = Problem(rng.gamma(1.0, size=(1200, 3)), truth, source, target, given)
    local = GPGCClassifier(small_model).fit(problem.X, given, (source, target))
    assert np.mean(local.predict() == truth) > 0.8
    model = DaskGPGCClassifier(small_model, client=client)
    model.fit(problem.blocks(3), given, problem.edges())
    assert np.mean(model.predict().compute() == local.predict()) >= 0.99
