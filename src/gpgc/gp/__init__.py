"""Gaussian process regression on covariances that are never stored."""

from gpgc.gp.condition import (
    Space,
    Targetwise,
    condition,
    gap_groups,
    space_for,
)
from gpgc.gp.factor import (
    CHOSEN_A_VIEW,
    Cholesky,
    LabelFactor,
    LeaveOneOut,
    NoisePath,
    factorised,
    left_out,
    residual_scale,
)
from gpgc.gp.function_space import FunctionSpace, label_gram
from gpgc.gp.posterior import Posterior
from gpgc.gp.smoother import Smoother
from gpgc.gp.stack import Stack, StackedView
from gpgc.gp.weight_space import LabelledRoot, RootFactor, WeightPath, WeightSpace

__all__ = [
    "CHOSEN_A_VIEW",
    "Cholesky",
    "FunctionSpace",
    "LabelFactor",
    "LabelledRoot",
    "LeaveOneOut",
    "NoisePath",
    "Posterior",
    "RootFactor",
    "Smoother",
    "Space",
    "Stack",
    "StackedView",
    "Targetwise",
    "WeightPath",
    "WeightSpace",
    "condition",
    "factorised",
    "gap_groups",
    "label_gram",
    "left_out",
    "residual_scale",
    "space_for",
]
