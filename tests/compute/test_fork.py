"""A forked process can fit, whatever its parent did before."""

import os
import subprocess
import sys

import pytest

FIT_FORK_FIT = """
import multiprocessing
import numpy as np
from gpgc import GPGCClassifier

rng = np.random.default_rng(0)
features, y = rng.normal(size=(1500, 20)), np.full(1500, -1)
y[:10] = np.arange(10) % 2

def fit(_):
    return GPGCClassifier("small", noise_variance=0.1).fit(features, y).predict()

if __name__ == "__main__":
    here = fit(0)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert (pool.apply_async(fit, (0,)).get(timeout=300) == here).all()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fit_fork_fit_does_not_hang_in_the_neighbor_search():
    environment = os.environ | {"OMP_NUM_THREADS": "2"}
    subprocess.run([sys.executable, "-c", FIT_FORK_FIT], env=environment, check=True, timeout=600)
