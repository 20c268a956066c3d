from __future__ import annotations

import subprocess
import sys

import numpy as np

from gpgc.datasets import load_digits


def test_digits() -> None:
    digits = load_digits(seed=3)
    assert digits.adjacency is None
    assert digits.features.shape == (1797, 64)
    assert (digits.features.min(), digits.features.max()) == (0, 1)
    assert digits.classes == tuple("0123456789")
    assert np.bincount(digits.labels[digits.train]).tolist() == [10] * 10
    assert len(digits.validation) == 0
    np.testing.assert_array_equal(
        np.sort(np.concatenate([digits.train, digits.test])), np.arange(1797)
    )
    assert (load_digits(seed=4).train != digits.train).any()


def test_importing_the_loaders_is_light() -> None:
    heavy = "{'pooch', 'requests', 'sklearn', 'scipy.io'} & set(sys.modules)"
    code = f"import sys, gpgc.datasets; print({heavy})"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "set()"
