"""Dense features as they come: column means taken out, columns brought to one unit."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array
from gpgc.compute.moments import ColumnMoments
from gpgc.errors import GPGCWarning, InputError

Standardise: TypeAlias = bool | Literal["auto"]

SAMPLED_ROWS = 10_000
"""Rows of the features, at most, that decide whether they are centred and scaled."""

ROWS_AT_ONCE = 4096
"""Rows that are standardised at once, so that no second array of all rows is held."""

UNCENTRED = 0.9
"""Mean cosine of two rows from which on directions say little of what tells rows apart."""

FEW_COLUMNS = 2.0
"""Effective number of columns that hold the variance, (Σv)² / Σv², below which it is few."""


@dataclass(frozen=True, eq=False)
class Standardisation:
    """(x − mean) · scale for each column; a mean of None leaves sparse features sparse.

    Attributes
    ----------
    mean : array of shape (F,), or None
        What is taken out.
    scale : array of shape (F,)
        By what columns are multiplied.
    said : str
        What was done, and why.
    """

    mean: Array | None
    scale: Array
    said: str

    def apply(self, features: Any) -> Any:
        """Return features (n, F) standardised, in their number format."""
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


class Fault(NamedTuple):
    """What hides what tells nodes apart, in words, and whether it is the unit of a column."""

    said: str
    scaled: bool


def standardisation_for(features: Any, choice: Any) -> Standardisation | None:
    """Return what becomes of features before anything else, None where they stay as they are.

    Kernels see directions. ``"auto"`` acts where dense features hide what tells nodes apart: column
    means are taken out where all rows point the same way, and columns are divided by their standard
    deviations too where one or two of them, in a larger unit, hold nearly all variance. Sparse
    features, and those that are mostly 0 and never negative, are counts, words or one-hot codes,
    and stay. True always does both (sparse columns are scaled and not centred); False does nothing,
    and warns where ``"auto"`` would act.

    Parameters
    ----------
    features : array or csr_array of shape (N, F)
        X.
    choice : {"auto", True, False}
        Whether to standardise.

    Examples
    --------
    >>> found = standardisation_for(np.array([[1e6, 0.5], [2e6, -0.5], [3e6, 0.1]]), True)
    >>> found.apply(np.array([[2e6, 0.0]])).round(2)
    array([[ 0.  , -0.08]])
    """
    choice = checked_choice(choice)
    if sp.issparse(features):
        return _of_sparse(features) if choice is True else None
    fault = None if choice is True else fault_of(features[sampled_rows(len(features))])

    def moments() -> ColumnMoments:
        return ColumnMoments.of(np.asarray(features, dtype=np.float64))

    return standardisation_by(choice, fault, moments)


def checked_choice(choice: Any) -> Standardise:
    """Return a choice, or say that it is none."""
    if isinstance(choice, bool | np.bool_):
        return bool(choice)
    if isinstance(choice, str) and choice == "auto":
        return "auto"
    raise InputError(f"standardise must be 'auto', True or False, got {choice!r}")


def standardisation_by(
    choice: Standardise, fault: Fault | None, moments: Callable[[], ColumnMoments]
) -> Standardisation | None:
    """Return what becomes of dense features by what a sample of their rows shows.

    The warning where ``choice`` is False names the line that called ``fit``.

    Parameters
    ----------
    choice : {"auto", True, False}
        Whether to standardise.
    fault : Fault or None
        Of the sampled rows; need not be known where ``choice`` is True.
    moments : function
        Gives those of all rows, in float64, where they are needed.
    """
    if choice is True:
        return _by_columns(moments(), scaled=True, why="as asked for")
    if fault is None:
        return None
    if choice == "auto":
        return _by_columns(moments(), fault.scaled, f"the features were not {fault.said}")
    cure = "standardise" if fault.scaled else "centre"
    warnings.warn(
        f"the features are not {fault.said}, and kernels see directions alone; {cure} X first, or "
        "leave it to standardise='auto'",
        GPGCWarning,
        stacklevel=6,
    )
    return None


def sampled_rows(n_rows: int) -> slice:
    """Return which rows of dense features are looked at.

    Examples
    --------
    >>> sampled_rows(25_000)
    slice(0, 25000, 3)
    """
    return slice(0, n_rows, max(1, -(-n_rows // SAMPLED_ROWS)))


def fault_of(rows: Array) -> Fault | None:
    """Return what hides what tells nodes apart in sampled rows of dense features, if anything."""
    if not rows.any() or ((rows >= 0).all() and np.mean(rows == 0) > 0.5):
        return None
    rows = np.asarray(rows, dtype=np.float64)
    rows = rows / np.abs(rows).max()
    variance = rows.var(axis=0)
    if variance.sum() <= np.finfo(np.float64).eps:
        return None
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    directions = rows[lengths > 0] / lengths[lengths > 0, None]
    cosine = float(np.sum(directions.mean(axis=0) ** 2))
    columns = float(variance.sum() ** 2 / np.sum(variance**2))
    if columns < min(FEW_COLUMNS, len(variance) / 4):
        share = float(variance.max() / variance.sum())
        said = f"scaled: column {variance.argmax()} holds {share:.1%} of the variance"
        return Fault(said, scaled=True)
    if cosine > UNCENTRED:
        return Fault(f"centred: the mean cosine of two rows is {cosine:.3g}", scaled=False)
    return None


def _of_sparse(features: Any) -> Standardisation:
    """Return one over the standard deviations of sparse columns, which stay uncentred."""
    mean = np.asarray(features.mean(axis=0), dtype=np.float64).ravel()
    squares = np.asarray(features.multiply(features).mean(axis=0), dtype=np.float64).ravel()
    std = np.sqrt(np.maximum(squares - mean**2, 0.0))
    return Standardisation(None, _inverse(std, mean), "columns scaled: as asked for")


def _by_columns(moments: ColumnMoments, scaled: bool, why: str) -> Standardisation:
    """Return column means, and one over the standard deviations; 1 for constant columns."""
    mean = moments.mean
    scale = _inverse(moments.std, mean) if scaled else np.ones(len(mean))
    what = "columns centred and scaled" if scaled else "columns centred"
    return Standardisation(mean, scale, f"{what}: {why}")


def _inverse(std: Array, mean: Array) -> Array:
    varies = std > 1e-12 * np.abs(mean)
    return np.asarray(np.divide(1.0, std, out=np.ones_like(std), where=varies))


def to_header(standardisation: Standardisation) -> dict[str, Any]:
    """Return what a model file holds under ``standardisation``."""
    mean = None if standardisation.mean is None else standardisation.mean.tolist()
    return {"mean": mean, "scale": standardisation.scale.tolist(), "said": standardisation.said}


def stored_standardisation(value: Any, n_features: int) -> Standardisation | None:
    """Return what a model file holds under ``standardisation``; None where it holds nothing.

    Raises
    ------
    ValueError
        If it is not of so many finite columns.
    """
    if value is None:
        return None
    scale = np.array(value["scale"], dtype=np.float64)
    mean = None if value["mean"] is None else np.array(value["mean"], dtype=np.float64)
    for part in (scale,) if mean is None else (scale, mean):
        if part.shape != (n_features,) or not np.isfinite(part).all():
            raise InputError(f"standardisation must be of {n_features} columns, got {part.shape}")
    return Standardisation(mean, scale, str(value["said"]))
