"""The systems that the paper compares with, behind one interface; needs ``gpgc[baselines]``.

Each system lives in a module of its own, which is imported when the system is first asked for:
nothing else in the package imports any of them.
"""

from gpgc.baselines.problem import Outcome, Problem, System
from gpgc.baselines.registry import SYSTEMS, system

__all__ = ["SYSTEMS", "Outcome", "Problem", "System", "system"]
