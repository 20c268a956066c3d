"""How one column becomes numbers: a small immutable record for each kind of column.

Each column counts the same in a row's squared length: a standardised number has mean square 1, a
category is one 1, the TF-IDF of a text has length 1.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import OneHotEncoder

from gpgc._typing import Array
from gpgc.tables.kinds import Kind
from gpgc.tables.words import Words


class ColumnEncoder(Protocol):
    """A column with all that is needed to encode further cells of it."""

    kind: ClassVar[Kind]

    @property
    def name(self) -> str:
        """The column."""

    @property
    def feature_names(self) -> list[str]:
        """A name for each feature that the column becomes."""

    @property
    def said(self) -> str:
        """What is done with the column, in a phrase."""

    def transform(self, values: NDArray[Any]) -> Any:
        """Return the features (N, f) of the cells (N,), dense or sparse."""

    def unseen(self, values: NDArray[Any]) -> int:
        """Return how many cells hold what the fitted column did not: they are ignored."""


@dataclass(frozen=True)
class NumberColumn:
    """Numbers: (x − mean) / scale, 0 where missing, and a column of flags for what is missing.

    In a table of numbers alone they stay as they are, and the mean stands for what is missing.

    Parameters
    ----------
    name : str
        The column.
    mean, scale : float
        Mean and standard deviation of the values that are there; 1 where that is 0. Columns of 0
        and 1 have 0 and 1: they stay as they are.
    n_missing : int
        How many values are missing; with any, a second feature tells them apart.
    unit : float, optional
        How large a flag is where numbers stay as they are; None (the default) where they do not.
    """

    name: str
    mean: float
    scale: float
    n_missing: int
    unit: float | None = None
    kind: ClassVar[Kind] = "number"

    @classmethod
    def fit(cls, name: str, values: Array) -> NumberColumn:
        """Return the encoder of a column of numbers, NaN where missing."""
        given, n_missing = values[~np.isnan(values)], int(np.isnan(values).sum())
        if set(np.unique(given).tolist()) == {0, 1}:
            return cls(name, 0.0, 1.0, n_missing)
        size = float(np.abs(given).max(initial=0.0)) or 1.0
        std = float((given / size).std()) * size if given.size else 0.0
        varies = std > given.size * np.finfo(np.float64).eps * size
        mean = float((given / size).mean()) * size if given.size else 0.0
        return cls(name, mean, std if varies else 1.0, n_missing)

    @property
    def feature_names(self) -> list[str]:
        """The column, and its flag."""
        return [self.name, f"{self.name} is missing"][: 2 if self.n_missing else 1]

    @property
    def said(self) -> str:
        """What is done with the column, in a phrase."""
        is_binary = (self.mean, self.scale) == (0, 1)
        what = "number" if self.unit is not None else "number, standardised"
        middle = "0" if is_binary else "the mean"
        filled = f", {self.n_missing:,} missing set to {middle} and flagged"
        what = "0 and 1" if is_binary else what
        return f"{self.name}: {what}{filled if self.n_missing else ''}"

    @property
    def flag(self) -> float:
        """How large a flag is."""
        return 1.0 if self.unit is None else self.unit

    def transform(self, values: NDArray[Any]) -> Array:
        """Return the features (N, 1), or (N, 2) with the flags."""
        missing = np.isnan(values)
        if self.unit is None:
            numbers = np.where(missing, 0.0, (values - self.mean) / self.scale)
        else:
            numbers = np.where(missing, self.mean, values)
        flags = missing * self.flag
        return np.column_stack([numbers, flags] if self.n_missing else [numbers])

    def unseen(self, values: NDArray[Any]) -> int:
        """Return how many values are missing where none was."""
        return 0 if self.n_missing else int(np.isnan(values).sum())


@dataclass(frozen=True)
class CategoryColumn:
    """Categories: a one at the value, for values that occur twice or more; a flag where missing."""

    name: str
    categories: tuple[str, ...]
    n_missing: int
    n_rare: int
    kind: ClassVar[Kind] = "category"

    @classmethod
    def fit(cls, name: str, values: NDArray[Any]) -> CategoryColumn:
        """Return the encoder of a column of strings, None where missing."""
        counts = Counter(value for value in values if value is not None)
        common = tuple(sorted(value for value, count in counts.items() if count > 1))
        n_missing = sum(value is None for value in values)
        return cls(name, common, n_missing, len(counts) - len(common))

    @property
    def feature_names(self) -> list[str]:
        """A name for each category, and for the flag; none where there are no categories."""
        flag = [f"{self.name} is missing"] if self.n_missing and self.categories else []
        return [f"{self.name} = {category}" for category in self.categories] + flag

    @property
    def said(self) -> str:
        """What is done with the column, in a phrase."""
        if not self.categories:
            return f"{self.name}: left out, no value occurs twice"
        once = "value that occurs once" if self.n_rare == 1 else "values that occur once"
        rare = f", {self.n_rare:,} {once} ignored" if self.n_rare else ""
        missing = f", {self.n_missing:,} missing flagged" if self.n_missing else ""
        what = "category" if len(self.categories) == 1 else "categories"
        return f"{self.name}: {len(self.categories):,} {what}{rare}{missing}"

    def transform(self, values: NDArray[Any]) -> sp.csr_array:
        """Return the features (N, number of categories), and the flags."""
        missing = np.array([value is None for value in values], dtype=np.float64)
        flags = [sp.csr_array(missing[:, None])] if self.n_missing else []
        if not self.categories:
            return sp.csr_array((len(values), 0))
        texts = np.array([["" if value is None else value] for value in values], dtype=object)
        wanted = np.array(self.categories, dtype=object)
        encoder = OneHotEncoder(categories=[wanted], handle_unknown="ignore")
        codes = encoder.fit(wanted[:1, None]).transform(texts)
        return sp.csr_array(sp.hstack([codes, *flags], format="csr"))

    def unseen(self, values: NDArray[Any]) -> int:
        """Return how many values are none of the categories."""
        known = {*self.categories, None} if self.n_missing else set(self.categories)
        return sum(value not in known for value in values)


@dataclass(frozen=True, eq=False)
class TextColumn:
    """Text: the TF-IDF of its words."""

    name: str
    words: Words
    kind: ClassVar[Kind] = "text"

    @classmethod
    def fit(cls, name: str, values: NDArray[Any]) -> TextColumn:
        """Return the encoder of a column of strings, None where missing."""
        return cls(name, Words.fit([value or "" for value in values]))

    @property
    def feature_names(self) -> list[str]:
        """A name for each word."""
        return [f"{self.name}: {term}" for term in self.words.terms]

    @property
    def said(self) -> str:
        """What is done with the column, in a phrase."""
        if not self.words.terms:
            return f"{self.name}: left out, no words in it"
        return f"{self.name}: text, TF-IDF of {len(self.words.terms):,} words"

    def transform(self, values: NDArray[Any]) -> sp.csr_array:
        """Return the features (N, number of words), rows of length 1 or 0."""
        return self.words.transform([value or "" for value in values])

    def unseen(self, values: NDArray[Any]) -> int:
        """Return 0: texts without a known word are nothing unusual."""
        return 0
