"""Gaussian process regression: plain linear algebra, no graph in it."""

from gpgc.gp.noise import NoisePath
from gpgc.gp.posterior import Posterior
from gpgc.gp.probability import largest_probability
from gpgc.gp.selection import NoiseChoice, choose_noise
from gpgc.gp.targetwise import TargetwisePosterior

__all__ = [
    "NoiseChoice",
    "NoisePath",
    "Posterior",
    "TargetwisePosterior",
    "choose_noise",
    "largest_probability",
]
