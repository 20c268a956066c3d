r"""A view by distances: :math:`\exp(-\|x - y\|^2 / 2F)` of F standardized columns."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gpgc.compute import Context
from gpgc.kernels import Covariance, Features, SquaredExponential
from gpgc.kernels.rows import Rows, StoredRows
from gpgc.models.view import Layers, Need, View


class RBFView(View):
    """Distances of standardized columns."""

    name: ClassVar[str] = "rbf"
    needs: ClassVar[tuple[Need, ...]] = ("standardized columns",)
    sees_links: ClassVar[bool] = False

    def rows(self, features: Any, dtype: np.dtype[Any]) -> Rows:
        """Return the columns over √F."""
        return StoredRows.of(features / np.sqrt(features.shape[1]), dtype, overwrite=True)

    def kernel(self, rows: Rows, model: Layers, context: Context) -> Covariance:
        """Return exp(−‖x − y‖² / 2) of the columns over √F."""
        return Features(SquaredExponential(1.0), rows, context)
