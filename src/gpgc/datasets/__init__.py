"""Real data sets: found on this machine, else downloaded and verified, and read without trust."""

from gpgc.datasets.catalogue import load_dataset
from gpgc.datasets.dataset import Dataset, random_split
from gpgc.datasets.digits import load_digits
from gpgc.datasets.images import ImageDataset, load_images
from gpgc.datasets.npz_graph import load_npz_graph
from gpgc.datasets.planetoid import load_planetoid

__all__ = [
    "Dataset",
    "ImageDataset",
    "load_dataset",
    "load_digits",
    "load_images",
    "load_npz_graph",
    "load_planetoid",
    "random_split",
]
