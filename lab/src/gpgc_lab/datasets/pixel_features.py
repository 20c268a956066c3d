"""Features that need no training: the pixels themselves, or their principal components."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from gpgc.errors import InputError


def pixel_features(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Pixels of each image in one row, from 0 to 1.

    Parameters
    ----------
    images : ndarray of uint8, shape (n, side, side) or (n, side, side, channels)

    Returns
    -------
    ndarray of float32, shape (n, side * side * channels)

    Examples
    --------
    >>> pixel_features(np.full((2, 28, 28), 255, np.uint8)).shape
    (2, 784)
    """
    if images.ndim not in (3, 4) or images.dtype != np.uint8:
        raise InputError(
            "images must be uint8 of shape (n, side, side) or (n, side, side, channels), got "
            f"{images.dtype} of shape {images.shape}"
        )
    return images.reshape(len(images), -1).astype(np.float32) / np.float32(255)


def pca_features(
    images: NDArray[np.uint8], components: int = 64, seed: int = 0
) -> NDArray[np.float32]:
    """Leading principal components of the pixels; labels play no part.

    Parameters
    ----------
    images : ndarray of uint8, shape (n, side, side) or (n, side, side, channels)
    components : int, optional
        At most the number of images and of pixels.
    seed : int, optional
        Seed of the randomised decomposition.

    Returns
    -------
    ndarray of float32, shape (n, components)

    Examples
    --------
    >>> images = np.random.default_rng(0).integers(0, 256, (50, 8, 8)).astype(np.uint8)
    >>> pca_features(images, components=5).shape
    (50, 5)
    """
    return principal_components(pixel_features(images), components, seed)


def principal_components(
    vectors: NDArray[np.float32], components: int, seed: int = 0
) -> NDArray[np.float32]:
    """Leading principal components of the rows of a matrix.

    Parameters
    ----------
    vectors : ndarray of float32, shape (n, d)
    components : int
        At most n and d.
    seed : int, optional
        Seed of the randomised decomposition.

    Returns
    -------
    ndarray of float32, shape (n, components)

    Examples
    --------
    >>> principal_components(np.eye(4, dtype=np.float32), 2).shape
    (4, 2)
    """
    if not 1 <= components <= min(vectors.shape):
        raise InputError(f"components must be in [1, {min(vectors.shape)}], got {components}")
    model: Any = PCA(components, svd_solver="randomized", random_state=seed)
    scores: NDArray[np.float32] = model.fit_transform(vectors).astype(np.float32)
    return scores
