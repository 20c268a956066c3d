"""Columns of features brought to one unit: their means taken out, divided by their std."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc._typing import Array
from gpgc.compute.moments import ColumnMoments
from gpgc.errors import InputError

Standardize: TypeAlias = bool | Literal["auto"]

ScalingOf: TypeAlias = Callable[[NDArray[np.bool_] | None], "Standardization"]

LARGEST = 1e150
"""Size of numbers whose squares are finite."""

SAMPLED_ROWS = 2_000
"""Rows of the features, at most, that say whether columns are numbers."""

ROWS_AT_ONCE = 4096
"""Rows that are standardized at once, so that no second array of all rows is held."""

SAME_DIRECTION = 0.98
"""Mean cosine of rows before and after, from which on standardizing changes nothing."""

LARGE_UNIT = 4.0
"""How many times larger or smaller than words and counts a column of numbers is that is scaled."""

DENSE_BYTES = 2**28
"""Size up to which a sparse matrix that holds columns of numbers is made dense."""


@dataclass(frozen=True, eq=False)
class Standardization:
    """(x − mean) · scale for each column; a mean of None leaves sparse features sparse."""

    mean: Array | None
    scale: Array

    def apply(self, features: Any) -> Any:
        """Return features (n, F) standardized, in their number format."""
        if sp.issparse(features) and self.mean is not None:
            features = features.toarray()
        if sp.issparse(features):
            return sp.csr_array(features @ sp.diags_array(self.scale)).astype(features.dtype)
        mean = 0.0 if self.mean is None else self.mean
        out = np.empty_like(features)
        for start in range(0, len(features), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            out[part] = (features[part] - mean) * self.scale
        return out


def scalings_of(
    features: Any, choice: Standardize, flags: Array | None, sees_both: bool
) -> tuple[Any, Standardization | None, bool]:
    """Return features, how their columns are scaled, None for not, and whether both are seen."""
    if features is None or choice is False:
        return features, None, False
    if choice is not True and sp.issparse(features):
        # one that holds columns of numbers is the dense array that it is
        size = features.shape[0] * features.shape[1] * features.dtype.itemsize
        if size > DENSE_BYTES or scaled_columns(features) is None:
            return features, None, False
        features = features.toarray()
    scaling_of = partial(standardization_of, features, flags)
    return features, *decided_scaling(features, scaling_of, choice, sees_both)


def decided_scaling(
    features: Any, scaling_of: ScalingOf, choice: Standardize, sees_both: bool
) -> tuple[Standardization | None, bool]:
    """Return how columns are scaled, None for not, and whether columns as they came are seen too.

    A sample of the rows decides; ``scaling_of`` chosen columns, or of all for None, knows them all.
    """
    if choice is True:
        return scaling_of(None), False
    chosen = scaled_columns(features) if sees_both else None
    if chosen is None:
        return None, False
    scaling = scaling_of(chosen)
    return scaling, changes_directions(features, scaling)


def standardization_of(
    features: Any, flags: Array | None = None, chosen: NDArray[np.bool_] | None = None
) -> Standardization:
    """Return (x − mean) / std of each column; sparse columns are scaled and not centered."""
    if sp.issparse(features):
        return _of_sparse(features)
    numbers = slice(None) if flags is None else flags == 0
    judged = features[:, numbers]
    if (size := float(np.abs(judged).max(initial=0.0))) > LARGEST:
        raise InputError(f"X must hold numbers of size {LARGEST:g} at most, got one of {size:.3g}")
    moments = ColumnMoments.of(np.asarray(judged, dtype=np.float64))
    mean, scale = np.zeros(features.shape[1]), np.ones(features.shape[1])
    found = standardization_by(moments, None if chosen is None else chosen[numbers])
    mean[numbers], scale[numbers] = found.mean, found.scale
    if flags is not None:
        scale[flags != 0] = 1 / flags[flags != 0]
    return Standardization(mean, scale)


def standardization_by(
    moments: ColumnMoments, chosen: NDArray[np.bool_] | None = None
) -> Standardization:
    """Return (x − mean) / std of columns by their moments; of chosen ones where some are."""
    scale = _inverse(moments.std, moments.mean)
    if chosen is None:
        return Standardization(moments.mean, scale)
    return Standardization(np.where(chosen, moments.mean, 0.0), np.where(chosen, scale, 1.0))


def checked_choice(choice: Any) -> Standardize:
    """Return a choice, or say that it is none."""
    if isinstance(choice, bool | np.bool_):
        return bool(choice)
    if isinstance(choice, str) and choice == "auto":
        return "auto"
    raise InputError(f"standardize must be 'auto', True or False, got {choice!r}")


def sampled_rows(n_rows: int) -> slice:
    """Return which rows of dense features are looked at."""
    return slice(0, n_rows, max(1, -(-n_rows // SAMPLED_ROWS)))


def scaled_columns(features: Any) -> NDArray[np.bool_] | None:
    """Return which columns of a table are worth scaling, None where none is.

    Words and counts are never negative, and mostly 0; columns of 0 and 1 have no say. Where columns
    of numbers are as many as words, all columns are scaled; among more words those numbers alone
    whose unit is four times larger or smaller than theirs. A sparse matrix is judged as its dense
    twin is.
    """
    rows = features[sampled_rows(features.shape[0])]
    columns = sp.csc_array(rows)
    numbers, counts = {}, []
    for column, (start, end) in enumerate(pairwise(columns.indptr)):
        filled = np.asarray(columns.data[start:end], dtype=np.float64)
        size = float(np.abs(filled).max(initial=0.0))
        varies = len(filled) < rows.shape[0] or bool((filled != filled[0]).any())
        if not size or (filled == 1).all() or not varies:
            continue
        std = _std(filled, rows.shape[0], size)
        if bool((filled < 0).any()) or 2 * len(filled) >= rows.shape[0]:
            numbers[column] = std
        else:
            counts.append(std)
    if not numbers:
        return None
    if len(numbers) >= len(counts):
        return np.ones(features.shape[1], dtype=bool)
    usual = float(np.median(counts))
    chosen = [c for c, std in numbers.items() if not usual / LARGE_UNIT < std < usual * LARGE_UNIT]
    found = np.isin(np.arange(features.shape[1]), chosen)
    return found if found.any() else None


def _std(filled: Array, n_rows: int, size: float) -> float:
    """Return the standard deviation of a column of so many rows by its cells that are not 0."""
    scaled = filled / size
    mean = scaled.sum() / n_rows
    return float(size * np.sqrt(max(float(scaled @ scaled) / n_rows - mean**2, 0.0)))


def changes_directions(features: Array, standardization: Standardization) -> bool:
    """Tell whether rows point elsewhere once their columns are standardized."""
    rows = np.asarray(features[sampled_rows(len(features))], dtype=np.float64)
    scaled = standardization.apply(rows)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows) * np.einsum("ij,ij->i", scaled, scaled))
    known = lengths > 0
    cosines = np.einsum("ij,ij->i", rows[known], scaled[known]) / lengths[known]
    return bool(not known.any() or cosines.mean() < SAME_DIRECTION)


def _of_sparse(features: Any) -> Standardization:
    """Return one over the standard deviations of sparse columns, which stay uncentred."""
    mean = np.asarray(features.mean(axis=0), dtype=np.float64).ravel()
    squares = np.asarray(features.multiply(features).mean(axis=0), dtype=np.float64).ravel()
    std = np.sqrt(np.maximum(squares - mean**2, 0.0))
    return Standardization(None, _inverse(std, mean))


def _inverse(std: Array, mean: Array) -> Array:
    varies = std > 1e-12 * np.abs(mean)
    return np.asarray(np.divide(1.0, std, out=np.ones_like(std), where=varies))


def to_header(standardization: Standardization) -> dict[str, Any]:
    """Return what a model file holds under ``standardization``."""
    mean = None if standardization.mean is None else standardization.mean.tolist()
    return {"mean": mean, "scale": standardization.scale.tolist()}


def stored_standardization(value: Any, n_features: int) -> Standardization | None:
    """Return what a model file holds under ``standardization``; None where it holds nothing."""
    if value is None:
        return None
    scale = np.array(value["scale"], dtype=np.float64)
    mean = None if value["mean"] is None else np.array(value["mean"], dtype=np.float64)
    for part in (scale,) if mean is None else (scale, mean):
        if part.shape != (n_features,) or not np.isfinite(part).all():
            raise InputError(f"standardization must be of {n_features} columns, got {part.shape}")
    return Standardization(mean, scale)
