"""Labels stay equal; the rest stays to 1e-6 in float64 and to 1e-4 in float32.

Two classes whose probabilities differ by less than that may change places.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tests.pins.answers import answers, cases, path_of


@pytest.mark.parametrize(("dataset", "model", "dtype"), list(cases()))
def test_answers_stay(dataset, model, dtype):
    folder = os.environ.get("GPGC_DATA")
    if dataset != "digits" and not folder:
        pytest.skip("needs the real data: set GPGC_DATA to the folder that holds it")
    found = answers(dataset, model, dtype, Path(folder) if folder else None)
    tolerance = 1e-6 if dtype == "float64" else 1e-4
    decided = found.pop("margin") > tolerance
    assert np.mean(decided) > 0.999
    with np.load(path_of(dataset, model, dtype)) as pinned:
        assert set(pinned.files) == set(found)
        for name in pinned.files:
            if name == "label":
                np.testing.assert_array_equal(found[name][decided], pinned[name][decided])
            elif name == "suggested":
                np.testing.assert_array_equal(found[name], pinned[name], err_msg=name)
            else:
                np.testing.assert_allclose(
                    found[name], pinned[name], rtol=tolerance, atol=tolerance, err_msg=name
                )
