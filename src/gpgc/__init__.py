"""Exact Gaussian processes of infinitely wide graph convolutional networks."""

from gpgc.errors import DataError, GPGCWarning, InputError

__version__ = "0.1.0"

__all__ = ["DataError", "GPGCWarning", "InputError", "__version__"]
