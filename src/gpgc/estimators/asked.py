"""What is asked of an estimator: nodes of its graph, or nodes that join it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.gp import Posterior


class Asked(NamedTuple):
    """Nodes that an answer is wanted for.

    Attributes
    ----------
    posterior : Posterior
        In a covariance that holds them.
    rows : int array of shape (n,), or None
        Where they are in it; None for all of it.
    mean : array of shape (n, k)
        Latent means, in the unit in which the process was fitted.
    reached : bool array of shape (n,)
        Which of them the labels can say anything about.
    """

    posterior: Posterior
    rows: Integers | None
    mean: Array
    reached: NDArray[np.bool_]
