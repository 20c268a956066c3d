"""Deep networks are exact, or say why not."""

import numpy as np
import pytest

from gpgc import GPGCClassifier
from gpgc.errors import InputError


def test_a_receptive_field_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr("gpgc.models.gcn.MOST_ENTRIES", 50)
    ring = (np.arange(12), (np.arange(12) + 1) % 12)
    y = np.where(np.arange(12) < 2, np.arange(12), -1)
    assert GPGCClassifier("big", depth=2).fit(None, y, adjacency=ring).predict().shape == (12,)
    with pytest.raises(InputError, match=r"depth=4 is too deep.*3 hops.*8 of 12 nodes.*depth=2"):
        GPGCClassifier("big", depth=4).fit(None, y, adjacency=ring)
    assert GPGCClassifier("small", depth=4).fit(None, y, adjacency=ring).predict().shape == (12,)


def test_deep_covariances_that_do_not_fit_are_refused_with_both_numbers():
    ring = (np.arange(1000), (np.arange(1000) + 1) % 1000)
    y = np.where(np.arange(1000) < 2, np.arange(1000), -1)
    with pytest.raises(InputError, match=r"memory_limit is 4 MiB, but .* deep .* needs 11 MiB"):
        GPGCClassifier("big", depth=9, memory_limit=2**22).fit(None, y, adjacency=ring)


@pytest.mark.parametrize("model", ["small", "big", "broad"])
def test_five_hundred_layers_fit_and_take_new_nodes(model):
    ring = (np.arange(12), (np.arange(12) + 1) % 12)
    y = np.where(np.arange(12) < 2, np.arange(12), -1)
    fitted = GPGCClassifier(model, depth=500).fit(None, y, adjacency=ring)
    mean, std = fitted.predict_latent(adjacency=np.eye(12)[:2], return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
