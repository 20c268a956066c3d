"""Thousands of labels on few distinct rows: a covariance that float32 makes indefinite."""

import numpy as np
import pytest

from gpgc import GPGCClassifier


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("noise", [2e-5, "loo"])
@pytest.mark.parametrize("model", ["small", "big", "broad"])
def test_minesweeper(lab_datasets, data_dir, model, noise):
    data = lab_datasets.load_npz_graph(data_dir / "graphs" / "minesweeper.npz", split=0)
    assert len(data.train) == 5000
    y = np.full(len(data.labels), -1)
    y[data.train] = data.labels[data.train]
    fitted = GPGCClassifier(model, noise_variance=noise)
    fitted.fit(data.features, y, adjacency=data.adjacency)
    assert (fitted.predict()[data.test] == data.labels[data.test]).mean() > 0.78


@pytest.mark.slow
@pytest.mark.parametrize("model", ["small", "big", "broad"])
def test_identical_rows(model):
    y = np.where(np.arange(3000) < 2500, np.arange(3000) % 2, -1)
    ring = (np.arange(3000), (np.arange(3000) + 1) % 3000)
    fitted = GPGCClassifier(model, noise_variance=1e-6).fit(np.ones((3000, 5)), y, adjacency=ring)
    np.testing.assert_allclose(fitted.predict_latent(), 0.5, atol=0.02)
