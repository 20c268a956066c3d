"""Graphs and features that many tests use."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import typer

pytest_plugins = ["tests.must_run"]


def random_graph(n_nodes: int, seed: int, density: float = 0.15, weighted: bool = False):
    rng = np.random.default_rng(seed)
    weights = sp.random_array((n_nodes, n_nodes), density=density, rng=rng, format="csr")
    if not weighted:
        weights.data[:] = 1.0
    return weights


@pytest.fixture(autouse=True, scope="session")
def commands_are_built_once():
    """Build the command line once for all calls in this process, as a process of its own does."""
    built = cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.main.get_command", built)
        patch.setattr("typer.testing._get_command", built)
        yield


@pytest.fixture
def awkward():
    """A weighted graph with isolated, featureless, duplicate and separate nodes, and features."""
    rng = np.random.default_rng(7)
    graph = random_graph(24, seed=3, weighted=True).tolil()
    features = rng.normal(size=(24, 5))
    for lonely in (0, 5):
        graph[lonely, :] = 0
        graph[:, lonely] = 0
    features[5] = 0
    features[9] = 0
    features[11] = features[12]
    graph[20:, :20] = 0
    graph[:20, 20:] = 0
    return graph.tocsr(), features


@pytest.fixture
def two_moons():
    """Two well-separated clouds with a few labels: features, labels with -1, truth."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 40)
    features = rng.normal(size=(80, 3)) + np.array([[4.0, 0, 0], [0, 4.0, 0]])[truth]
    labels = np.full(80, -1)
    labels[[0, 1, 2, 40, 41, 42]] = truth[[0, 1, 2, 40, 41, 42]]
    return features, labels, truth


@pytest.fixture
def data_dir() -> Path:
    folder = os.environ.get("GPGC_DATA")
    if not folder:
        pytest.skip("needs the real data: set GPGC_DATA to the folder that holds it")
    return Path(folder)


@pytest.fixture
def lab_datasets():
    """The loaders of real data sets, which are the laboratory's."""
    return pytest.importorskip("gpgc_lab.datasets", reason="needs the real data, read by gpgc-lab")
