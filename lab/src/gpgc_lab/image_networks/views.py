"""Images as the network sees them: standardised, augmented, and of the size that a step asks."""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from gpgc.errors import InputError
from gpgc_lab.image_networks.schedule import Schedule


class ImageViews:
    """A stack of images from which batches are taken.

    Parameters
    ----------
    images : ndarray of uint8, shape (n, side, side) or (n, side, side, channels)
        Each channel is standardised to mean 0 and variance 1 over the whole stack.
    """

    def __init__(self, images: NDArray[np.uint8]) -> None:
        stack = images[..., None] if images.ndim == 3 else images
        if stack.ndim != 4 or stack.dtype != np.uint8 or stack.shape[1] != stack.shape[2]:
            raise InputError(
                "images must be uint8 of shape (n, side, side) or (n, side, side, channels), got "
                f"{images.dtype} of shape {images.shape}"
            )
        self.side: int = stack.shape[1]
        self.channels: int = stack.shape[3]
        self._stack = torch.from_numpy(np.ascontiguousarray(stack)).permute(0, 3, 1, 2)
        mean = stack.mean(axis=(0, 1, 2))
        deviation = np.maximum(stack.std(axis=(0, 1, 2)), 1e-6)
        self._mean = torch.tensor(mean, dtype=torch.float32).view(1, -1, 1, 1)
        self._deviation = torch.tensor(deviation, dtype=torch.float32).view(1, -1, 1, 1)

    def __len__(self) -> int:
        return int(self._stack.shape[0])

    def plain(self, index: Tensor, side: int) -> Tensor:
        """Images as they are, averaged down to ``side``: (batch, channels, side, side)."""
        return functional.adaptive_avg_pool2d(self._batch(index), side).contiguous(
            memory_format=torch.channels_last
        )

    def augmented(self, index: Tensor, side: int, schedule: Schedule) -> Tensor:
        """Images shifted, turned, scaled and mirrored at random, sampled at ``side`` pixels."""
        batch = self._batch(index)
        count = len(index)
        angle = _between(count, schedule.rotation) * math.pi / 180
        scale = 1 + _between(count, schedule.zoom)
        mirror = torch.where(torch.rand(count) < (0.5 if schedule.flip else 0.0), -1.0, 1.0)
        moves = torch.randint(-schedule.shift, schedule.shift + 1, (count, 2)) * 2 / self.side
        cosine, sine = angle.cos() / scale, angle.sin() / scale
        maps = torch.stack(
            [
                torch.stack([cosine * mirror, -sine, moves[:, 0]], dim=1),
                torch.stack([sine * mirror, cosine, moves[:, 1]], dim=1),
            ],
            dim=1,
        )
        grid = functional.affine_grid(maps, [count, self.channels, side, side], align_corners=False)
        return functional.grid_sample(
            batch, grid, padding_mode="border", align_corners=False
        ).contiguous(memory_format=torch.channels_last)

    def _batch(self, index: Tensor) -> Tensor:
        return (self._stack[index].float() - self._mean) / self._deviation


def _between(count: int, bound: float) -> Tensor:
    return (2 * torch.rand(count) - 1) * bound
