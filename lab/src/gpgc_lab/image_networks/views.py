"""Images as the network sees them: standardised, augmented, and of the size that a step asks."""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from gpgc.errors import InputError
from gpgc_lab.image_networks.augmentation import Augmentation


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

    def augmented(self, index: Tensor, side: int, augmentation: Augmentation) -> Tensor:
        """Images changed at random, sampled at ``side`` pixels."""
        batch = self._batch(index)
        count = len(index)
        angle = _between(count, augmentation.rotation) * math.pi / 180
        scale = 1 + _between(count, augmentation.zoom)
        mirror = torch.where(torch.rand(count) < (0.5 if augmentation.flip else 0.0), -1.0, 1.0)
        moves = (
            torch.randint(-augmentation.shift, augmentation.shift + 1, (count, 2)) * 2 / self.side
        )
        cosine, sine = angle.cos() / scale, angle.sin() / scale
        maps = torch.stack(
            [
                torch.stack([cosine * mirror, -sine, moves[:, 0]], dim=1),
                torch.stack([sine * mirror, cosine, moves[:, 1]], dim=1),
            ],
            dim=1,
        )
        grid = functional.affine_grid(maps, [count, self.channels, side, side], align_corners=False)
        moved = functional.grid_sample(batch, grid, padding_mode="reflection", align_corners=False)
        if augmentation.colour:
            moved = recoloured(moved, augmentation.colour)
        if augmentation.cutout:
            moved = cut_out(moved, augmentation.cutout * side // self.side)
        return moved.contiguous(memory_format=torch.channels_last)

    def _batch(self, index: Tensor) -> Tensor:
        return (self._stack[index].float() - self._mean) / self._deviation


def draw(population: int, count: int) -> Tensor:
    """Return indices of a batch, drawn without replacement."""
    return torch.randperm(population)[:count]


def recoloured(images: Tensor, bound: float) -> Tensor:
    """Change contrast, brightness and the colour channels of standardised images at random."""
    count, channels = images.shape[:2]
    contrast = 1 + _between(count, bound).view(-1, 1, 1, 1)
    brightness = _between(count, bound).view(-1, 1, 1, 1)
    if channels == 1:
        return images * contrast + brightness
    tint = _between(count * channels, bound / 2).view(count, channels, 1, 1)
    return images * contrast + (brightness + tint)


def cut_out(images: Tensor, side: int) -> Tensor:
    """Set a square of each standardised image, centred anywhere in it, to 0."""
    count, _, height, width = images.shape
    top = torch.randint(0, height, (count, 1)) - side // 2
    left = torch.randint(0, width, (count, 1)) - side // 2
    row, column = torch.arange(height), torch.arange(width)
    rows = (row >= top) & (row < top + side)
    columns = (column >= left) & (column < left + side)
    return images.masked_fill((rows[:, :, None] & columns[:, None, :])[:, None], 0.0)


def _between(count: int, bound: float) -> Tensor:
    return (2 * torch.rand(count) - 1) * bound
