"""The handwritten digits, and what every loader of a data set returns."""

from gpgc.datasets.dataset import Dataset, random_split
from gpgc.datasets.digits import load_digits

__all__ = ["Dataset", "load_digits", "random_split"]
