"""Infinitely wide graph networks: architectures by name, and what they make of a graph."""

from gpgc.models.architecture import (
    GRAPH,
    REGISTRY,
    Architecture,
    ViewWeights,
    architecture_from,
    register,
)
from gpgc.models.broad import Broad
from gpgc.models.gcn import GCN
from gpgc.models.graph_covariance import check_features, covariance
from gpgc.models.prior import JoinedCovariance, Prior

__all__ = [
    "GCN",
    "GRAPH",
    "REGISTRY",
    "Architecture",
    "Broad",
    "JoinedCovariance",
    "Prior",
    "ViewWeights",
    "architecture_from",
    "check_features",
    "covariance",
    "register",
]
