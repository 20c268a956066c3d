r"""How much each view counts: one convex fit on what the views predict of labels left out.

Each view v is a Gaussian process of its own, and predicts every label from the others in closed
form. With these predictions :math:`M_v`, in units of :math:`r_v`, their usual size, weights are

.. math::
    \min_{t \ge 0}\; \sum_i w_i\, \ell\Big(y_i, \sum_v t_v M_{v,i}\Big)
        + \sum_v \frac{(t_v - \tau_v)^2}{2 s_v^2} + \lambda \sum_v (1 - b_v)\, t_v

where ℓ is the cross-entropy of a softmax for classes, and the squared error over twice its mean for
values. :math:`\tau_v` is what a view counts before labels say anything, so that with one label a
class, where nothing can be left out (w = 0), nothing is chosen by chance; :math:`b_v` is 1 for the
views that count then, and 0 for all others, which must gain λ nats a unit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from gpgc._typing import Array
from gpgc.compute import small_matrices
from gpgc.gp import residual_scale
from gpgc.probability.softmax import softmax_loss
from gpgc.selection.constants import (
    CLASS_PULL,
    CLASS_STD,
    LEAST_SHARE,
    OTHER_STD,
    STACKING_CONVERGED,
    VALUE_PULL,
    VALUE_ROUNDING,
    VALUE_ROUNDS,
    VALUE_STD,
)


def class_weights(left_out: Array, targets: Array, weights: Array, usual: Array) -> Array:
    """Return t (V,) of views of classes, from M / r (V, D, k), Y (D, k), w (D,) and τ (V,)."""
    if not weights.any():
        return usual

    def loss(t: Array) -> tuple[float, Array]:
        losses, excess = softmax_loss(np.tensordot(t, left_out, 1), targets)
        return float(weights @ losses), np.tensordot(left_out, weights[:, None] * excess, 2)

    std = np.where(usual > 0, np.maximum(usual, CLASS_STD), OTHER_STD)
    return _least(loss, usual, usual, std, CLASS_PULL)


def value_weights(left_out: Array, targets: Array, weights: Array, usual: Array) -> Array:
    """Return t (V,) of views of one target, from M (V, D), y (D,) centered, w (D,) and τ (V,)."""
    if not weights.any():
        return usual
    found = usual
    for _ in range(VALUE_ROUNDS):
        square = np.average((targets - found @ left_out) ** 2, weights=weights)
        scale = max(float(square), VALUE_ROUNDING * float(np.mean(targets**2)))
        if not scale:
            return usual

        def loss(t: Array, scale: float = scale) -> tuple[float, Array]:
            error = targets - t @ left_out
            slope = -(left_out @ (weights * error)) / scale
            return float(weights @ error**2) / (2 * scale), slope

        found = _least(loss, found, usual, np.full(len(usual), VALUE_STD), VALUE_PULL)
    return found


def value_inflation(errors: Array, variances: Array, weights: Array, n_chosen: int = 0) -> float:
    """Return c = (1 + S n / (n − p)) / (1 + n), S = Σ w (error² / variance) and n = Σ w.

    p numbers were chosen to make left-out errors small. One error more, as large as its variance
    says, keeps c from 0 with few values; where there are no errors at all, they say nothing.
    """
    n = float(weights.sum())
    squares = float(weights @ (errors**2 / variances)) * residual_scale(n, n_chosen) ** 2
    return (1 + squares) / (1 + n) if squares else 1.0


def _least(
    loss: Callable[[Array], tuple[float, Array]],
    start: Array,
    usual: Array,
    std: Array,
    pull: float,
) -> Array:
    """Return t ≥ 0 where the loss, the pull to τ and the linear term λ Σ (1 − b) t are least.

    b is 1 for views that count before labels say anything, less for those of small τ.
    """
    counting = usual / (usual.sum() or 1.0) * np.count_nonzero(usual)
    linear = pull * (1 - np.minimum(1.0, counting))

    def whole(t: Array) -> tuple[float, Array]:
        value, slope = loss(t)
        far = (t - usual) / std
        return value + 0.5 * float(far @ far) + float(linear @ t), slope + far / std + linear

    with small_matrices(len(start)):
        bounds = [(0.0, None)] * len(start)
        found = minimize(
            whole, start, jac=True, bounds=bounds, method="L-BFGS-B", options=STACKING_CONVERGED
        ).x
    return np.where(found < LEAST_SHARE * found.sum(), 0.0, found)
