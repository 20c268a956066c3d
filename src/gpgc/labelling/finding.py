"""Items by their words, class, certainty or person, to be listed and asked next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import InputError
from gpgc.labelling.items import Items
from gpgc.labelling.opinion import NOTHING, SURE
from gpgc.labelling.session import Session

State = Literal["", "labelled", "unlabelled", "skipped", "doubt", "sure"]

DOUBT = 0.6
"""Probability below which the model is in doubt, as the map has it."""

SEARCHED_LINES = 20_000
"""Number of nodes up to which a search looks into their lines too."""


@dataclass(frozen=True)
class Wanted:
    """What items are looked for: all that is given must hold, and what is empty does not count."""

    text: str = ""
    label: str = ""
    state: State = ""
    by: str = ""

    def __post_init__(self) -> None:
        if self.state not in get_args(State):
            known = ", ".join(get_args(State)[1:])
            raise InputError(f"state must be one of {known}, got {self.state!r:.40}")


def find(session: Session, items: Items, wanted: Wanted) -> list[int]:
    """Return the nodes that are wanted: the least sure first of those in doubt, else in order.

    What the model thinks finds no item that is asked one by one (:meth:`Session.group`): it would
    not be blind any more.
    """
    opinion, ledger, index = session.live.opinion, session.ledger, session.index
    given = _mask(session, ledger.labels)
    meant = np.ones(len(session.ids), dtype=bool)
    by_model = np.zeros(len(meant), dtype=bool)  # found by what the model thinks
    if wanted.by:
        meant &= _mask(session, [name for name, g in ledger.labels.items() if g.by == wanted.by])
    if wanted.label:
        same = _mask(session, [n for n, g in ledger.labels.items() if g.label == wanted.label])
        likely = opinion.classes.index(wanted.label) if wanted.label in opinion.classes else -1
        by_model |= ~given & (opinion.codes == likely)
        meant &= same | by_model
    if wanted.state == "labelled":
        meant &= given
    elif wanted.state:
        meant &= ~given
        skipped = _mask(session, ledger.skipped)
        certainty = opinion.certainty / (NOTHING - 1)
        meant &= {
            "unlabelled": ~skipped,
            "skipped": skipped,
            "doubt": (opinion.codes != NOTHING) & (certainty < DOUBT),
            "sure": (opinion.codes != NOTHING) & (certainty >= SURE),
        }[wanted.state]
        if wanted.state in ("doubt", "sure"):
            by_model |= meant
    free, _ = session.group(np.flatnonzero(meant & by_model).tolist())
    meant &= ~by_model
    meant[free] = True
    found = np.flatnonzero(meant)
    if wanted.state in ("doubt", "sure"):
        sign = 1 if wanted.state == "doubt" else -1
        found = found[np.argsort(sign * opinion.certainty[found].astype(int), kind="stable")]
    return _with_text(found.tolist(), wanted.text[:200], session, items, index.get(wanted.text))


def _mask(session: Session, names: Iterable[str]) -> NDArray[np.bool_]:
    mask = np.zeros(len(session.ids), dtype=bool)
    mask[[session.index[name] for name in names]] = True
    return mask


def _with_text(
    nodes: list[int], text: str, session: Session, items: Items, exact: int | None
) -> list[int]:
    wanted, ids = text.casefold(), session.ids
    if not wanted:
        return nodes
    by_name = [node for node in nodes if wanted in ids[node].casefold()]
    known = set(by_name)
    lines = nodes if len(ids) <= SEARCHED_LINES else []
    by_line = [n for n in lines if n not in known and wanted in items.line(n).casefold()]
    return sorted([*by_name, *by_line], key=lambda node: node != exact)
