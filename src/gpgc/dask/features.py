"""The features of a block: checked, scaled, and what else is read from them in one go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.dask.links import LocalRows
from gpgc.dask.partition import Partition
from gpgc.errors import InputError
from gpgc.estimators.inputs import FeatureNorm, with_norm
from gpgc.estimators.standardise import Standardisation
from gpgc.graph.reach import Reach, reach_of
from gpgc.models.described import unit_rows
from gpgc.models.projection import Projection


@dataclass(frozen=True)
class BlockFeatures:
    """How the features of a block are read.

    Parameters
    ----------
    partition : Partition
        Of the nodes.
    n_features : int
        F.
    norm : {"none", "l1", "l2"}
        To which rows are scaled first.
    dtype : str
        In which they are diffused.
    standardisation : Standardisation, optional
        What becomes of the columns before.
    """

    partition: Partition
    n_features: int
    norm: FeatureNorm
    dtype: str
    standardisation: Standardisation | None = None


class Prepared(NamedTuple):
    """What a fit needs of a block's features.

    Attributes
    ----------
    starts : list of arrays of shape (n, columns)
        Slices of the columns that diffuse: D̃^(−½) X̄, projected where it is too wide.
    wanted : array of shape (m, F)
        Features of the wanted rows.
    largest : float
        The largest magnitude.
    reach : Reach
        Components of the block by its own links and features.
    near : array of shape (l, F)
        X̄ of those around which wanted rows and the likeness of linked nodes look.
    """

    starts: list[Array]
    wanted: Array
    largest: float
    reach: Reach
    near: Array


def numbers_of(block: Any, number: int, settings: BlockFeatures) -> Array:
    """Return X of a block as an array of floats, or say what is wrong with which block.

    Parameters
    ----------
    block : array of shape (n, F)
        As it was given.
    number : int
        Which block.
    settings : BlockFeatures
        What is expected of it.
    """
    partition = settings.partition
    name, expected = partition.name(number), (partition.sizes[number], settings.n_features)
    if not isinstance(block, np.ndarray) or block.dtype.kind not in "biuf":
        what = block.dtype if isinstance(block, np.ndarray) else type(block).__name__
        raise InputError(f"X must hold NumPy arrays of real numbers, got {what} in {name}")
    if block.shape != expected:
        raise InputError(f"X must have shape {expected} in {name}, got {block.shape}")
    values = block if block.dtype in (np.float32, np.float64) else block.astype(np.float64)
    if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise InputError(
            f"X must hold finite numbers, got NaN or infinity in {name}, "
            f"first in row {partition.starts[number] + row:,}"
        )
    return np.asarray(values)


def checked(block: Any, number: int, settings: BlockFeatures) -> Array:
    """Return the features of a block, standardised and with the norm that is wanted.

    Parameters
    ----------
    block, number, settings
        As in :func:`numbers_of`.
    """
    values = numbers_of(block, number, settings)
    if settings.standardisation is not None:
        values = settings.standardisation.apply(values)
    return np.asarray(with_norm(values, settings.norm))


def prepare(
    features: Array,
    rows: LocalRows,
    degrees: Array,
    wanted: Integers,
    near: Integers,
    projection: Projection,
    slices: Sequence[slice],
    settings: BlockFeatures,
) -> Prepared:
    """Return what a fit needs of a block's features, from its rows of A and their degrees.

    Parameters
    ----------
    features : array of shape (n, F)
        X.
    rows : LocalRows
        Of the adjacency.
    degrees : array of shape (n,)
        Of A + I.
    wanted, near : int arrays
        Nodes whose features are asked for, and those whose directions are.
    projection : Projection
        Of features that are too wide to diffuse.
    slices : sequence of slice
        Columns that diffuse at once.
    settings : BlockFeatures
        How features are read.
    """
    start = projection.apply(unit_rows(features, degrees**-0.5))
    largest = float(max(features.max(initial=0.0), -features.min(initial=0.0)))
    reach = reach_of(rows.own, features)
    starts = [start[:, columns].astype(settings.dtype, order="C") for columns in slices]
    around = unit_features(features[near], settings.dtype)
    return Prepared(starts, features[wanted], largest, reach, around)


def unit_features(features: Array, dtype: str) -> Array:
    """Return X̄: rows of length 1."""
    return np.asarray(unit_rows(features), dtype=dtype)


def part_of(values: Sequence[Any], index: int) -> Any:
    """Return one part of a tuple."""
    return values[index]
