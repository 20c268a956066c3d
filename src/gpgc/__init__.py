"""Exact Gaussian processes of infinitely wide graph convolutional networks.

Label a handful of nodes of a graph; get labels, probabilities and error bars for all the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gpgc.errors import DataError, GPGCWarning, InputError

if TYPE_CHECKING:
    from gpgc.estimators import GPGCClassifier, GPGCRegressor, load
    from gpgc.estimators.multilabel import MultilabelClassifier
    from gpgc.estimators.node_estimator import NodeEstimator
    from gpgc.labelling.label import label
    from gpgc.labelling.labelling import Labelling, suggest
    from gpgc.models import covariance
    from gpgc.problem import NodeTable, encode_table, from_igraph, from_networkx, from_pyg
    from gpgc.problem.votes import count_votes
    from gpgc.uncertainty.evaluation import evaluate

__version__ = "0.3.0"

__all__ = [
    "DataError",
    "GPGCClassifier",
    "GPGCRegressor",
    "GPGCWarning",
    "InputError",
    "Labelling",
    "MultilabelClassifier",
    "NodeEstimator",
    "NodeTable",
    "__version__",
    "count_votes",
    "covariance",
    "encode_table",
    "evaluate",
    "from_igraph",
    "from_networkx",
    "from_pyg",
    "label",
    "load",
    "suggest",
]

_HOMES = {
    "GPGCClassifier": "gpgc.estimators",
    "GPGCRegressor": "gpgc.estimators",
    "Labelling": "gpgc.labelling.labelling",
    "MultilabelClassifier": "gpgc.estimators.multilabel",
    "NodeEstimator": "gpgc.estimators.node_estimator",
    "NodeTable": "gpgc.problem",
    "count_votes": "gpgc.problem.votes",
    "covariance": "gpgc.models",
    "evaluate": "gpgc.uncertainty.evaluation",
    "encode_table": "gpgc.problem",
    "from_igraph": "gpgc.problem",
    "from_networkx": "gpgc.problem",
    "from_pyg": "gpgc.problem",
    "label": "gpgc.labelling.label",
    "load": "gpgc.estimators",
    "suggest": "gpgc.labelling.labelling",
}


def __getattr__(name: str) -> Any:
    if name in ("plot", "uncertainty"):
        return import_module(f"gpgc.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'gpgc' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
