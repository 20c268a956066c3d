"""What every posterior answers, whatever it is computed from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from gpgc._typing import Array, Index, Integers
from gpgc.kernels import Covariance


class LeaveOneOut(NamedTuple):
    """How each label is predicted from the others: means (D, k), variances (D,) with noise."""

    mean: Array
    variance: Array


class Posterior(ABC):
    """A covariance conditioned on noisy values of D labelled nodes.

    Attributes
    ----------
    covariance : Covariance
        Γ of all nodes.
    labelled : int array of shape (D,)
        The labelled nodes.
    targets : array of shape (D, k)
        Y, their values.
    """

    covariance: Covariance
    labelled: Integers
    targets: Array

    @abstractmethod
    def mean(self, rows: Index = None) -> Array:
        """Return the posterior mean (n, k) of nodes; of all when not given."""

    @abstractmethod
    def variance(self, rows: Index = None) -> Array:
        """Return the posterior variance (n,) of nodes, without noise; the same for all columns."""

    @abstractmethod
    def joint_covariance(self, rows: Index = None) -> Array:
        """Return the posterior covariance (n, n) of nodes."""

    @abstractmethod
    def leave_one_out(self) -> LeaveOneOut:
        """Return how each label is predicted from the others, in closed form."""

    @abstractmethod
    def log_marginal_likelihood(self) -> float:
        """Return the log evidence, summed over the columns of the targets."""

    @abstractmethod
    def elsewhere(self, covariance: Covariance, labelled: Integers) -> Posterior:
        """Return the same observations in a covariance that holds other nodes too.

        Its block among the labelled nodes must be the same.
        """
