from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpgc.errors import InputError
from gpgc_lab.datasets import random_split


@given(
    labels=st.lists(st.integers(-1, 3), max_size=60),
    per_class=st.integers(1, 4),
    n_validation=st.integers(0, 10),
    n_test=st.integers(0, 10),
    seed=st.integers(0, 2**32),
)
def test_a_split_is_what_was_asked_for_or_an_error(
    labels: list[int], per_class: int, n_validation: int, n_test: int, seed: int
) -> None:
    array = np.array(labels, dtype=np.int64)
    sizes = np.bincount(array[array >= 0], minlength=4)
    present = sizes[sizes > 0]
    possible = (present >= per_class).all() and (
        present.sum() - per_class * len(present) >= n_validation + n_test
    )
    if not possible:
        with pytest.raises(InputError, match="labels"):
            random_split(array, per_class, n_validation, n_test, seed)
        return
    parts = random_split(array, per_class, n_validation, n_test, seed)
    train, validation, test = parts
    assert (len(validation), len(test)) == (n_validation, n_test)
    counts = np.bincount(array[train], minlength=4)
    np.testing.assert_array_equal(counts, per_class * (sizes > 0))
    together = np.concatenate(parts)
    assert len(np.unique(together)) == len(together)
    assert (array[together] >= 0).all()
    for part, again in zip(
        parts, random_split(array, per_class, n_validation, n_test, seed), strict=True
    ):
        assert part.dtype == np.int64
        np.testing.assert_array_equal(part, np.sort(part))
        np.testing.assert_array_equal(part, again)


def test_another_seed_gives_another_split() -> None:
    labels = np.arange(200) % 2
    first, second = (random_split(labels, 20, 50, 50, seed) for seed in (0, 1))
    for part, other in zip(first, second, strict=True):
        assert (part != other).any()


@pytest.mark.parametrize(
    ("labels", "per_class", "n_validation", "n_test", "message"),
    [
        ([0, 0, 1], 2, 0, 0, "class 1 has only 1"),
        ([0, 0, 1, 1], 1, 2, 1, "only 2 labelled nodes remain"),
        ([0, 1], 0, 0, 0, "per_class"),
        ([0, 1], 1, -1, 0, "n_validation"),
        ([0, 1], 1, 0, -1, "n_test"),
        ([[0, 1]], 1, 0, 0, "one-dimensional"),
        ([0.0, 1.0], 1, 0, 0, "integers"),
    ],
)
def test_what_cannot_be_split_is_refused(
    labels: list[int], per_class: int, n_validation: int, n_test: int, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        random_split(labels, per_class, n_validation, n_test, seed=0)
