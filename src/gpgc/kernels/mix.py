"""Weighted sums: averages of covariances, and dense layers with a bias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.errors import InputError
from gpgc.kernels.covariance import Columns, Covariance


class Mix(Covariance):
    """Σ_i w_i K_i + b, with w_i, b ≥ 0: a weighted sum of covariances of the same nodes.

    The weights are equal and sum to 1 when not given.
    """

    def __init__(
        self,
        parts: Sequence[Covariance],
        weights: Sequence[float] | None = None,
        constant: float = 0.0,
    ) -> None:
        if not parts or len({part.n_nodes for part in parts}) != 1:
            raise InputError(
                "parts must be covariances of the same nodes, "
                f"got {[part.n_nodes for part in parts]} nodes"
            )
        chosen = [1 / len(parts)] * len(parts) if weights is None else [float(w) for w in weights]
        numbers = np.array([*chosen, constant])
        if len(chosen) != len(parts) or not (np.isfinite(numbers) & (numbers >= 0)).all():
            raise InputError(
                f"weights must be {len(parts)} finite numbers of at least 0, and so must be the "
                f"constant, got {weights!r} and {constant!r}"
            )
        self.parts, self.weights, self.constant = tuple(parts), tuple(chosen), float(constant)
        tileable = all(part.tileable for part in parts)
        super().__init__(parts[0].n_nodes, parts[0].context, tileable=tileable)

    def __repr__(self) -> str:
        terms = zip(self.weights, self.parts, strict=True)
        return "(" + " + ".join(f"{weight:g} * {part!r}" for weight, part in terms) + ")"

    def _sum(self, answers: list[Array], constant: Any) -> Array:
        """Return Σ w_i times the answers, the first of which is overwritten, and a constant."""
        total = answers[0]
        total *= self.weights[0]
        for weight, answer in zip(self.weights[1:], answers[1:], strict=True):
            total += weight * answer
        if self.constant:
            total += constant
        return total

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return Σ w_i K_i[rows, cols] + b."""
        return self._sum([part.block(rows, cols) for part in self.parts], self.constant)

    def diag(self, rows: Index = None) -> Array:
        """Return Σ w_i diag(K_i) + b."""
        return self._sum([np.array(part.diag(rows)) for part in self.parts], self.constant)

    def dense(self) -> Array:
        """Return Σ w_i K_i + b."""
        return self._sum([np.array(part.dense()) for part in self.parts], self.constant)

    @property
    def rank(self) -> int | None:
        """The sum of the parts' ranks, and 1 for a constant."""
        ranks = [part.rank for part in self.parts]
        if None in ranks:
            return None
        return sum(rank for rank in ranks if rank is not None) + bool(self.constant)

    def root(self, rows: Index = None) -> Array:
        """Return [√w_1 Φ_1, √w_2 Φ_2, …, √b]."""
        roots = []
        for weight, part in zip(self.weights, self.parts, strict=True):
            roots.append(part.root(rows))
            roots[-1] *= self.dtype.type(weight**0.5)
        if self.constant:
            roots.append(np.full((len(roots[0]), 1), self.constant**0.5, dtype=self.dtype))
        return roots[0] if len(roots) == 1 else np.hstack(roots)

    def root_times(self, rows: Index, weights: Array) -> Array:
        """Return Σ √w_i Φ_i[rows] @ the weights of its columns, and √b times the last of them."""
        ends = np.cumsum([part.rank or 0 for part in self.parts])
        *blocks, of_constant = np.split(weights, ends)
        terms = zip(self.weights, self.parts, blocks, strict=True)
        answers = [part.root_times(rows, w**0.5 * block) for w, part, block in terms]
        answer = np.asarray(sum(answers[1:], start=answers[0]))
        if self.constant:
            answer += np.asarray(self.constant**0.5 * of_constant[0], dtype=answer.dtype)
        return answer

    def correlation(self, cols: Index = None) -> Columns:
        """Return those of a single part where there is no constant, which no weight changes."""
        if self.constant or len(self.parts) > 1:
            return super().correlation(cols)
        inner, scale = self.parts[0].correlation(cols), self.dtype.type(self.weights[0] ** 0.5)

        def columns(rows: Index) -> tuple[Array, Array]:
            block, std = inner(rows)
            return block, scale * std

        return Columns(columns, scale * inner.std)

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return Σ w_i K_i[rows, cols] @ V + b 1 1ᵀ V."""
        products = [part.matmul(rows, cols, V) for part in self.parts]
        return self._sum(products, self.constant * np.asarray(V.sum(axis=0)))

    def local(self, groups: Integers) -> Array:
        """Return Σ w_i K_i + b within many small groups."""
        return self._sum([part.local(groups) for part in self.parts], self.constant)


class DenseLayer(Mix):
    """σ_b² + δ_W K: an infinitely wide dense layer with bias (equation 8).

    ``fixed_variance`` is that of weights that are not trained: they add to δ_W, and of the tangent
    kernel σ_b² + δ_W (K + Θ) they pass on what is below.
    """

    def __init__(
        self,
        inner: Covariance,
        weight_variance: float = 1.0,
        bias_variance: float = 0.0,
        fixed_variance: float = 0.0,
    ) -> None:
        super().__init__([inner], [weight_variance + fixed_variance], bias_variance)
        self.inner, self.trained_variance = inner, float(weight_variance)

    def __repr__(self) -> str:
        bias = f"{self.constant:g} + " if self.constant else ""
        return f"{bias}{self.weights[0]:g} * {self.inner!r}"
