"""How one column becomes numbers: a small immutable record for each kind of column.

Each column counts the same in a row's squared length: a standardized number has mean square 1, a
category is one 1, the TF-IDF of a text has length 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc._typing import Array
from gpgc.errors import InputError

Kind = Literal["number", "category", "text", "drop"]

TEXT_WORDS = 3.0
"""Mean number of words of a cell from which on a column of strings can be text."""

TEXT_DISTINCT = 0.5
"""Fraction of different values among its cells above which such a column is text."""

MISSING_MARKS = ("", "nan", "NaN", "NA", "None", "null")
"""Cells that stand for a missing number, date or label in a file."""

MAX_TERMS = 20_000
"""Words that are kept, the most frequent ones."""

PATTERNS = (r"(?u)\b\w\w+\b", r"\S+")
"""What a word is: two letters or more; where no text has such words, anything between spaces."""


@dataclass(frozen=True)
class NumberColumn:
    """Numbers: (x − mean) / scale, 0 where missing, and a flag; as they came where `unit` is set.

    Missing numbers that came so become the mean, their flag the unit; dates are days since 1970.
    """

    name: str
    mean: float
    scale: float
    n_missing: int
    unit: float | None = None
    is_time: bool = False
    kind: ClassVar[Kind] = "number"

    @classmethod
    def fit(cls, name: str, values: Array) -> NumberColumn:
        """Return the encoder of a column of numbers, NaN where missing; 0 and 1 stay."""
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
        what = "days since 1970" if self.is_time else "number"
        what = what if self.unit is not None else f"{what}, standardized"
        middle = "0" if is_binary else "the mean"
        filled = f", {self.n_missing:,} missing set to {middle} and flagged"
        what = "0 and 1" if is_binary else what
        return f"{self.name}: {what}{filled if self.n_missing else ''}"

    @property
    def is_sound(self) -> bool:
        """Whether numbers are finite, the scale and the unit above 0."""
        sizes = [self.scale, *([] if self.unit is None else [self.unit])]
        are_sizes = all(type(size) is float and 0 < size < math.inf for size in sizes)
        is_mean = type(self.mean) is float and math.isfinite(self.mean)
        return are_sizes and is_mean and _is_count(self.n_missing) and type(self.is_time) is bool

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
        return cls(name, common, len(values) - counts.total(), len(counts) - len(common))

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

    @property
    def is_sound(self) -> bool:
        """Whether categories are sorted strings, each once."""
        are_sorted = _are_different(self.categories) and list(self.categories) == sorted(
            self.categories
        )
        return are_sorted and _is_count(self.n_missing) and _is_count(self.n_rare)

    def transform(self, values: NDArray[Any]) -> sp.csr_array:
        """Return the features (N, number of categories), and the flags."""
        from sklearn.preprocessing import OneHotEncoder

        if not self.categories:
            return sp.csr_array((len(values), 0))
        missing = np.array([[value is None] for value in values], dtype=np.float64)
        flags = [sp.csr_array(missing)] if self.n_missing else []
        texts = np.array([["" if value is None else value] for value in values], dtype=object)
        wanted = np.array(self.categories, dtype=object)
        encoder = OneHotEncoder(categories=[wanted], handle_unknown="ignore")
        codes = encoder.fit(wanted[:1, None]).transform(texts)
        return sp.csr_array(sp.hstack([codes, *flags], format="csr"))

    def unseen(self, values: NDArray[Any]) -> int:
        """Return how many values are none of the categories."""
        known = {*self.categories, None} if self.n_missing else set(self.categories)
        return sum(value not in known for value in values)


@dataclass(frozen=True)
class TextColumn:
    """Text: (1 + log count) · idf of its words, at length 1; idf = ln((1 + N) / (1 + n)) + 1."""

    name: str
    terms: tuple[str, ...]
    idf: tuple[float, ...]
    pattern: int = 0
    kind: ClassVar[Kind] = "text"

    @classmethod
    def fit(cls, name: str, values: Sequence[str | None] | NDArray[Any]) -> TextColumn:
        """Return the words of texts that occur in two of them; none where no text has a word."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = [value or "" for value in values]
        settings: Any = {"sublinear_tf": True, "max_features": MAX_TERMS}
        for place, pattern in enumerate(PATTERNS):
            for least in dict.fromkeys((min(2, len(texts)), 1)):
                vectors = TfidfVectorizer(min_df=least, token_pattern=pattern, **settings)
                try:
                    vectors.fit(texts)
                except ValueError:  # no terms remain
                    continue
                terms = tuple(vectors.get_feature_names_out().tolist())
                return cls(name, terms, tuple(vectors.idf_.tolist()), place)
        return cls(name, (), ())

    @property
    def feature_names(self) -> list[str]:
        """A name for each word."""
        return [f"{self.name}: {term}" for term in self.terms]

    @property
    def said(self) -> str:
        """What is done with the column, in a phrase."""
        if not self.terms:
            return f"{self.name}: left out, no words in it"
        return f"{self.name}: text, TF-IDF of {len(self.terms):,} words"

    @property
    def is_sound(self) -> bool:
        """Whether each word is there once, with a weight above 0."""
        are_weights = all(type(weight) is float and 0 < weight < math.inf for weight in self.idf)
        is_pattern = _is_count(self.pattern) and self.pattern < len(PATTERNS)
        return (
            _are_different(self.terms)
            and are_weights
            and is_pattern
            and len(self.terms) == len(self.idf)
        )

    def transform(self, values: Sequence[str | None] | NDArray[Any]) -> sp.csr_array:
        """Return the features (N, number of words), rows of length 1 or 0."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        if not self.terms:
            return sp.csr_array((len(values), 0))
        pattern = PATTERNS[self.pattern]
        vectors = TfidfVectorizer(
            sublinear_tf=True, vocabulary=list(self.terms), token_pattern=pattern
        )
        vectors.idf_ = np.array(self.idf)
        return sp.csr_array(vectors.transform([value or "" for value in values]))

    def unseen(self, values: NDArray[Any]) -> int:
        """Return 0: texts without a known word are nothing unusual."""
        return 0


ColumnEncoder = NumberColumn | CategoryColumn | TextColumn
"""A column with all that is needed to encode further cells of it."""

ENCODERS: dict[str, Any] = {kind.kind: kind for kind in get_args(ColumnEncoder)}


def kind_of(values: NDArray[Any]) -> Kind:
    """Return what a column is of which nobody said it; text has 3 words or more on average."""
    if values.dtype.kind in "fM":
        return "number"
    given = [value for value in values if value is not None]
    if not given:
        return "category"
    words = sum(len(value.split()) for value in given) / len(given)
    is_text = words >= TEXT_WORDS and len(set(given)) > TEXT_DISTINCT * len(given)
    return "text" if is_text else "category"


def check_kinds(
    kinds: Mapping[str, str] | None, columns: Collection[str], source: str
) -> dict[str, str]:
    """Return the wanted kinds of columns; unknown ones are refused by the argument's name."""
    for column, kind in (kinds or {}).items():
        if column not in columns:
            shown = ", ".join(list(columns)[:20])
            raise InputError(f"{source} must name columns among {shown:.300}, got {column!r:.60}")
        if kind not in get_args(Kind):
            raise InputError(
                f"{source} must be one of {', '.join(get_args(Kind))} for the column "
                f"{column!r:.60}, got {kind!r:.60}"
            )
    return dict(kinds or {})


def _are_different(values: Any) -> bool:
    """Return whether something is a tuple of strings, each once."""
    are_texts = type(values) is tuple and all(type(value) is str for value in values)
    return are_texts and len(set(values)) == len(values)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0
