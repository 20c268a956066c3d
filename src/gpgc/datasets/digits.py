"""The handwritten digits that come with scikit-learn."""

from __future__ import annotations

import numpy as np

from gpgc.datasets.dataset import Dataset, random_split

_PER_CLASS = 10
_GREY_LEVELS = 16


def load_digits(seed: int = 0) -> Dataset:
    """Load 1,797 digits of 8 x 8 pixels in [0, 1]; ten of each class train, the others test."""
    from sklearn.datasets import load_digits as load_pixels

    pixels, target = load_pixels(return_X_y=True)
    labels = np.asarray(target, dtype=np.int64)
    classes = np.unique(labels)
    n_test = len(labels) - _PER_CLASS * len(classes)
    train, validation, test = random_split(labels, _PER_CLASS, 0, n_test, seed)
    return Dataset(
        name="digits",
        adjacency=None,
        features=np.asarray(pixels, dtype=np.float64) / _GREY_LEVELS,
        labels=labels,
        classes=tuple(str(digit) for digit in classes),
        train=train,
        validation=validation,
        test=test,
    )
