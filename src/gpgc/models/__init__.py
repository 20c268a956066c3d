"""Infinitely wide graph networks: architectures by name, and what they make of a graph."""

from gpgc.models.appnp import APPNP
from gpgc.models.architecture import (
    REGISTRY,
    Architecture,
    KernelKind,
    ViewWeights,
    architecture_from,
    register,
)
from gpgc.models.broad import Broad
from gpgc.models.gcn import GCN
from gpgc.models.gcnii import GCNII
from gpgc.models.gin import GIN
from gpgc.models.graph_covariance import check_features, covariance
from gpgc.models.network import Network, NetworkInputs
from gpgc.models.precomputed import Precomputed
from gpgc.models.prior import JoinedCovariances, Prior
from gpgc.models.sage import SAGE
from gpgc.models.sgc import SGC

__all__ = [
    "APPNP",
    "GCN",
    "GCNII",
    "GIN",
    "REGISTRY",
    "SAGE",
    "SGC",
    "Architecture",
    "Broad",
    "JoinedCovariances",
    "KernelKind",
    "Network",
    "NetworkInputs",
    "Precomputed",
    "Prior",
    "ViewWeights",
    "architecture_from",
    "check_features",
    "covariance",
    "register",
]
