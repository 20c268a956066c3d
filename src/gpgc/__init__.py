"""Exact Gaussian processes of infinitely wide graph convolutional networks.

Label a handful of nodes of a graph; get labels, probabilities and error bars for all the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gpgc.errors import DataError, GPGCWarning, InputError

if TYPE_CHECKING:
    from gpgc.estimators import GPGCClassifier, GPGCRegressor, load, select
    from gpgc.models import covariance

__version__ = "0.1.0"

__all__ = [
    "DataError",
    "GPGCClassifier",
    "GPGCRegressor",
    "GPGCWarning",
    "InputError",
    "__version__",
    "covariance",
    "load",
    "select",
]

_HOMES = {
    "GPGCClassifier": "gpgc.estimators",
    "GPGCRegressor": "gpgc.estimators",
    "covariance": "gpgc.models",
    "load": "gpgc.estimators",
    "select": "gpgc.estimators",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'gpgc' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
