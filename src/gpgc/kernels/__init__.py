"""The algebra of covariances: few parts, each one formula, from which every model is built."""

from gpgc.kernels.activate import Activate, Chain
from gpgc.kernels.activations import (
    ACTIVATIONS,
    GELU,
    Activation,
    Cos,
    Erf,
    Identity,
    LeakyReLU,
    ReLU,
    Sin,
    Step,
    activation_from,
)
from gpgc.kernels.base_kernels import (
    BASE_KERNELS,
    ArcCosine,
    BaseKernel,
    InnerProduct,
    Polynomial,
    SquaredExponential,
    base_kernel_from,
)
from gpgc.kernels.center import Center
from gpgc.kernels.covariance import Covariance
from gpgc.kernels.deep import Deep
from gpgc.kernels.diffuse import Diffuse
from gpgc.kernels.features import Features
from gpgc.kernels.given import Cross, Given
from gpgc.kernels.low_rank import LowRank
from gpgc.kernels.mix import DenseLayer, Mix
from gpgc.kernels.nystrom import Nystrom
from gpgc.kernels.propagate import Propagate
from gpgc.kernels.square import Square
from gpgc.kernels.tangent import tangent

__all__ = [
    "ACTIVATIONS",
    "BASE_KERNELS",
    "GELU",
    "Activate",
    "Activation",
    "ArcCosine",
    "BaseKernel",
    "Center",
    "Chain",
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
    "activation_from",
    "base_kernel_from",
    "tangent",
]
