"""The one file that holds the features of a data set and how they were made."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import DataError, InputError
from gpgc.files import pack_npz, read_npz, write_file

_FORMAT = "gpgc features 1"
_PARTS = ("train", "validation", "test")


@dataclass(frozen=True)
class FeatureSet:
    """Features of n images, their labels, the split, and how the features were made.

    Parameters
    ----------
    features : ndarray of float16 or float32, shape (n, d)
    labels : ndarray of int, shape (n,)
    train, validation, test : ndarray of int
        Indices of the images of each part; the parts are disjoint.
    provenance : dict
        How the features were made, as JSON can hold it.
    probabilities : ndarray of float32, shape (n, classes), or None
        The network's own class probabilities, where a network made the features.

    Examples
    --------
    >>> import numpy as np
    >>> parts = {"train": np.array([0]), "validation": np.array([1]), "test": np.array([2, 3])}
    >>> answer = np.eye(2, dtype=np.float32)[[0, 1, 0, 0]]
    >>> made = FeatureSet(np.ones((4, 3), np.float16), np.array([0, 1, 0, 1]), **parts,
    ...                   provenance={"method": "example"}, probabilities=answer)
    >>> made.network_accuracy("test")
    0.5
    """

    features: NDArray[np.floating[Any]]
    labels: NDArray[np.integer[Any]]
    train: NDArray[np.integer[Any]]
    validation: NDArray[np.integer[Any]]
    test: NDArray[np.integer[Any]]
    provenance: dict[str, Any]
    probabilities: NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        n = len(self.labels)
        if self.features.ndim != 2 or len(self.features) != n:
            raise InputError(f"features must have shape ({n}, d), got {self.features.shape}")
        if not np.isfinite(self.features).all():
            raise InputError("features must be finite, got NaN or infinity")
        split = np.concatenate([getattr(self, part) for part in _PARTS])
        if split.dtype.kind not in "iu" or (split < 0).any() or (split >= n).any():
            raise InputError(f"train, validation and test must be integers in [0, {n})")
        if len(np.unique(split)) != len(split):
            raise InputError("train, validation and test must be disjoint, got a repeated index")
        if self.probabilities is not None and (
            self.probabilities.ndim != 2 or len(self.probabilities) != n
        ):
            raise InputError(
                f"probabilities must have shape ({n}, classes), got {self.probabilities.shape}"
            )

    def network_accuracy(self, part: str) -> float:
        """Share of a part ("train", "validation", "test") that the network itself gets right."""
        if self.probabilities is None:
            raise InputError("probabilities must be given to know the network's own accuracy")
        index = getattr(self, part)
        return float(np.mean(self.probabilities[index].argmax(axis=1) == self.labels[index]))


def save_features(path: str | Path, made: FeatureSet) -> None:
    """Write a feature set as one compressed ``.npz``, whole or not at all.

    Features are stored in float16. Where a network made them, its own accuracy on the training,
    validation and test images is added to the provenance.
    """
    path = Path(path)
    provenance = dict(made.provenance)
    arrays: dict[str, Any] = {
        "format": np.array(_FORMAT),
        "features": made.features.astype(np.float16),
        "labels": made.labels.astype(np.int16),
        **{part: getattr(made, part).astype(np.int32) for part in _PARTS},
    }
    if made.probabilities is not None:
        arrays["probabilities"] = made.probabilities.astype(np.float16)
        provenance["network_accuracy"] = {part: made.network_accuracy(part) for part in _PARTS}
    arrays["provenance"] = np.array(json.dumps(provenance, sort_keys=True))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, pack_npz(arrays), sync=True)


def load_features(path: str | Path) -> FeatureSet:
    """Read a feature set that :func:`save_features` wrote; nothing in the file is executed.

    Features come back in float32, labels and indices in int64.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path} must be a file of features, but there is no such file")
    try:
        content = read_npz(path)
    except DataError as error:
        raise InputError(
            f"{path} must be an .npz file of features; it is cut short, damaged or other: {error}"
        ) from error
    needed = {"format", "features", "labels", "provenance", *_PARTS}
    if not needed <= set(content) or str(content["format"]) != _FORMAT:
        raise InputError(
            f"{path} must hold {sorted(needed)} in the form {_FORMAT!r}, got {sorted(content)}"
        )
    try:
        answers = content.get("probabilities")
        return FeatureSet(
            features=content["features"].astype(np.float32),
            labels=content["labels"].astype(np.int64),
            train=content["train"].astype(np.int64),
            validation=content["validation"].astype(np.int64),
            test=content["test"].astype(np.int64),
            provenance=json.loads(str(content["provenance"])),
            probabilities=None if answers is None else answers.astype(np.float32),
        )
    except ValueError as error:
        raise InputError(f"{path} holds features that do not fit together: {error}") from error
