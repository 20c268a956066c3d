"""The pinned numbers of the citation networks, and the memory that they take."""

import numpy as np
import pytest

import gpgc
from gpgc.gp import NoisePath


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "expected"), [("cora", 0.8280), ("citeseer", 0.7090), ("pubmed", 0.7960)]
)
def test_pinned_accuracy_of_big(lab_datasets, data_dir, name, expected):
    """Inner product, raw features, noise by validation accuracy, the first of equals."""
    data = lab_datasets.load_planetoid(name, data_dir)
    covariance = gpgc.covariance(data.adjacency, data.features)
    path = NoisePath(
        covariance.block(data.train, data.train),
        np.eye(len(data.classes))[data.labels[data.train]],
    )
    noise = np.logspace(-3, 1, 101) * covariance.diag().mean()
    nodes = np.concatenate([data.validation, data.test])
    scores = covariance.block(nodes, data.train) @ path.at(noise).weights
    right = scores.argmax(axis=2) == data.labels[nodes]
    best = right[:, : len(data.validation)].mean(axis=1).argmax()
    assert right[best, len(data.validation) :].mean() == pytest.approx(expected, abs=0.002)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "least"), [("cora", 0.815), ("citeseer", 0.69), ("pubmed", 0.775)]
)
def test_the_default_without_validation_labels(lab_datasets, data_dir, name, least):
    data = lab_datasets.load_planetoid(name, data_dir)
    broad, big = gpgc.GPGCClassifier(), gpgc.GPGCClassifier("big")
    hits: dict[str, list[float]] = {"broad": [], "big": []}
    for seed in range(500, 504):
        train, _, _ = lab_datasets.random_split(data.labels, 20, 500, 1000, seed)
        y = np.full(len(data.labels), -1)
        y[train] = data.labels[train]
        rest = np.setdiff1d(np.flatnonzero(data.labels >= 0), train)
        for estimator in (broad, big):
            if seed == 500:
                estimator.fit(data.features, y, adjacency=data.adjacency)
            estimator.relabel(y)
            hits[estimator.model].append(
                float(np.mean(estimator.predict()[rest] == data.labels[rest]))
            )
    assert np.mean(hits["broad"]) > least
    assert np.mean(hits["broad"]) > np.mean(hits["big"])


@pytest.mark.data
def test_memory_of_the_default_stays_linear(lab_datasets, data_dir):
    """No block of N x N numbers: 20,000 nodes, data and imports fit in less than 1 GB.

    The peak is that of the process's own memory: the one that getrusage gives begins with the peak
    of the process that started it.
    """
    import subprocess
    import sys

    code = (
        "import re, sys, numpy as np, gpgc\n"
        "from gpgc_lab.datasets import load_planetoid\n"
        "data = load_planetoid('pubmed', sys.argv[1])\n"
        "y = np.full(len(data.labels), -1); y[data.train] = data.labels[data.train]\n"
        "gpgc.GPGCClassifier().fit(data.features, y, adjacency=data.adjacency).predict()\n"
        "status = open('/proc/self/status').read()\n"
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) / 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(data_dir)], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 1000
