"""Real data sets: found on this machine, else downloaded and verified, and read without trust."""

from gpgc_lab.datasets.catalogue import load_dataset
from gpgc_lab.datasets.images import ImageDataset, load_images
from gpgc_lab.datasets.npz_graph import load_npz_graph
from gpgc_lab.datasets.planetoid import load_planetoid
from gpgc_lab.datasets.splits import random_split

__all__ = [
    "ImageDataset",
    "load_dataset",
    "load_images",
    "load_npz_graph",
    "load_planetoid",
    "random_split",
]
