"""*precomputed*: a covariance that was computed elsewhere, as an N × N matrix in place of X."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context
from gpgc.errors import InputError
from gpgc.graph.nodes import JoinedNodes, NodeInputs, Nodes
from gpgc.kernels import Covariance, Given
from gpgc.models.architecture import Architecture, register

ASYMMETRY = 1e-5
"""Difference between Γ_mn and Γ_nm, relative to the largest entry, that passes as rounding."""


class PrecomputedInputs(NamedTuple):
    """The matrix, and how many of its last nodes are new, with unknown variances."""

    matrix: Array
    n_new: int
    context: Context


@dataclass(frozen=True, kw_only=True)
class Precomputed(Architecture):
    """Γ = X, symmetric and positive semi-definite, of shape (N, N); the graph is not looked at.

    New nodes join by their covariances with the fitted ones, rows of shape (M, N). Their own
    variances are not known, so their means are predicted and not their standard deviations.

    Examples
    --------
    >>> from gpgc import GPGCClassifier
    >>> gamma = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])
    >>> GPGCClassifier("precomputed").fit(gamma, [0, -1, 1]).predict()
    array([0, 0, 1])
    """

    needs_graph: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kernel != "nngp":
            raise InputError(
                "kernel must be 'nngp' for model='precomputed', whose matrix is no network, "
                f"got {self.kernel!r}"
            )

    def inputs(self, nodes: NodeInputs, context: Context) -> PrecomputedInputs:
        """Return the matrix, checked."""
        return PrecomputedInputs(checked(nodes.features), 0, context)

    def covariance(self, inputs: PrecomputedInputs) -> Covariance:
        """Return the matrix as a covariance."""
        matrix = np.asarray(inputs.matrix, dtype=inputs.context.dtype)
        known = len(matrix) - inputs.n_new
        return (
            _Known(matrix, inputs.context, known) if inputs.n_new else Given(matrix, inputs.context)
        )

    def field(self, inputs: PrecomputedInputs, joined: JoinedNodes, labelled: Integers) -> Integers:
        """Return the labelled and the new nodes."""
        return np.union1d(labelled, joined.new)

    def joined_inputs(
        self, inputs: PrecomputedInputs, joined: JoinedNodes, field: Integers, context: Context
    ) -> PrecomputedInputs:
        """Return the covariances of labelled and new nodes; those among new ones are not known."""
        old = field[: len(field) - len(joined.new)]
        new = joined.new_features
        cross = (new.toarray() if sp.issparse(new) else np.asarray(new))[:, old]
        matrix = np.zeros((len(field), len(field)))
        matrix[: len(old), : len(old)] = inputs.matrix[np.ix_(old, old)]
        matrix[len(old) :, : len(old)] = cross
        matrix[: len(old), len(old) :] = cross.T
        return PrecomputedInputs(matrix, len(joined.new), context)

    def sample(self, nodes: Nodes, width: int, rng: np.random.Generator) -> Array:
        """Return the covariance of ``width`` draws from a normal distribution with this one."""
        draws = rng.multivariate_normal(np.zeros(len(nodes)), checked(nodes.features), size=width)
        return np.asarray(draws.T @ draws / width)


class _Known(Given):
    """A matrix whose entries among the last nodes are not known."""

    def __init__(self, matrix: Array, context: Context, known: int) -> None:
        super().__init__(matrix, context)
        self.known = known

    def diag(self, rows: Index = None) -> Array:
        """Return variances, and refuse those that are not known."""
        if (self.indices(rows) >= self.known).any():
            raise InputError(
                "X must hold the variances of new nodes for their standard deviations, "
                "got model='precomputed' with their covariances with the fitted nodes alone"
            )
        return super().diag(rows)


def checked(matrix: Any) -> Array:
    """Return a covariance as an array, or say what is wrong with it."""
    dense = np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float64)
    if dense.ndim != 2 or dense.shape[0] != dense.shape[1]:
        raise InputError(
            f"X must be an N x N covariance for model='precomputed', got {dense.shape}"
        )
    largest = float(np.abs(dense).max(initial=0.0))
    if np.abs(dense - dense.T).max(initial=0.0) > ASYMMETRY * largest:
        raise InputError("X must be symmetric for model='precomputed', got a matrix that is not")
    if (np.diagonal(dense) < 0).any():
        raise InputError("X must have no negative variances for model='precomputed', got some")
    return (dense + dense.T) / 2


register("precomputed", Precomputed)
