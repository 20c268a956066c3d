"""What every posterior answers, whatever it is computed from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.gp.factor import Factor, LeaveOneOut
from gpgc.kernels import Covariance


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
    factor : Factor
        Of the labels and their targets; of each group where there are several.
    space : {"function", "weight"}
        Whether the matrices are of labels (D × D) or of weights (r × r).
    approximations : tuple of str
        What is not exact about the posterior, a phrase each.
    """

    space: Literal["function", "weight"]
    approximations: tuple[str, ...] = ()
    covariance: Covariance
    labelled: Integers
    targets: Array
    factor: Factor

    def __repr__(self) -> str:
        labels = f"{len(self.labelled):,} labels of {self.covariance.n_nodes:,} nodes"
        rank = f", rank {self.covariance.rank:,}" if self.space == "weight" else ""
        return f"posterior in {self.space} space, {labels}{rank}"

    @abstractmethod
    def mean(self, rows: Index = None) -> Array:
        """Return the posterior mean (n, k) of nodes; of all when not given."""

    def prior_variance(self, rows: Index = None) -> Array:
        """Return the variance (n,) of nodes before any label is known."""
        return np.asarray(self.covariance.diag(rows), dtype=np.float64)

    @abstractmethod
    def variance(self, rows: Index = None) -> Array:
        """Return the posterior variance (n,) of nodes, without noise; the same for all columns."""

    @abstractmethod
    def joint_covariance(self, rows: Index = None) -> Array:
        """Return the posterior covariance (n, n) of nodes."""

    def leave_one_out(self, among: Integers | None = None) -> LeaveOneOut:
        """Return how each label is predicted from all others, in closed form.

        Parameters
        ----------
        among : int array, optional
            Which labels, as indices of ``labelled``; all when not given.
        """
        return self.factor.leave_one_out(among)

    @abstractmethod
    def influence(self, rows: Index = None) -> Array:
        """Return S (n, D), of what each label adds to the mean of nodes: mean = S Y.

        Of shape (n, D, k) where targets have posteriors of their own.
        """

    def log_marginal_likelihood(self) -> float:
        """Return the log evidence, summed over the columns of the targets."""
        return float(self.factor.log_marginal_likelihood())

    @abstractmethod
    def elsewhere(self, covariance: Covariance, labelled: Integers) -> Posterior:
        """Return the same observations in a covariance that holds other nodes too.

        Its block among the labelled nodes must be the same.
        """
