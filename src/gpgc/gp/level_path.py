"""What noise levels are judged by, whatever it is computed from."""

from __future__ import annotations

from typing import Protocol, Self

from gpgc._typing import Array


class LevelPath(Protocol):
    """What noise levels are judged by."""

    @property
    def targets(self) -> Array:
        """Values of the labels that are left out in turn, of shape (D, k)."""

    @property
    def relative_noise(self) -> Array:
        """The noise of each label over σ², of shape (D,)."""

    @property
    def scale(self) -> float:
        """The mean prior variance of the labelled nodes, which relative noise refers to."""

    @property
    def rounding(self) -> float:
        """How far rounding has moved the eigenvalues of the labels' covariance."""

    def of_target(self, column: int) -> Self:
        """Return the path of one column of the targets."""

    def leave_one_out(self, noise: Array) -> tuple[Array, Array]:
        """Return leave-one-out means (n_levels, D, k) and variances (n_levels, D) with noise."""

    def log_marginal_likelihood(self, noise: Array) -> Array:
        """Return the log evidence of each level, summed over the columns of the targets."""
