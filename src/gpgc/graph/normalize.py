"""The normalized adjacency Â, whole or in parts."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.errors import InputError
from gpgc.files import canonical_csr
from gpgc.graph.adjacency import as_adjacency, check_weights

Normalization = Literal["symmetric", "row"]


def normalize(adjacency: sp.csr_array, normalization: Normalization = "symmetric") -> sp.csr_array:
    r"""Add self-loops and normalize by degrees.

    With :math:`\tilde A = A + I` and its degrees :math:`\tilde D`: ``"symmetric"`` gives
    :math:`\hat A = \tilde D^{-1/2} \tilde A \tilde D^{-1/2}` (below equation 2 of the paper),
    ``"row"`` gives :math:`\tilde D^{-1} \tilde A`, the mean over a node and its neighbors.

    Parameters
    ----------
    adjacency : csr_array of shape (N, N)
        As :func:`as_adjacency` returns it.
    normalization : {"symmetric", "row"}
        How to divide by the degrees.

    Returns
    -------
    csr_array of shape (N, N)

    Examples
    --------
    >>> normalize(as_adjacency(([0], [1]))).toarray()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    with_loops = sp.csr_array(adjacency + sp.eye_array(adjacency.shape[0], format="csr"))
    degrees = degrees_with_loops(adjacency)
    return divide_by_degrees(with_loops, degrees, degrees, normalization)


def degrees_with_loops(adjacency: sp.csr_array, name: str = "adjacency") -> NDArray[np.float64]:
    """Return the degrees of A + I, or say that one is infinite."""
    with np.errstate(over="ignore"):
        degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64)
    if not np.isfinite(degrees).all():
        raise InputError(
            f"{name} must hold weights whose sums are finite, got a node whose weights add up "
            "to infinity"
        )
    return degrees + 1.0


def links_of_new(links: Any, n_old: int, n_new: int) -> sp.csr_array:
    """Return a user's links of new nodes, to fitted ones and maybe among them, as (M, N + M)."""
    if sp.issparse(links):
        matrix = canonical_csr(links, "adjacency of new nodes", np.float64)
    else:
        matrix = sp.csr_array(np.atleast_2d(np.asarray(links)))
    if matrix.shape not in ((n_new, n_old), (n_new, n_old + n_new)):
        raise InputError(
            f"adjacency of new nodes must have shape (M, N) = ({n_new}, {n_old}) or "
            f"(M, N + M) = ({n_new}, {n_old + n_new}), got {matrix.shape}"
        )
    check_weights(matrix.data, "adjacency of new nodes")
    to_old = sp.csr_array(matrix[:, :n_old], dtype=np.float64)
    among = sp.csr_array((n_new, n_new))
    if matrix.shape[1] > n_old:
        among = as_adjacency(matrix[:, n_old:], n_new, "adjacency among new nodes")
    return sp.csr_array(sp.hstack([to_old, among], format="csr"))


def divide_by_degrees(
    matrix: sp.csr_array,
    row_degrees: NDArray[np.float64],
    column_degrees: NDArray[np.float64],
    normalization: Normalization,
) -> sp.csr_array:
    """Return a block of Â from the block of A + I with the same rows and columns."""
    if normalization not in get_args(Normalization):
        raise InputError(
            f"normalization must be one of {', '.join(get_args(Normalization))}, "
            f"got {normalization!r}"
        )
    matrix = sp.csr_array(matrix)
    matrix.sort_indices()
    if normalization == "row":
        matrix.data = matrix.data / np.repeat(row_degrees, np.diff(matrix.indptr))
    else:
        scale = np.repeat(row_degrees**-0.5, np.diff(matrix.indptr))
        scale *= (column_degrees**-0.5)[matrix.indices]
        matrix.data = matrix.data * scale
    return matrix


def without_loops(matrix: sp.csr_array) -> sp.csr_array:
    """Return a square matrix without its diagonal."""
    others = sp.csr_array(matrix - sp.diags_array(matrix.diagonal()))
    others.eliminate_zeros()
    return others
