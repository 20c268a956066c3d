"""Dense features as they come: column means taken out, columns brought to one unit."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc._typing import Array
from gpgc.compute.moments import ColumnMoments
from gpgc.errors import GPGCWarning, InputError

Standardise: TypeAlias = bool | Literal["auto"]

LARGEST = 1e150
"""Size of numbers whose squares are finite."""

SAMPLED_ROWS = 10_000
"""Rows of the features, at most, that decide whether they are centred and scaled."""

ROWS_AT_ONCE = 4096
"""Rows that are standardised at once, so that no second array of all rows is held."""

UNCENTRED = 0.9
"""Mean cosine of two rows from which on directions say little of what tells rows apart."""

FEW_COLUMNS = 2.0
"""Effective number of columns that hold the variance, (Σv)² / Σv², below which it is few."""

LARGE_UNIT = 4.0
"""How many times larger than others a column is, or a kind of columns, that hides them."""

MANY_BINARY = 4
"""One column of 0 and 1 beside so many others is there for its own sake, and not by chance."""


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
    """What hides what tells nodes apart, in words, and the cure.

    Attributes
    ----------
    said : str
        What it is.
    scaled : bool
        Whether it is the unit of columns.
    kept : bool array of shape (F,)
        Columns that the cure leaves as they are.
    """

    said: str
    scaled: bool
    kept: NDArray[np.bool_]


def standardisation_for(
    features: Any, choice: Any, flags: Array | None = None
) -> Standardisation | None:
    """Return what becomes of features before anything else, None where they stay as they are.

    Kernels see directions. ``"auto"`` acts where dense features hide what tells nodes apart: column
    means are taken out where all rows point the same way, and columns are divided by their standard
    deviations too where one or two of them, in a larger unit, hold nearly all variance, or where
    there are columns of 0 and 1 beside them. Columns of 0 and 1 stay as they are, and so do those
    that are mostly 0 and never negative (counts, words) unless they are the fewer ones; sparse
    features stay. True always does both, to all columns (sparse columns are scaled and not
    centred); False does nothing, and warns where ``"auto"`` would act.

    Parameters
    ----------
    features : array or csr_array of shape (N, F)
        X.
    choice : {"auto", True, False}
        Whether to standardise.
    flags : array of shape (F,), optional
        How large a flag is in each column that tells which cells were missing, 0 in the others.
        Flags have no say in it, and become 0 and 1 where others are standardised.

    Examples
    --------
    >>> found = standardisation_for(np.array([[1e6, 0.5], [2e6, -0.5], [3e6, 0.1]]), True)
    >>> found.apply(np.array([[2e6, 0.0]])).round(2)
    array([[ 0.  , -0.08]])
    """
    choice = checked_choice(choice)
    if sp.issparse(features):
        return _of_sparse(features) if choice is True else None
    numbers = slice(None) if flags is None else flags == 0
    judged = features[:, numbers]
    if (size := float(np.abs(judged).max(initial=0.0))) > LARGEST:
        raise InputError(f"X must hold numbers of size {LARGEST:g} at most, got one of {size:.3g}")
    fault = None if choice is True else fault_of(judged[sampled_rows(len(judged))])

    def moments() -> ColumnMoments:
        return ColumnMoments.of(np.asarray(judged, dtype=np.float64))

    found = standardisation_by(choice, fault, moments)
    if found is None or flags is None or found.mean is None:
        return found
    mean, scale = np.zeros(len(flags)), 1 / np.where(flags == 0, 1.0, flags)
    mean[numbers], scale[numbers] = found.mean, found.scale
    return replace(found, mean=mean, scale=scale)


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
        why = f"the features were not {fault.said}"
        return _by_columns(moments(), fault.scaled, why, fault.kept)
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
    if not len(rows):
        return None
    largest, least = rows.max(axis=0), rows.min(axis=0)
    varies = largest > least
    binary = varies & ((rows == 0) | (rows == 1)).all(axis=0)
    counts = varies & ~binary & (least >= 0) & (np.mean(rows == 0, axis=0) > 0.5)
    numbers = varies & ~binary & ~counts
    if not numbers.any():
        return None
    kept = binary | counts if counts.sum() > numbers.sum() else binary
    rows = np.asarray(rows, dtype=np.float64)
    rows = rows / np.abs(rows).max()
    variance = rows.var(axis=0)
    if variance.sum() <= np.finfo(np.float64).eps:
        return None
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    directions = rows[lengths > 0] / lengths[lengths > 0, None]
    cosine = float(np.sum(directions.mean(axis=0) ** 2))
    columns = float(variance.sum() ** 2 / np.sum(variance**2))
    share = variance / variance.sum()
    if columns < few_columns(int(varies.sum())):
        said = f"scaled: column {share.argmax()} holds {share.max():.1%} of the variance"
        return Fault(said, True, kept)
    if cosine > UNCENTRED:
        said = f"centred: the mean cosine of two rows is {cosine:.3g}"
        return Fault(said, bool(binary.any()), kept)
    if _is_hidden(variance[~kept & varies], variance[binary]):
        said = f"scaled: columns of 0 and 1 hold {share[binary].sum():.1%} of the variance"
        return Fault(said, True, kept)
    return None


def few_columns(n_columns: int) -> float:
    """Return the effective number of columns from which on no one column hides the others.

    It is what columns of one unit have beside a single one that is four times as large.

    Examples
    --------
    >>> [round(few_columns(n), 2) for n in (1, 2, 4, 8, 100)]
    [1.0, 1.12, 1.39, 2.0, 2.0]
    """
    others, large = n_columns - 1, LARGE_UNIT**2
    return min(FEW_COLUMNS, (large + others) ** 2 / (large**2 + others))


def _is_hidden(others: Array, binary: Array) -> bool:
    """Return whether one of two kinds of columns is so large that the other says nothing."""
    if not len(binary):
        return False
    ratio = others.mean() / binary.mean()
    is_large = ratio > LARGE_UNIT**2 and MANY_BINARY * len(binary) >= len(others)
    return bool(is_large or ratio < LARGE_UNIT**-2)


def _of_sparse(features: Any) -> Standardisation:
    """Return one over the standard deviations of sparse columns, which stay uncentred."""
    mean = np.asarray(features.mean(axis=0), dtype=np.float64).ravel()
    squares = np.asarray(features.multiply(features).mean(axis=0), dtype=np.float64).ravel()
    std = np.sqrt(np.maximum(squares - mean**2, 0.0))
    return Standardisation(None, _inverse(std, mean), "columns scaled: as asked for")


def _by_columns(
    moments: ColumnMoments, scaled: bool, why: str, kept: NDArray[np.bool_] | None = None
) -> Standardisation:
    """Return column means, and one over the standard deviations; 1 for constant columns."""
    mean = moments.mean
    scale = _inverse(moments.std, mean) if scaled else np.ones(len(mean))
    what = "columns centred and scaled" if scaled else "columns centred"
    if kept is not None and kept.any():
        mean, scale = np.where(kept, 0.0, mean), np.where(kept, 1.0, scale)
        what = f"{what} but {kept.sum():,} of 0 and 1, or mostly 0"
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
