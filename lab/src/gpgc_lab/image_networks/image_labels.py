"""Which labels a training run may see, and for what."""

import hashlib
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from gpgc.errors import InputError


@dataclass(frozen=True)
class ImageLabels:
    """Images with labels for the gradients, and others with labels to choose the checkpoint.

    Attributes
    ----------
    labelled, labels : Tensor of int64
        Indices of the labelled images, and their classes.
    validation, validation_labels : Tensor of int64
        Indices of the validation images, and their classes.
    classes : int
    """

    labelled: Tensor
    labels: Tensor
    validation: Tensor
    validation_labels: Tensor
    classes: int

    @classmethod
    def checked(
        cls, count: int, labels: ArrayLike, validation: tuple[ArrayLike, ArrayLike]
    ) -> Self:
        """Check the labels of ``count`` images, -1 where not given, and the validation pair."""
        given = np.asarray(labels, dtype=np.int64)
        index, answers = (np.asarray(part, dtype=np.int64) for part in validation)
        if given.shape != (count,):
            raise InputError(f"labels must have shape ({count},), got {given.shape}")
        classes = int(given.max(initial=-1)) + 1
        if classes < 2:
            raise InputError(f"labels must name at least two classes, got {classes}")
        if index.ndim != 1 or index.shape != answers.shape or not index.size:
            raise InputError(
                "validation must be indices and labels of one length, got shapes "
                f"{index.shape} and {answers.shape}"
            )
        if index.min() < 0 or index.max() >= count:
            raise InputError(f"validation indices must be in [0, {count}), got {index}")
        if (given[index] >= 0).any():
            raise InputError("validation images must have the label -1 in labels")
        labelled = np.flatnonzero(given >= 0)
        return cls(
            torch.from_numpy(labelled),
            torch.from_numpy(given[labelled]),
            torch.from_numpy(index),
            torch.from_numpy(answers),
            classes,
        )

    def fingerprint(self, images: NDArray[np.uint8]) -> str:
        """Hash of the images and of all that a run may know of them."""
        digest = hashlib.sha256(np.ascontiguousarray(images).tobytes())
        for part in (self.labelled, self.labels, self.validation, self.validation_labels):
            digest.update(part.numpy().tobytes())
        return digest.hexdigest()
