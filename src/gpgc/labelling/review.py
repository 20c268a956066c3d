"""Answers that are worth a second look: contradicted, skipped, or given differently by two."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple

from gpgc.errors import DataError, InputError
from gpgc.estimators import GPGCClassifier
from gpgc.labelling.ledger import Ledger
from gpgc.problem.roles import RANDOM_ROLES

if TYPE_CHECKING:
    from gpgc.labelling.session import Session

SUSPICIOUS = 0.2
"""Probability of being wrong from which on a label is asked about again."""

LEAST_LABELS, GROWTH = 10, 2
"""Labels from which on they are checked, and again by itself each time they have doubled."""


class Suspect(NamedTuple):
    """A label that the other labels contradict, what they say, and how probably it is wrong."""

    label: str
    likely: str
    wrong: float


def review_entries(ledger: Ledger, suspects: Mapping[str, Suspect]) -> list[dict[str, Any]]:
    """Return what is to be looked at again, the most pressing first.

    Conflicts between people, then labels that the others contradict, then unsure and skipped items.
    Random items are never called suspicious: whether the model is right is measured by them, which
    a second look only where the model disagrees would bias.
    """
    found: list[dict[str, Any]] = []
    for name, other in ledger.conflicts.items():
        given = ledger.labels[name]
        found.append(
            {"id": name, "why": "conflict", "label": given.label, "by": given.by}
            | {"other": other.label, "other_by": other.by}
        )
    for name, (label, likely, wrong) in sorted(suspects.items(), key=lambda each: -each[1].wrong):
        given_now = ledger.labels.get(name)
        if given_now is None or given_now.label != label or name in ledger.conflicts:
            continue
        if given_now.role not in RANDOM_ROLES and name not in ledger.kept:
            why = "imported" if given_now.role == "imported" else "contradicted"
            found.append(
                {"id": name, "why": why, "label": label, "by": given_now.by}
                | {"other": likely, "wrong": round(wrong, 3)}
            )
    skipped = [name for name in ledger.skipped if name not in ledger.kept]
    skipped.sort(key=lambda name: name not in ledger.unsure)
    for name in skipped:
        why = "unsure" if name in ledger.unsure else "skipped"
        found.append({"id": name, "why": why, "label": None})
    return found


class LabelWatch:
    """Checks the labels of a session in the background, now and then or when it is asked to."""

    def __init__(self, session: Session) -> None:
        self._session, self._guard = session, threading.Lock()
        self._checked: dict[str, str] = {}
        self._is_running = self._is_wanted_again = False
        self.suspects: dict[str, Suspect] = {}

    def follow(self, *, at_once: bool = False) -> bool:
        """Check again where labels have doubled, or ``at_once``; return whether it is going on."""
        labels = self._session.ledger.learnt
        enough = LEAST_LABELS if not self._checked else GROWTH * len(self._checked)
        is_due = at_once and labels != self._checked
        with self._guard:
            if self._is_running:
                self._is_wanted_again |= at_once
                return True
            if len(set(labels.values())) < 2:
                return False
            if len(labels) < LEAST_LABELS or not (is_due or len(labels) >= enough):
                return False
            self._is_running = True
        known = {self._session.index[name]: label for name, label in labels.items()}
        self._session.live.fit(known).add_done_callback(lambda done: self._note(done, labels))
        return True

    def _note(self, done: Future[GPGCClassifier], labels: dict[str, str]) -> None:
        if done.cancelled() or self._session.live.is_stopping:
            return
        try:
            self.suspects = _suspects(done.result(), self._session.ids)
        except (DataError, InputError):  # of labels that are too few for it
            self.suspects = {}
        finally:
            self._checked, self._is_running = labels, False
            is_wanted, self._is_wanted_again = self._is_wanted_again, False
        if is_wanted:  # there may be other labels by now
            self.follow(at_once=True)
        self._session.announce("review")


def _suspects(estimator: GPGCClassifier, ids: list[str]) -> dict[str, Suspect]:
    found = estimator.check_labels()
    return {
        ids[node]: Suspect(str(given), str(likely), float(wrong))
        for node, given, likely, wrong in zip(
            found.nodes.tolist(), found.given, found.likely, found.probability, strict=True
        )
        if wrong >= SUSPICIOUS and given != likely
    }
