r"""Gaussian posteriors of latent functions whose largest names the class.

Each class has a latent function with the same covariance K(c); the label is the class of the
largest, but for a chance ε of being any other. The posterior at n labelled nodes is approximated by
a Gaussian per class with the precision :math:`K^{-1} + \Lambda` and the mean
:math:`(K^{-1} + \Lambda)^{-1} \lambda`, Λ diagonal, which is the form that the best Gaussian has.

References
----------
Khan and Lin, *Conjugate-computation variational inference* (2017).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

NOISE = 1e-3
"""Chance ε that the label is not that of the largest latent value."""
POINTS, WEIGHTS = (torch.from_numpy(a) for a in np.polynomial.hermite_e.hermegauss(20))
"""Gauss–Hermite quadrature of the standard normal distribution, weights not yet normalised."""


def chance_of_largest(mean: Tensor, variance: Tensor, classes: Tensor) -> Tensor:
    r"""Return the chance that the value of a given class is the largest of independent ones.

    :math:`\int N(z; m_y, v_y) \prod_{c \ne y} \Phi((z - m_c) / \sqrt{v_c})\, dz`, by quadrature.

    Parameters
    ----------
    mean, variance : Tensor of shape (C, n)
        Of the latent value of each class.
    classes : Tensor of int64, shape (n,)
        y.

    Returns
    -------
    Tensor of shape (n,)

    Examples
    --------
    >>> mean, variance = torch.zeros(2, 1), torch.ones(2, 1)
    >>> chance_of_largest(mean, variance, torch.tensor([1])).item()
    0.5
    """
    scale = variance.sqrt()
    own = classes[None]
    values = mean.gather(0, own) + scale.gather(0, own) * POINTS[:, None]
    below = torch.special.ndtr((values - mean[:, None]) / scale[:, None])
    others = below.scatter(0, own[None].expand(1, *values.shape), 1.0).prod(dim=0)
    chance: Tensor = (WEIGHTS / WEIGHTS.sum()) @ others
    return chance


@dataclass(frozen=True, eq=False)
class RobustMaxPosterior:
    """What is known of the latent functions, and of the parameter c of their covariance.

    Parameters
    ----------
    parameter : float
        c > 0.
    pull : Tensor of shape (C, n)
        K⁻¹ times the mean at the labelled nodes.
    root : Tensor of shape (C, n)
        Square root of the diagonal of Λ.
    factor : Tensor of shape (C, n, n)
        Cholesky factor of I + Λ^½ K Λ^½.
    """

    parameter: float
    pull: Tensor
    root: Tensor
    factor: Tensor

    @classmethod
    def learn(
        cls,
        covariance: Callable[[Tensor], Tensor],
        parameter: float,
        labels: Tensor,
        n_classes: int,
        steps: int,
        rate: float = 0.3,
    ) -> RobustMaxPosterior:
        """Climb the evidence lower bound: natural gradients for Λ and λ, Adam for log c.

        The bound's slope in c is taken as that of the evidence of the Gaussian model whose
        likelihood has the precision Λ, which is equal to it once Λ and λ have come to rest.

        Parameters
        ----------
        covariance : callable
            K (n, n), differentiable in c.
        parameter : float
            c to start from.
        labels : Tensor of int64, shape (n,)
            Class of each labelled node.
        n_classes, steps : int
            C, and how many steps to take.
        rate : float
            Of the natural gradient, at most one.
        """
        log_parameter = torch.tensor(math.log(parameter), dtype=torch.float64, requires_grad=True)
        optimiser = torch.optim.Adam([log_parameter], lr=0.05)
        precision, linear = torch.zeros((2, n_classes, len(labels)), dtype=torch.float64)
        for _ in range(steps):
            K = covariance(log_parameter.exp())
            root, factor, mean, variance = _moments(K.detach(), precision, linear)
            by_mean, by_variance = _slopes(mean, variance, labels)
            pull = linear - precision * mean
            shrink = root[:, :, None] * torch.cholesky_inverse(factor) * root[:, None, :]
            misfit = (shrink.sum(dim=0) * K).sum() - (pull @ K * pull).sum()
            optimiser.zero_grad()
            misfit.backward()
            optimiser.step()
            curvature = (-2 * by_variance).clamp(min=0)
            precision = torch.lerp(precision, curvature, rate)
            linear = torch.lerp(linear, by_mean + curvature * mean, rate)
        c = log_parameter.exp().detach()
        root, factor, mean, _ = _moments(covariance(c), precision, linear)
        return cls(c.item(), linear - precision * mean, root, factor)

    def probabilities(self, covariance: Tensor, prior: Tensor) -> NDArray[np.float64]:
        """Return the class probabilities (m, C) of other nodes.

        Parameters
        ----------
        covariance : Tensor of shape (n, m)
            Prior covariance of their latent values with those of the labelled nodes, at c.
        prior : Tensor of shape (m,)
            Prior variance of their latent values, at c.
        """
        mean = self.pull @ covariance
        seen = torch.linalg.solve_triangular(
            self.factor, self.root[:, :, None] * covariance, upper=False
        )
        variance = (prior - seen.square().sum(dim=1)).clamp(min=1e-9)
        n_classes, n_nodes = mean.shape
        chances = torch.stack(
            [
                chance_of_largest(mean, variance, torch.full((n_nodes,), label))
                for label in range(n_classes)
            ],
            dim=1,
        )
        noisy = (1 - NOISE) * chances + NOISE / max(n_classes - 1, 1) * (1 - chances)
        return np.asarray(noisy / noisy.sum(dim=1, keepdim=True))


def _slopes(mean: Tensor, variance: Tensor, labels: Tensor) -> tuple[Tensor, ...]:
    """Return the slopes of the expected log likelihood in means and variances (C, n)."""
    moments = mean.clone().requires_grad_(), variance.clone().requires_grad_()
    chance = chance_of_largest(*moments, labels)
    gain = math.log1p(-NOISE) - math.log(NOISE / max(len(mean) - 1, 1))
    slopes: tuple[Tensor, ...] = torch.autograd.grad(gain * chance.sum(), moments)
    return slopes


def _moments(K: Tensor, precision: Tensor, linear: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return Λ^½, the factor of I + Λ^½ K Λ^½, and means and variances (C, n)."""
    root = precision.sqrt()
    inner = root[:, :, None] * K * root[:, None, :]
    factor = torch.linalg.cholesky(inner + torch.eye(len(K), dtype=K.dtype))
    seen = torch.linalg.solve_triangular(factor, root[:, :, None] * K, upper=False)
    variance = K.diagonal() - seen.square().sum(dim=1)
    mean = linear @ K - (seen.mT @ (seen @ linear[:, :, None])).squeeze(2)
    return root, factor, mean, variance
