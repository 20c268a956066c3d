"""TF-IDF of texts, as a list of terms with their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from gpgc._typing import Array

MAX_TERMS = 20_000
"""Terms that are kept, the most frequent ones."""

PATTERNS = (r"(?u)\b\w\w+\b", r"\S+")
"""What a word is: two letters or more; where no text has such words, anything between spaces."""


@dataclass(frozen=True, eq=False)
class Words:
    """Terms of texts with their inverse document frequencies.

    A text becomes (1 + log count) · idf of each of its terms, scaled to length 1. A term must
    occur in two texts.

    Parameters
    ----------
    terms : tuple of str
        In the order of the columns.
    idf : array of shape (number of terms,)
        ln((1 + N) / (1 + number of texts with the term)) + 1.
    pattern : str
        One of ``PATTERNS``.

    Examples
    --------
    >>> words = Words.fit(["red apple", "green apple", "red tree"])
    >>> words.terms
    ('apple', 'red')
    >>> words.transform(["apple apple pie"]).toarray()
    array([[1., 0.]])
    """

    terms: tuple[str, ...]
    idf: Array
    pattern: str = PATTERNS[0]

    @classmethod
    def fit(cls, texts: Sequence[str]) -> Words:
        """Return the terms of texts; none where no text has a word."""
        for pattern in PATTERNS:
            for least in dict.fromkeys((min(2, len(texts)), 1)):
                vectors = TfidfVectorizer(
                    sublinear_tf=True, max_features=MAX_TERMS, min_df=least, token_pattern=pattern
                )
                try:
                    vectors.fit(texts)
                except ValueError:  # no terms remain
                    continue
                return cls(tuple(vectors.get_feature_names_out()), vectors.idf_, pattern)
        return cls((), np.empty(0))

    def transform(self, texts: Sequence[str]) -> sp.csr_array:
        """Return the rows (N, number of terms) of texts."""
        if not self.terms:
            return sp.csr_array((len(texts), 0))
        vectors = TfidfVectorizer(
            sublinear_tf=True, vocabulary=list(self.terms), token_pattern=self.pattern
        )
        vectors.idf_ = self.idf
        return sp.csr_array(vectors.transform(texts))
