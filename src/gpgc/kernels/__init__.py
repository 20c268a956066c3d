"""The algebra of covariances: few parts, each one formula, from which every model is built."""

from gpgc.kernels.activate import Activate, relu_correlation
from gpgc.kernels.base import (
    BASE_KERNELS,
    ArcCosine,
    BaseKernel,
    InnerProduct,
    Polynomial,
    SquaredExponential,
    base_kernel_from,
)
from gpgc.kernels.centre import Centre
from gpgc.kernels.combine import Affine, Mix
from gpgc.kernels.covariance import Covariance
from gpgc.kernels.features import Features
from gpgc.kernels.landmarks import Square, Unit
from gpgc.kernels.layers import DenseLayers, GraphLayers
from gpgc.kernels.propagate import Diffuse, Propagate

__all__ = [
    "BASE_KERNELS",
    "Activate",
    "Affine",
    "ArcCosine",
    "BaseKernel",
    "Centre",
    "Covariance",
    "DenseLayers",
    "Diffuse",
    "Features",
    "GraphLayers",
    "InnerProduct",
    "Mix",
    "Polynomial",
    "Propagate",
    "Square",
    "SquaredExponential",
    "Unit",
    "base_kernel_from",
    "relu_correlation",
]
