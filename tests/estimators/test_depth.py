"""Deep networks are exact, or say why not."""

import numpy as np
import pytest

from gpgc import GPGCClassifier
from gpgc.errors import InputError


def test_a_receptive_field_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr("gpgc.models.convolution.MOST_ENTRIES", 50)
    ring = (np.arange(12), (np.arange(12) + 1) % 12)
    y = np.where(np.arange(12) < 2, np.arange(12), -1)
    assert GPGCClassifier("big", depth=2).fit(None, y, adjacency=ring).predict().shape == (12,)
    with pytest.raises(InputError, match=r"depth=4 is too deep.*3 hops.*8 of 12 nodes.*depth=2"):
        GPGCClassifier("big", depth=4).fit(None, y, adjacency=ring)
    assert GPGCClassifier("small", depth=4).fit(None, y, adjacency=ring).predict().shape == (12,)
