"""Gaussian process regression on covariances that are never stored."""

from gpgc.gp.condition import Space, condition, space_for
from gpgc.gp.factor import CholeskyFactor, Factor
from gpgc.gp.function_space import FunctionSpace
from gpgc.gp.gaps import GapGroup, gap_groups
from gpgc.gp.labelled_root import LabelledRoot
from gpgc.gp.level_path import LevelPath
from gpgc.gp.noise_path import NoisePath
from gpgc.gp.posterior import LeaveOneOut, Posterior
from gpgc.gp.targetwise import Targetwise
from gpgc.gp.weight_path import SampledLevels, WeightPath
from gpgc.gp.weight_space import WeightSpace

__all__ = [
    "CholeskyFactor",
    "Factor",
    "FunctionSpace",
    "GapGroup",
    "LabelledRoot",
    "LeaveOneOut",
    "LevelPath",
    "NoisePath",
    "Posterior",
    "SampledLevels",
    "Space",
    "Targetwise",
    "WeightPath",
    "WeightSpace",
    "condition",
    "gap_groups",
    "space_for",
]
