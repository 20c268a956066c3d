"""Suggestions from outside: guesses of another source, shown but never learnt from as they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpgc.errors import InputError
from gpgc.files import read_table
from gpgc.files.cells import parse_number, shorten
from gpgc.labelling.events import check_label
from gpgc.labelling.ledger import Ledger
from gpgc.probability.fraction import exact_interval
from gpgc.problem.roles import RANDOM_ROLES

WITHHELD = 0.1
"""Fraction of the items whose guess is never shown, so that nobody can tell the random ones."""


@dataclass(frozen=True, eq=False)
class Guesses:
    """What another source thinks of some nodes: a language model, rules, an older model."""

    name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)

    def measured(self, ledger: Ledger) -> dict[str, Any] | None:
        """Return how often the source is right, with its exact interval, by random items."""
        answers = {
            name: given.label
            for name, given in ledger.labels.items()
            if given.role in RANDOM_ROLES and given.is_blind and name in self.labels
        }
        if not answers:
            return None
        right = sum(self.labels[name] == label for name, label in answers.items())
        interval = exact_interval(right, len(answers)).as_dict()
        return {"name": self.name, "right": right, "of": len(answers), **interval}


def read_guesses(
    path: Path, ids: Collection[str], columns: Mapping[str, str] | None = None
) -> Guesses:
    """Read a table with the columns ``id,label`` and maybe ``score``; empty labels say nothing."""
    known, labels, scores = set(ids), {}, {}
    for place, row in read_table(path).select(["id", "label"], ["score"], names=columns):
        name, label, score = row["id"], row["label"].strip(), row.get("score", "").strip()
        if name not in known:
            raise InputError(f"{place}: a guess for {shorten(name)}, which is no item")
        if name in labels:
            raise InputError(f"{place}: {shorten(name)} has a second guess")
        if not label:
            continue
        labels[name] = check_label(label, ())
        if score:
            scores[name] = parse_number(score, place, "score")
            if not 0 <= scores[name] <= 1:
                raise InputError(f"{place}: expected a score from 0 to 1, got {shorten(score)}")
    if not labels:
        raise InputError(f"{path}: expected at least one guess, got none")
    return Guesses(path.stem, labels, scores)
