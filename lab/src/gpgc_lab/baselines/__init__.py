"""The systems that the paper compares with, behind one interface; needs ``./lab[baselines]``.

Each system lives in a module of its own, which is imported when the system is first asked for:
nothing else in the package imports any of them.
"""

from gpgc_lab.baselines.registry import SYSTEMS, system
from gpgc_lab.problem import Prediction, Problem, System

__all__ = ["SYSTEMS", "Prediction", "Problem", "System", "system"]
