"""The constants that choices by labels depend on: formula, and the study that set each.

Formulas with λ, s, t, τ and b: :mod:`gpgc.selection.stacking`. With those of
:mod:`gpgc.probability` and of the views no more than 35 steer the default;
``tests/selection/test_constants.py`` counts them. *Sketch*: the objective as it was written down
before it was scored on 14 graphs, 20 cells of tables and 21 of values. *Notes*:
``lab/notes/version-0.2.md``.
"""

from __future__ import annotations

import numpy as np

LABELS_FOR_VIEWS = 1000
"""min(D, this) labels choose the weights of the views. Notes."""

MANY_LABELS = 2000
"""min(D, this) labels choose the noise in function space: time, D³."""

CALIBRATION_LABELS = 4000
"""min(D, this) labels fit the temperature: time."""

NOISE_SAMPLE = 2000
"""min(D, this) labels are left out where the noise is searched level by level. Notes."""

LEAST_BETWEEN = 1e-9
"""A view is left out where the variance between nodes is up to this · trace: rounding."""

RELATIVE_NOISE = np.logspace(-5, 1, 61)
"""σ² / mean prior variance of the labelled nodes: what is tried first, ten a decade."""

DECADE = np.logspace(0.1, 1, 10)
"""The grid goes on by last · this, or first / this, where the best level is at its end."""

LEAST_RELATIVE_NOISE = 1e-9
"""Least level that is tried: max(this, 10 rounding / scale)."""

NOISE_PULL = 1.0
"""−Σ losses − this · log10(σ² / usual)² is largest. From version 0.2; no study kept."""

MANY_SCORES = 2**23
"""Above so many left-out means every ``COARSE``-th level is tried first; and at once: memory."""

COARSE = 5
"""Step of the first tries where there are many left-out means: time."""

NOISE_STEP = 10**0.5
"""The next level of a search is this · level, or level / this: time."""

CLASS_PULL = 5.0
"""λ of classes, in λ Σ_v (1 − b_v) t_v. Mean log loss over 59 cells of the sets to design on,
against the choice of mixtures before: −.029 with 1, −.039 with 3, −.041 with 4.5, −.040 with 6,
−.038 with 8; with 3 and less, unlike graphs with five labels a class lose .16 and more."""

VALUE_PULL = 2.0
"""λ of values, in λ Σ_v (1 − b_v) t_v. Sketch: 1 to 4 are within .1 points."""

CLASS_STD, VALUE_STD = 0.5, 0.5
"""s_v in (t_v − τ_v)² / 2 s_v² where τ_v > 0; of classes max(τ_v, this). Sketch."""

OTHER_STD = 5.0
"""s_v of classes where τ_v = 0: the linear term holds them back. Sketch."""

VALUE_ROUNDS = 3
"""In which the mean squared error of values and t are found in turn. Sketch."""

STACKING_CONVERGED = {"ftol": 1e-15, "gtol": 1e-10}
"""Where the search ends: the problem is small, and answers are the same on every machine."""

VALUE_ROUNDING = float(np.finfo(np.float32).eps)
"""Mean squared error ≥ this · mean square of the values: rounding."""

LEAST_SHARE = 0.02
"""t_v = 0 where t_v < this · Σ t: a view would cost more time than it says."""
