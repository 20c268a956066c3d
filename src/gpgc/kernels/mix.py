"""Weighted sums of covariances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.errors import InputError
from gpgc.kernels.covariance import Both, Covariance


class Mix(Covariance):
    """Σ_i w_i K_i: a weighted sum of covariances of the same nodes.

    Parameters
    ----------
    parts : sequence of Covariance
        K_i.
    weights : sequence of float, optional
        w_i ≥ 0; equal and summing to 1 when not given.
    """

    def __init__(self, parts: Sequence[Covariance], weights: Sequence[float] | None = None) -> None:
        if not parts or len({part.n_nodes for part in parts}) != 1:
            raise InputError(
                "parts must be covariances of the same nodes, "
                f"got {[part.n_nodes for part in parts]} nodes"
            )
        chosen = [1 / len(parts)] * len(parts) if weights is None else [float(w) for w in weights]
        if len(chosen) != len(parts) or not all(np.isfinite(w) and w >= 0 for w in chosen):
            raise InputError(
                f"weights must be {len(parts)} finite numbers of at least 0, got {weights!r}"
            )
        self.parts, self.weights = tuple(parts), tuple(chosen)
        tileable = all(part.tileable for part in parts)
        super().__init__(parts[0].n_nodes, parts[0].context, tileable=tileable)

    def __repr__(self) -> str:
        terms = zip(self.weights, self.parts, strict=True)
        return "(" + " + ".join(f"{weight:g} * {part!r}" for weight, part in terms) + ")"

    def _sum(self, answers: list[Array]) -> Array:
        total = answers[0] * self.weights[0]
        for weight, answer in zip(self.weights[1:], answers[1:], strict=True):
            total += weight * answer
        return total

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return Σ w_i K_i[rows, cols]."""
        return self._sum([part.block(rows, cols) for part in self.parts])

    def diag(self, rows: Index = None) -> Array:
        """Return Σ w_i diag(K_i)."""
        return self._sum([part.diag(rows) for part in self.parts])

    def dense(self) -> Array:
        """Return Σ w_i K_i."""
        return self._sum([part.dense() for part in self.parts])

    @property
    def rank(self) -> int | None:
        """The sum of the parts' ranks."""
        ranks = [part.rank for part in self.parts]
        return None if None in ranks else sum(rank for rank in ranks if rank is not None)

    def root(self, rows: Index = None) -> Array:
        """Return [√w_1 Φ_1, √w_2 Φ_2, …]."""
        terms = zip(self.weights, self.parts, strict=True)
        return np.hstack([self.dtype.type(w**0.5) * part.root(rows) for w, part in terms])

    def root_times(self, rows: Index, weights: Array) -> Array:
        """Return Σ √w_i Φ_i[rows] @ the weights of its columns."""
        ends = np.cumsum([part.rank or 0 for part in self.parts])
        blocks = np.split(weights, ends[:-1])
        terms = zip(self.weights, self.parts, blocks, strict=True)
        answers = [part.root_times(rows, w**0.5 * block) for w, part, block in terms]
        return np.asarray(sum(answers[1:], start=answers[0]))

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return Σ w_i K_i[rows, cols] @ V."""
        return self._sum([part.matmul(rows, cols, V) for part in self.parts])

    def both(self, rows: Index = None, cols: Index = None) -> Both:
        """Return Σ w_i K_i and Σ w_i Θ_i."""
        return self._sum_both([part.both(rows, cols) for part in self.parts])

    def both_diag(self, rows: Index = None) -> Both:
        """Return the diagonals of both."""
        return self._sum_both([part.both_diag(rows) for part in self.parts])

    def both_matmul(self, rows: Index, cols: Index, V: Any) -> Both:
        """Return both times V."""
        return self._sum_both([part.both_matmul(rows, cols, V) for part in self.parts])

    def both_local(self, groups: Integers) -> Both:
        """Return both within many small groups."""
        return self._sum_both([part.both_local(groups) for part in self.parts])

    def both_dense(self) -> Both:
        """Return both N × N matrices."""
        return self._sum_both([part.both_dense() for part in self.parts])

    def _sum_both(self, answers: list[Both]) -> Both:
        return self._sum([K for K, _ in answers]), self._sum([tangent for _, tangent in answers])

    def local(self, groups: Integers) -> Array:
        """Return Σ w_i K_i within many small groups."""
        return self._sum([part.local(groups) for part in self.parts])
