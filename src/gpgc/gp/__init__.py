"""Gaussian process regression on covariances that are never stored."""

from gpgc.gp.condition import Space, condition
from gpgc.gp.factor import CholeskyFactor, Factor
from gpgc.gp.function_space import FunctionSpace
from gpgc.gp.noise_path import NoisePath
from gpgc.gp.posterior import LeaveOneOut, Posterior
from gpgc.gp.targetwise import Targetwise
from gpgc.gp.weight_space import WeightSpace

__all__ = [
    "CholeskyFactor",
    "Factor",
    "FunctionSpace",
    "LeaveOneOut",
    "NoisePath",
    "Posterior",
    "Space",
    "Targetwise",
    "WeightSpace",
    "condition",
]
