"""What the lines of a labelling journal add up to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from gpgc.errors import DataError

Role = Literal["suggested", "audit", "closing", "chosen", "imported"]
RANDOM_ROLES: tuple[Role, ...] = ("audit", "closing")
"""Roles of nodes that were drawn at random."""

Record = dict[str, Any]

FORMAT, VERSION = "labels", 2
"""Version 2 has the events ``bulk`` and ``confirm``; journals of version 1 are read as they are."""

STEPS = ("label", "correct", "skip", "bulk", "confirm", "class", "finish", "continue")
"""What an event may do, besides undoing another."""

GROUPED = ("bulk", "confirm")
"""Events that give one label to many nodes."""

NEEDED = {
    "undo": ["undone"],
    "class": ["label"],
    "bulk": ["label"],
    "confirm": ["label"],
    "label": ["id", "label"],
    "correct": ["id", "label"],
    "skip": ["id"],
}
"""What the line of an event holds as text, besides its own name."""


@dataclass(frozen=True)
class Given:
    """The current label of a node: who gave it, when, and why the node was shown.

    It is blind where nobody was told what the model thinks of the node before, and the node was
    answered alone.
    """

    label: str
    role: Role
    by: str
    at: str
    event: str
    is_blind: bool = True


@dataclass(frozen=True)
class Entry:
    """One decision that stands, for the history; on ``n_items``, of which ``id`` is the first."""

    event: str
    do: str
    id: str
    label: str | None
    by: str
    at: str
    role: Role
    n_items: int = 1


@dataclass(frozen=True)
class Ledger:
    """The state of a labelling session: a fold over the events of its journal.

    Attributes
    ----------
    classes : tuple of str
        In the order of their keys.
    labels : dict of str to Given
        The current label of each labelled node, by its id.
    skipped : dict of str to str
        The role of each node that was skipped.
    entries : tuple of Entry
        Decisions that stand, oldest first.
    closing : tuple of str
        Nodes of the closing audit that was begun last, none while labelling goes on.
    declined : frozenset of (str, str)
        Nodes that were rejected from a group of a class, each with that class.
    records : tuple of dict
        All events, those that were undone included.

    Examples
    --------
    >>> ledger = Ledger(("cat", "dog"))
    >>> line = {"event": "e1", "do": "label", "id": "n1", "label": "cat", "role": "suggested"}
    >>> ledger = ledger.after(line)
    >>> ledger.labels["n1"].label
    'cat'
    >>> ledger.after({"event": "e2", "do": "undo", "undone": "e1"}).labels
    {}
    """

    classes: tuple[str, ...] = ()
    labels: dict[str, Given] = field(default_factory=dict)
    skipped: dict[str, Role] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    closing: tuple[str, ...] = ()
    declined: frozenset[tuple[str, str]] = frozenset()
    records: tuple[Record, ...] = ()
    first_classes: tuple[str, ...] | None = None

    def __contains__(self, event: object) -> bool:
        return any(record["event"] == event for record in reversed(self.records))

    @property
    def decided(self) -> set[str]:
        """Ids that need no decision any more."""
        return self.labels.keys() | self.skipped.keys()

    @property
    def learnt(self) -> dict[str, str]:
        """Labels that the model learns from, without audit items and a closing audit that is on."""
        closed: tuple[Role, ...] = () if self.closing else ("closing",)
        return self.with_role("suggested", "chosen", "imported", *closed)

    @property
    def phase(self) -> str:
        """Either ``"labelling"``, or ``"closing"`` and then ``"closed"`` once all is audited."""
        if not self.closing:
            return "labelling"
        decided = self.decided
        return "closed" if all(name in decided for name in self.closing) else "closing"

    def after(self, record: Record) -> Ledger:
        """Return the state after one more event."""
        if record["do"] == "undo":
            return replay(self._begin(), (*self.records, record))
        return replace(self._step(record), records=(*self.records, record))

    def undoable(self, by: str) -> str | None:
        """Return the event that a person's next undo would take back."""
        active = _active(self.records)
        mine = (
            record["event"]
            for record in reversed(self.records)
            if record["do"] in STEPS and _by(record) == by and record["event"] in active
        )
        return next(mine, None)

    def redoable(self, by: str) -> str | None:
        """Return the undo that a person's next redo would take back."""
        undone: list[str] = []
        for record in self.records:
            if _by(record) != by:
                continue
            if record["do"] != "undo":
                undone.clear()
            elif record["undone"] in undone:
                undone.remove(record["undone"])
            else:
                undone.append(record["event"])
        return undone[-1] if undone else None

    def is_declined(self, name: str) -> bool:
        """Return whether a node was rejected from a group of any class."""
        return any((name, label) in self.declined for label in self.classes)

    def with_role(self, *roles: Role) -> dict[str, str]:
        """Return the labels of nodes that were shown for these reasons, by id."""
        return {name: given.label for name, given in self.labels.items() if given.role in roles}

    def _begin(self) -> Ledger:
        first = self.classes if self.first_classes is None else self.first_classes
        return Ledger(first, first_classes=first)

    def _step(self, record: Record) -> Ledger:
        do = record["do"]
        first = self.classes if self.first_classes is None else self.first_classes
        if do == "class":
            classes = dict.fromkeys((*self.classes, record["label"]))
            return replace(self, classes=tuple(classes), first_classes=first)
        if do in ("finish", "continue"):
            return replace(self, closing=tuple(record.get("ids", ())), first_classes=first)
        names, label = ids_of(record), record.get("label")
        rejected = {(name, str(label)) for name in record.get("declined", ())}
        declined = self.declined | rejected
        if not names:  # a group of which nothing was right
            return replace(self, declined=declined, first_classes=first)
        by, at, event = _by(record), str(record.get("at", "")), record["event"]
        labels, skipped = dict(self.labels), dict(self.skipped)
        for name in names:
            before = labels.get(name)
            role = record.get("role") or (before.role if before else "chosen")
            if do == "skip":
                skipped[name] = role
                labels.pop(name, None)
            else:
                skipped.pop(name, None)
                is_blind = do not in GROUPED and not record.get("in_sight")
                labels[name] = Given(str(label), role, by, at, event, is_blind)
        entry = Entry(event, do, names[0], label, by, at, role, len(names))
        # a class that has labels is there, even where its own event was undone
        classes = self.classes if do == "skip" else tuple(dict.fromkeys((*self.classes, label)))
        return replace(
            self,
            classes=classes,
            labels=labels,
            skipped=skipped,
            entries=(*self.entries, entry),
            declined=declined,
            first_classes=first,
        )


def replay(start: Ledger, records: Iterable[Record]) -> Ledger:
    """Return the state after all events, without those that were undone."""
    lines = tuple(records)
    active = _active(lines)
    ledger = start
    for record in lines:
        if record["do"] != "undo" and record["event"] in active:
            ledger = ledger._step(record)
    return replace(ledger, records=lines)


def check_record(record: Record, where: str) -> Record:
    """Return a line of a journal, or refuse it in one sentence."""
    do = record.get("do")
    needed = ["event", *NEEDED.get(str(do), [])]
    known = do in (*STEPS, "undo") and all(isinstance(record.get(key), str) for key in needed)
    if do in ("finish", *GROUPED):
        names = record.get("ids")
        known = known and _are_names(names) and (bool(names) or do == "confirm")
    known = known and _are_names(record.get("declined", []))
    if not known or record.get("role", "chosen") not in get_args(Role):
        raise DataError(f"{where} must be an event of a labelling journal, got {record!r:.100}")
    return record


def ids_of(record: Record) -> list[str]:
    """Return the ids of the nodes that a line is about, none for one about the session.

    Examples
    --------
    >>> ids_of({"do": "label", "id": "n1"}), ids_of({"do": "bulk", "ids": ["n1", "n2"]})
    (['n1'], ['n1', 'n2'])
    """
    if record["do"] in ("finish", *GROUPED):
        return list(record["ids"])
    return [record["id"]] if record["do"] in ("label", "correct", "skip") else []


def _are_names(names: Any) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


def _by(record: Record) -> str:
    return str(record.get("by", ""))


def _active(records: tuple[Record, ...]) -> set[str]:
    """Return the events that were not undone; undoing an undo brings its event back."""
    active = {record["event"] for record in records}
    for record in reversed(records):
        if record["do"] == "undo" and record["event"] in active:
            active.discard(record["undone"])
    return active
