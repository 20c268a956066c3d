"""Labels stay equal and the rest stays to 1e-6; float32 is near float64.

Two classes whose probabilities differ by less than that may change places.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tests.pins.answers import answers, cases, path_of

IN_FLOAT32, JOINED_IN_FLOAT32 = 1e-4, 2e-3
"""How far answers of float32 are from those of float64 at most. Nodes that join lean on a few
fitted ones, whose rows are rounded: 5e-4 on digits, and another processor rounds otherwise."""


@pytest.fixture
def data_dir(dataset):
    folder = os.environ.get("GPGC_DATA")
    if dataset != "digits" and not folder:
        pytest.skip("needs the real data: set GPGC_DATA to the folder that holds it")
    if dataset != "digits":
        pytest.importorskip("gpgc_lab.datasets", reason="needs the real data, read by gpgc-lab")
    return Path(folder) if folder else None


@pytest.mark.parametrize(("dataset", "model"), list(cases()))
def test_answers_stay(dataset, model, data_dir):
    found = answers(dataset, model, "float64", data_dir)
    decided = found.pop("margin") > 1e-6
    assert np.mean(decided) > 0.999
    with np.load(path_of(dataset, model)) as pinned:
        assert set(pinned.files) == set(found)
        for name in pinned.files:
            if name == "label":
                np.testing.assert_array_equal(found[name][decided], pinned[name][decided])
            elif name == "suggested":
                np.testing.assert_array_equal(found[name], pinned[name], err_msg=name)
            else:
                np.testing.assert_allclose(
                    found[name], pinned[name], rtol=1e-6, atol=1e-6, err_msg=name
                )


@pytest.mark.parametrize(("dataset", "model"), list(cases()))
def test_float32_answers_as_float64_does(dataset, model, data_dir):
    found = answers(dataset, model, "float32", data_dir)
    decided = found["margin"] > IN_FLOAT32
    with np.load(path_of(dataset, model)) as pinned:
        np.testing.assert_array_equal(found["label"][decided], pinned["label"][decided])
        for name in ("probability", "mean", "std", "left_out_mean", "class_prior", "joined"):
            atol = JOINED_IN_FLOAT32 if name == "joined" else IN_FLOAT32
            np.testing.assert_allclose(found[name], pinned[name], atol=atol, err_msg=name)
