"""Sums: the dense layer σ_b² + δ_W K, and weighted means of covariances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.errors import InputError
from gpgc.kernels.covariance import Columns, Covariance


def check_variances(weight_variance: float, bias_variance: float) -> None:
    """Refuse variances of weights and biases that are none."""
    if not np.isfinite(weight_variance) or weight_variance <= 0:
        raise InputError(f"weight_variance must be finite and above 0, got {weight_variance!r}")
    if not np.isfinite(bias_variance) or bias_variance < 0:
        raise InputError(f"bias_variance must be finite and at least 0, got {bias_variance!r}")


class Affine(Covariance):
    """σ_b² + δ_W K: an infinitely wide dense layer with bias (equation 8).

    Parameters
    ----------
    inner : Covariance
        K, of the layer's input.
    weight_variance : float
        δ_W, the variance of a weight times the width.
    bias_variance : float
        σ_b².
    """

    def __init__(
        self, inner: Covariance, weight_variance: float = 1.0, bias_variance: float = 0.0
    ) -> None:
        check_variances(weight_variance, bias_variance)
        self.inner = inner
        self.weight_variance, self.bias_variance = float(weight_variance), float(bias_variance)
        self.n_nodes, self.dtype, self.engine = inner.n_nodes, inner.dtype, inner.engine
        self.tileable = inner.tileable

    def __repr__(self) -> str:
        bias = f"{self.bias_variance:g} + " if self.bias_variance else ""
        return f"{bias}{self.weight_variance:g} * {self.inner!r}"

    def _apply(self, values: Array) -> Array:
        values *= self.weight_variance
        values += self.bias_variance
        return values

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return σ_b² + δ_W K[rows, cols]."""
        return self._apply(self.inner.block(rows, cols))

    def diag(self, rows: Index = None) -> Array:
        """Return σ_b² + δ_W diag(K)."""
        return self.weight_variance * self.inner.diag(rows) + self.bias_variance

    def dense(self) -> Array:
        """Return σ_b² + δ_W K."""
        return self._apply(self.inner.dense())

    def correlation(self, cols: Index = None) -> Columns:
        """Return the inner correlations where there is no bias, which δ_W does not change."""
        if self.bias_variance:
            return super().correlation(cols)
        inner, scale = self.inner.correlation(cols), self.dtype.type(self.weight_variance**0.5)

        def columns(rows: Index) -> tuple[Array, Array]:
            block, deviation = inner(rows)
            return block, scale * deviation

        return columns

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return σ_b² (1 1ᵀ) V + δ_W K[rows, cols] @ V."""
        out = self.inner.matmul(rows, cols, V)
        out *= self.weight_variance
        if self.bias_variance:
            out += self.bias_variance * np.asarray(V.sum(axis=0))
        return out

    def local(self, groups: Integers) -> Array:
        """Return σ_b² + δ_W K within many small groups."""
        return self._apply(self.inner.local(groups))


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
        first = parts[0]
        self.n_nodes, self.dtype, self.engine = first.n_nodes, first.dtype, first.engine
        self.tileable = all(part.tileable for part in parts)

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

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return Σ w_i K_i[rows, cols] @ V."""
        return self._sum([part.matmul(rows, cols, V) for part in self.parts])

    def local(self, groups: Integers) -> Array:
        """Return Σ w_i K_i within many small groups."""
        return self._sum([part.local(groups) for part in self.parts])
