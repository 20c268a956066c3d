"""Propagation over more than one hop, applied step by step and never formed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array
from gpgc.errors import InputError


class Diffusion(Protocol):
    """A linear operator P on functions of the nodes."""

    def apply(self, values: Any) -> Array:
        """Return P @ values for values of shape (N, k)."""

    def apply_transposed(self, values: Any) -> Array:
        """Return Pᵀ @ values for values of shape (N, k)."""


@dataclass(frozen=True, eq=False)
class Power:
    """S^steps: as many hops of a sparse matrix.

    Examples
    --------
    >>> Power(sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]])), 2).apply(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """

    matrix: sp.csr_array
    steps: int

    def __post_init__(self) -> None:
        check_steps(self.steps)

    def __repr__(self) -> str:
        return f"power({self.steps})"

    def apply(self, values: Any) -> Array:
        """Return S^steps @ values."""
        return _repeat(self.matrix, values, self.steps)

    def apply_transposed(self, values: Any) -> Array:
        """Return (Sᵀ)^steps @ values."""
        return _repeat(sp.csr_array(self.matrix.T), values, self.steps)


@dataclass(frozen=True, eq=False)
class PageRank:
    r"""Personalised PageRank: Z ← (1 − teleport) S Z + teleport X, ``steps`` times from Z = X.

    The first terms of :math:`a (I - (1-a) S)^{-1}`: a mean over walks of all lengths, shorter ones
    weighing more.

    Parameters
    ----------
    matrix : csr_array of shape (N, N)
        S.
    teleport : float
        a, in (0, 1]; the smaller, the farther it reaches.
    steps : int
        How often.

    Examples
    --------
    >>> pair = sp.csr_array(np.full((2, 2), 0.5))
    >>> PageRank(pair, teleport=0.1, steps=10).apply(np.eye(2)).round(4)
    array([[0.55, 0.45],
           [0.45, 0.55]])
    """

    matrix: sp.csr_array
    teleport: float = 0.1
    steps: int = 10

    def __post_init__(self) -> None:
        check_steps(self.steps)
        if not 0 < self.teleport <= 1:
            raise InputError(f"teleport must lie above 0 and up to 1, got {self.teleport!r}")

    def __repr__(self) -> str:
        return f"pagerank({self.teleport:g})"

    def apply(self, values: Any) -> Array:
        """Return P @ values."""
        return self._iterate(self.matrix, values)

    def apply_transposed(self, values: Any) -> Array:
        """Return Pᵀ @ values."""
        return self._iterate(sp.csr_array(self.matrix.T), values)

    def _iterate(self, matrix: sp.csr_array, values: Any) -> Array:
        restart = self.teleport * _dense(values)
        current = _dense(values)
        step = sp.csr_array((1 - self.teleport) * matrix).astype(restart.dtype)
        for _ in range(self.steps):
            current = step @ current
            current += restart
        return np.asarray(current)


def check_steps(steps: int) -> None:
    """Refuse a number of steps that is none."""
    if int(steps) != steps or steps < 1:
        raise InputError(f"steps must be a whole number of at least 1, got {steps!r}")


def _repeat(matrix: sp.csr_array, values: Any, steps: int) -> Array:
    current = _dense(values)
    for _ in range(steps):
        current = matrix @ current
    return np.asarray(current)


def _dense(values: Any) -> Array:
    return np.asarray(values.toarray() if sp.issparse(values) else values)
