"""The algebra of covariances: few parts, each one formula, from which every model is built."""

from gpgc.kernels.activate import Activate
from gpgc.kernels.activations import ACTIVATIONS, Activation, activation_from
from gpgc.kernels.base_kernels import (
    BASE_KERNELS,
    ArcCosine,
    BaseKernel,
    InnerProduct,
    Polynomial,
    SquaredExponential,
    base_kernel_from,
)
from gpgc.kernels.centre import Centre
from gpgc.kernels.covariance import Covariance
from gpgc.kernels.cross import Cross
from gpgc.kernels.deep import Deep
from gpgc.kernels.dense_layer import DenseLayer
from gpgc.kernels.diffuse import Diffuse
from gpgc.kernels.features import Features
from gpgc.kernels.given import Given
from gpgc.kernels.low_rank import LowRank
from gpgc.kernels.mix import Mix
from gpgc.kernels.nystrom import Nystrom
from gpgc.kernels.periodic_activations import Cos, Sin
from gpgc.kernels.propagate import Propagate
from gpgc.kernels.rectifiers import LeakyReLU, ReLU, Step
from gpgc.kernels.smooth_activations import GELU, Erf, Identity
from gpgc.kernels.square import Square
from gpgc.kernels.tangent import Tangent
from gpgc.kernels.unit import Unit

__all__ = [
    "ACTIVATIONS",
    "BASE_KERNELS",
    "GELU",
    "Activate",
    "Activation",
    "ArcCosine",
    "BaseKernel",
    "Centre",
    "Cos",
    "Covariance",
    "Cross",
    "Deep",
    "DenseLayer",
    "Diffuse",
    "Erf",
    "Features",
    "Given",
    "Identity",
    "InnerProduct",
    "LeakyReLU",
    "LowRank",
    "Mix",
    "Nystrom",
    "Polynomial",
    "Propagate",
    "ReLU",
    "Sin",
    "Square",
    "SquaredExponential",
    "Step",
    "Tangent",
    "Unit",
    "activation_from",
    "base_kernel_from",
]
