"""Features of a user's own images from a network that somebody else trained.

PyTorch and Pillow are imported when a network or an image is first read.
"""

from gpgc.image_features.extract import extract_features
from gpgc.image_features.images import list_images
from gpgc.image_features.network import FrozenNetwork, load_network
from gpgc.problem.image_file import load_image_features

__all__ = [
    "FrozenNetwork",
    "extract_features",
    "list_images",
    "load_image_features",
    "load_network",
]
