"""The laws that every covariance obeys, in one suite."""

from __future__ import annotations

import numpy as np

from gpgc.kernels import Covariance


def check_laws(covariance: Covariance, atol: float = 1e-7) -> None:
    """Symmetric, positive semi-definite, exact diagonal, lazy equals dense, finite, right shapes.

    The tolerance is that of the arc cosine of nearly parallel rows; blocks are compared with the
    plain N x N formula, which shares no code path with them beyond the elementwise formulas.
    """
    n = covariance.n_nodes
    dense = covariance.dense()
    scale = max(1.0, float(np.abs(dense).max()))
    close = {"rtol": 0, "atol": atol * scale}
    rng = np.random.default_rng(0)
    rows, cols = rng.permutation(n)[: max(1, n // 3)], rng.permutation(n)[: max(1, n // 2)]
    V = rng.normal(size=(len(cols), 3))

    assert dense.shape == (n, n)
    assert np.isfinite(dense).all()
    np.testing.assert_allclose(dense, dense.T, **close)
    assert np.linalg.eigvalsh((dense + dense.T) / 2).min() > -atol * scale * n

    np.testing.assert_allclose(covariance.diag(), np.diagonal(dense), **close)
    np.testing.assert_allclose(covariance.diag(rows), np.diagonal(dense)[rows], **close)
    np.testing.assert_allclose(covariance.block(), dense, **close)
    np.testing.assert_allclose(covariance.block(rows, cols), dense[np.ix_(rows, cols)], **close)
    np.testing.assert_allclose(covariance.block(None, cols), dense[:, cols], **close)
    np.testing.assert_allclose(covariance.block(cols, None), dense[cols], **close)
    np.testing.assert_allclose(
        covariance.matmul(rows, cols, V), dense[np.ix_(rows, cols)] @ V, **close
    )
    np.testing.assert_allclose(covariance.matmul(None, cols, V), dense[:, cols] @ V, **close)
    np.testing.assert_allclose(covariance.matmul(rows, None, np.eye(n)), dense[rows], **close)

    groups = rng.integers(0, n, size=(4, 3))
    np.testing.assert_allclose(
        covariance.local(groups), dense[groups[:, :, None], groups[:, None, :]], **close
    )

    variance = np.diagonal(dense)
    scale_of = np.sqrt(np.outer(variance[rows], variance[cols]))
    correlation, std = covariance.correlation(cols)(rows)
    np.testing.assert_allclose(std**2, variance[rows], **close)
    assert np.isfinite(correlation).all()
    np.testing.assert_allclose(correlation * scale_of, dense[np.ix_(rows, cols)], **close)

    if covariance.rank is not None:
        root = covariance.root()
        assert root.shape == (n, covariance.rank)
        np.testing.assert_allclose(root @ root.T, dense, **close)
        np.testing.assert_allclose(covariance.root(rows), root[rows], **close)
        weights = np.cos(np.arange(2.0 * root.shape[1])).reshape(-1, 2)
        for index in (rows, None):
            product = root[slice(None) if index is None else index] @ weights
            np.testing.assert_allclose(covariance.root_times(index, weights), product, **close)

    empty = np.array([], dtype=int)
    assert covariance.block(empty, cols).shape == (0, len(cols))
    assert covariance.block(rows, empty).shape == (len(rows), 0)
    assert covariance.diag(empty).shape == (0,)
    assert covariance.matmul(empty, cols, V).shape == (0, 3)
    assert repr(covariance)
