"""What the posterior is good for: calibration, prediction sets, novel nodes, what to label next."""

from gpgc.uncertainty.novelty import novelty

__all__ = ["novelty"]
