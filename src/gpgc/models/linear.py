r"""A view by sums of columns: :math:`k(x, y) = x \cdot y / F + 1` of F standardized columns.

Its Gaussian process is ridge regression with an intercept.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gpgc.compute import Context
from gpgc.kernels import Covariance, Features, InnerProduct
from gpgc.kernels.rows import Rows, StoredRows
from gpgc.models.view import Layers, Need, View


class LinearView(View):
    """Sums of standardized columns, with an intercept."""

    name: ClassVar[str] = "linear"
    needs: ClassVar[tuple[Need, ...]] = ("standardized columns",)
    sees_links: ClassVar[bool] = False

    def rows(self, features: Any, dtype: np.dtype[Any]) -> Rows:
        """Return the columns over √F and a column of ones."""
        ones = np.ones((len(features), 1))
        both = np.hstack([features / np.sqrt(features.shape[1]), ones])
        return StoredRows.of(both, dtype, overwrite=True)

    def kernel(self, rows: Rows, model: Layers, context: Context) -> Covariance:
        """Return x · y / F + 1."""
        return Features(InnerProduct(), rows, context)
