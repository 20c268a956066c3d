"""What the lines of a labelling journal add up to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from gpgc.errors import DataError, InputError
from gpgc.problem.roles import Role

DIGITS = "1234567890"
KEYS = (*DIGITS, *(f"⇧{digit}" for digit in DIGITS))


def class_keys(names: Sequence[str], letters: Mapping[str, str]) -> list[str]:
    """Return a key for each class, which no class that is added later changes.

    Examples
    --------
    >>> class_keys(["spam", "ham", "other"], {"ham": "h"})
    ['1', 'h', '3']
    >>> class_keys(["spam", "ham", "other"], {"spam": "3", "other": "1"})
    ['3', '2', '1']
    >>> class_keys(["0", "1", "neither"], {})
    ['0', '1', '3']
    """
    keys: list[str] = []
    only_digits = True
    for place, name in enumerate(names):
        only_digits = only_digits and len(name) == 1 and name in DIGITS
        taken = {*keys, *letters.values()}
        free = [key for key in KEYS[place:] + KEYS[:place] if key not in taken]
        usual = name if only_digits and name not in taken else (free or [""])[0]
        keys.append(letters.get(name) or usual)
    return keys


Record = dict[str, Any]

FORMAT, VERSION = "labels", 3
"""Version 2 has the events of ``GROUPED``, version 3 those of ``LATER``; older ones are read."""

LATER = ("keep", "goal", "rename", "delete", "style", "order", "second")
"""Events of version 3, whose lines carry it."""

STEPS = ("label", "correct", "skip", "bulk", "confirm", "class", "finish", "continue", *LATER)
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
    "keep": ["id"],
    "second": ["id", "label"],
    "rename": ["label", "to"],
    "delete": ["label"],
}
"""What the line of an event holds as text, besides its own name."""


@dataclass(frozen=True)
class Given:
    """The current label of a node: who gave it, when, and why the node was shown."""

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
class Goal:
    """The accuracy that is aimed at, to be known within so much to both sides."""

    accuracy: float
    within: float

    @classmethod
    def parse(cls, text: str) -> Goal:
        """Return the goal that a text such as ``95 ± 3``, ``95+-3`` or ``95`` names in per cent."""
        number = r"\s*(\d+\.?\d*)\s*%?\s*"
        found = re.fullmatch(rf"{number}(?:(?:±|\+-|\+/-){number})?", text)
        if found is None:
            raise InputError(f"a goal must be like '95 ± 3', in per cent, got {text!r:.40}")
        return cls(float(found[1]) / 100, float(found[2] or 3) / 100).checked()

    def checked(self) -> Goal:
        """Return the goal if it can be one."""
        for name, value, most in (("accuracy", self.accuracy, 1), ("within", self.within, 0.5)):
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not 0.005 <= value <= most:
                raise InputError(
                    f"{name} of a goal must be from 0.005 to {most}, got {value!r:.40}"
                )
        return self


@dataclass(eq=False)
class Ledger:
    """The state of a labelling session: a fold over the events of its journal, by `after`."""

    classes: tuple[str, ...] = ()  # in the order in which they are shown
    created: tuple[str, ...] = ()  # all that ever were, in the order in which they came
    labels: dict[str, Given] = field(default_factory=dict)
    skipped: dict[str, Role] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)  # some of the skipped
    entries: list[Entry] = field(default_factory=list)  # decisions that stand
    closing: tuple[str, ...] = ()  # nodes of the closing audit, none while labelling goes on
    declined: set[tuple[str, str]] = field(default_factory=set)  # rejected from a group of a class
    kept: dict[str, str | None] = field(default_factory=dict)  # label that was kept in a review
    conflicts: dict[str, Given] = field(default_factory=dict)  # the label that does not count
    seconds: dict[str, tuple[Given, Given]] = field(default_factory=dict)  # "" stands for none
    goal: Goal | None = None
    colours: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)  # all events, undone ones included
    first_classes: tuple[str, ...] = ()  # of the header

    def __post_init__(self) -> None:
        self.created = self.created or self.classes
        self.first_classes = self.first_classes or self.classes

    def __contains__(self, event: object) -> bool:
        return any(record["event"] == event for record in reversed(self.records))

    @property
    def decided(self) -> set[str]:
        """Ids that need no decision any more."""
        return self.labels.keys() | self.skipped.keys()

    @property
    def places(self) -> dict[str, int]:
        """Place of each class in the order in which they came, at most 254."""
        return {name: min(place, 254) for place, name in enumerate(self.created)}

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
        """Return the state after one more event; this one stays as it is."""
        if record["do"] == "undo":
            return replay(Ledger(self.first_classes), [*self.records, record])
        other = self._copy()
        other._step(record)
        other.records.append(record)
        return other

    def undoable(self, by: str) -> str | None:
        """Return the event that a person's next undo would take back, never an import."""
        active = _active(self.records)
        mine = (
            record["event"]
            for record in reversed(self.records)
            if record["do"] in STEPS and record.get("by") == by and record["event"] in active
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

    def _copy(self) -> Ledger:
        other = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict | list | set):
                setattr(other, name, value.copy())
        return other

    def _step(self, record: Record) -> None:
        """Add an event that is no undo, in place: a replay is linear in the lines."""
        do = record["do"]
        if do in ("finish", "continue"):
            self.closing = tuple(record.get("ids", ()))
        elif do in ("label", "correct", "skip", *GROUPED):
            self._decide(record)
        else:
            {
                "class": lambda: self._add_class(record["label"]),
                "keep": lambda: self._keep(record["id"]),
                "second": lambda: self._second(record),
                "goal": lambda: self._aim(record),
                "rename": lambda: self._rename(record["label"], record["to"]),
                "delete": lambda: self._delete(record["label"]),
                "style": lambda: self._style(record),
                "order": lambda: self._order(record["classes"]),
            }[do]()

    def _decide(self, record: Record) -> None:
        do, label = record["do"], record.get("label")
        names, is_skip = ids_of(record), do == "skip"
        by, at, event = _by(record), str(record.get("at", "")), record["event"]
        is_blind = do not in GROUPED and not record.get("in_sight")
        self.declined |= {(name, str(label)) for name in record.get("declined", ())}
        roles: list[Role] = []
        for name in names:
            before = self.labels.get(name)
            roles.append(record.get("role") or (before.role if before else "chosen"))
            self.kept.pop(name, None)
            self.conflicts.pop(name, None)
            self.unsure.discard(name)
            if is_skip:
                self.skipped[name] = roles[-1]
                self.labels.pop(name, None)
                if record.get("note") == "unsure":
                    self.unsure.add(name)
                continue
            if before and before.by != by and before.label != label and not record.get("reviewed"):
                self.conflicts[name] = before
            self.skipped.pop(name, None)
            self.labels[name] = Given(str(label), roles[-1], by, at, event, is_blind)
        if names:
            self.entries.append(Entry(event, do, names[0], label, by, at, roles[0], len(names)))
            if not is_skip:  # a class that has labels is there, even where its event was undone
                self._add_class(str(label))

    def _add_class(self, label: str) -> None:
        if label not in self.classes:
            self.classes += (label,)
        if label not in self.created:
            self.created += (label,)

    def _keep(self, name: str) -> None:
        given = self.labels.get(name)
        self.kept[name] = given.label if given else None
        self.conflicts.pop(name, None)

    def _second(self, record: Record) -> None:
        """Note a second answer: a conflict where it is another, the label where there is none."""
        name, label = record["id"], record["label"]
        first = self.labels.get(name)
        if first is None:
            return self._decide(record) if label else None
        own = (_by(record), str(record.get("at", "")), record["event"])
        second = Given(label, first.role, *own)
        self.seconds[name] = first, second
        self.entries.append(Entry(own[2], "second", name, label or None, *own[:2], first.role))
        if label and label != first.label:
            self.conflicts[name] = second
        return None

    def _aim(self, record: Record) -> None:
        accuracy = record.get("accuracy")
        self.goal = None if accuracy is None else Goal(accuracy, record["within"])

    def _rename(self, old: str, new: str) -> None:
        """Give a class another name; where there is one of that name, it takes up its labels."""
        is_merge = new in self.classes

        def named(label: Any) -> Any:
            return new if label == old else label

        for given in (self.labels, self.conflicts):
            for name, each in given.items():
                if each.label == old:
                    given[name] = replace(each, label=new)
        self.seconds = {
            name: (replace(a, label=named(a.label)), replace(b, label=named(b.label)))
            for name, (a, b) in self.seconds.items()
        }
        self.kept = {name: named(label) for name, label in self.kept.items()}
        self.declined = {(name, named(label)) for name, label in self.declined}
        self.entries = [replace(each, label=named(each.label)) for each in self.entries]
        self.classes = tuple(dict.fromkeys(map(named, self.classes)))
        if not is_merge:
            self.created = tuple(map(named, self.created))
            self.colours = {named(label): each for label, each in self.colours.items()}
            self.keys = {named(label): each for label, each in self.keys.items()}

    def _delete(self, label: str) -> None:
        """Take a class away with its labels, whose nodes are open again."""
        for given in (self.labels, self.conflicts):
            for name in [name for name, each in given.items() if each.label == label]:
                del given[name]
        self.seconds = {
            name: both
            for name, both in self.seconds.items()
            if all(each.label != label for each in both)
        }
        self.entries = [each for each in self.entries if each.label != label]
        self.declined = {each for each in self.declined if each[1] != label}
        self.classes = tuple(name for name in self.classes if name != label)
        for style in (self.colours, self.keys):
            style.pop(label, None)

    def _style(self, record: Record) -> None:
        self.colours |= record.get("colours", {})
        self.keys |= record.get("keys", {})

    def _order(self, classes: list[str]) -> None:
        known = [name for name in classes if name in self.classes]
        self.classes = tuple(dict.fromkeys([*known, *self.classes]))


def replay(start: Ledger, records: Iterable[Record]) -> Ledger:
    """Return the state after all events, without those that were undone."""
    state = start._copy()
    state.records += records
    active = _active(state.records)
    for record in state.records:
        if record["do"] != "undo" and record["event"] in active:
            state._step(record)
    return state


def check_record(record: Record, where: str) -> Record:
    """Return a line of a journal, or refuse it in one sentence."""
    do = record.get("do")
    needed = ["event", *NEEDED.get(str(do), [])]
    known = do in (*STEPS, "undo") and all(isinstance(record.get(key), str) for key in needed)
    if do in ("finish", *GROUPED):
        names = record.get("ids")
        known = known and _are_names(names) and (bool(names) or do == "confirm")
    if do == "order":
        known = known and _are_names(record.get("classes"))
    if do == "goal" and record.get("accuracy") is not None:
        known = known and all(_is_fraction(record.get(key)) for key in ("accuracy", "within"))
    styles = [record.get(key, {}) for key in ("colours", "keys")]
    known = known and all(
        isinstance(each, dict) and _are_names([*each.values()]) for each in styles
    )
    known = known and _are_names(record.get("declined", []))
    if not known or record.get("role", "chosen") not in get_args(Role):
        raise DataError(f"{where} must be an event of a labelling journal, got {record!r:.100}")
    return record


def ids_of(record: Record) -> list[str]:
    """Return the ids of the nodes that a line is about, none for one about the session."""
    if record["do"] in ("finish", *GROUPED):
        return list(record["ids"])
    return [record["id"]] if record["do"] in ("label", "correct", "skip", "keep", "second") else []


def _are_names(names: Any) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


def _is_fraction(value: Any) -> bool:
    return isinstance(value, int | float) and 0 < value < 1


def _by(record: Record) -> str:
    return str(record.get("by", ""))


def _active(records: list[Record]) -> set[str]:
    """Return the events that were not undone; undoing an undo brings its event back."""
    active = {record["event"] for record in records}
    for record in reversed(records):
        if record["do"] == "undo" and record["event"] in active:
            active.discard(record["undone"])
    return active
