"""Models as expressions of the algebra: the paper's networks, and a broader one."""

from gpgc.models.architecture import Architecture, Model, Network, build
from gpgc.models.graph_covariance import check_features, covariance

__all__ = ["Architecture", "Model", "Network", "build", "check_features", "covariance"]
