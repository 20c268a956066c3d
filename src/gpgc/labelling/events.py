"""What a person did, checked and made into a line of the journal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from gpgc.errors import InputError
from gpgc.labelling.ledger import VERSION, Goal, Ledger, Record
from gpgc.problem.roles import Role

MAX_CLASSES, MAX_LABEL, MAX_BULK = 100, 200, 500


class UnknownClassError(InputError):
    """A label that is none of the classes."""


class ConflictError(InputError):
    """An answer to an item that got another one meanwhile, which is not overwritten in silence."""


def session_line(line: Record, event: Record, ledger: Ledger) -> Record | None:
    """Return the line of an event that is about no item, None where there is nothing to undo."""
    do, by = event.get("do"), line["by"]
    if do in ("undo", "redo"):
        target = ledger.undoable(by) if do == "undo" else ledger.redoable(by)
        return None if target is None else line | {"do": "undo", "undone": target}
    if do == "class":
        return line | {"label": check_label(event.get("label"), ledger.classes)}
    if do == "continue":
        return line
    if do == "goal":
        return _goal_line(line, event, ledger)
    raise InputError(f"do must be a known kind of event, got {do!r:.40}")


def _goal_line(line: Record, event: Record, ledger: Ledger) -> Record | None:
    """Return the line of a goal, such as 0.95 within 0.03, or of none."""
    if event.get("accuracy") is None:
        return line | {"version": VERSION, "accuracy": None} if ledger.goal else None
    goal = Goal(event["accuracy"], event.get("within", 0.03)).checked()
    return None if goal == ledger.goal else line | {"version": VERSION, **asdict(goal)}


def keep_line(line: Record, name: str, event: Record, ledger: Ledger) -> Record:
    """Return the line of an item whose label, or lack of one, was looked at again and kept."""
    if name not in ledger.decided:
        raise InputError("item must have been decided, to be kept as it is")
    given = ledger.labels.get(name)
    if event.get("was") != (given.label if given else None):
        raise ConflictError(f"Item {name:.80} was changed meanwhile; look at it again.")
    return line | {"version": VERSION, "id": name}


def second_line(line: Record, event: Record, name: str, ledger: Ledger) -> Record:
    """Return the line of a second person's answer to an item, empty where it was skipped."""
    label = "" if event["do"] == "skip" else event.get("label")
    if label != "":
        check_known(label, ledger)
    return line | {"do": "second", "version": VERSION, "id": name, "label": label, "role": "audit"}


def item_line(
    line: Record,
    event: Record,
    name: str,
    role: Role,
    believed: tuple[Any, float] | None,
    ledger: Ledger,
    in_sight: bool = False,
) -> Record | None:
    """Return the line of a decision on an item, None where it has this label already."""
    line |= {"id": name, "role": role}
    do, label, before = event["do"], event.get("label"), ledger.labels.get(name)
    if do != "skip":
        check_known(label, ledger)
        line |= {"label": label, "do": "correct" if before else "label"}
    if before:
        is_meant = event["was"] == before.label if "was" in event else do == "correct"
        if not is_meant and do == "label" and label == before.label:
            return None
        if not is_meant:
            who = f" by {before.by}" if before.by else ""
            raise ConflictError(
                f"Item {name:.80} was labelled {before.label}{who} meanwhile; your answer is not "
                "taken. Open the item to change its label."
            )
    if in_sight:
        line |= {"in_sight": True}
    if event.get("reviewed") is True:
        line |= {"reviewed": True}
    if believed is not None:
        line |= {"believed": [believed[0], round(believed[1], 3)]}
    if isinstance(event.get("seconds"), int | float):
        line |= {"seconds": round(min(float(event["seconds"]), 86400.0), 2)}
    return line | ({"note": "unsure"} if event.get("note") == "unsure" else {})


def bulk_line(
    line: Record,
    event: Record,
    nodes: Sequence[str],
    ledger: Ledger,
    declined: Sequence[str] = (),
) -> Record | None:
    """Return the line of one label for many nodes, None where no node is left."""
    check_known(event.get("label"), ledger)
    if not nodes and not declined:
        return None
    rejected = {"declined": list(declined)} if declined else {}
    return line | {"ids": list(nodes), "label": event["label"]} | rejected


def check_items(nodes: Any, n_nodes: int) -> list[int]:
    """Return the nodes that an event is about, each once."""
    if not isinstance(nodes, list) or len(nodes) > MAX_BULK:
        got = f"{len(nodes):,}" if isinstance(nodes, list) else f"{nodes!r:.40}"
        raise InputError(f"items must be a list of at most {MAX_BULK} nodes, got {got}")
    return list(dict.fromkeys(check_item(node, n_nodes) for node in nodes))


def check_known(label: Any, ledger: Ledger) -> None:
    """Refuse a label that is none of the classes."""
    if label not in ledger.classes:
        raise UnknownClassError(f"label must be one of the classes, got {label!r:.60}")


def check_label(label: Any, known: Sequence[str]) -> str:
    """Return the name of a new class, or refuse it."""
    name = label.strip() if isinstance(label, str) else ""
    if not name or len(name) > MAX_LABEL or any(ord(letter) < 32 for letter in name):
        raise InputError(f"label must be a line of 1 to {MAX_LABEL} characters, got {label!r:.60}")
    if len(known) >= MAX_CLASSES and name not in known:
        raise InputError(f"label must be one of at most {MAX_CLASSES} classes, got one more")
    return name


def check_item(node: Any, n_nodes: int) -> int:
    """Return the node that an event is about."""
    if not isinstance(node, int) or isinstance(node, bool) or not 0 <= node < n_nodes:
        raise InputError(f"item must be a node from 0 to {n_nodes - 1}, got {node!r:.40}")
    return node


def now() -> str:
    """Return the time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


KINDS = ("rename", "delete", "style", "order")
"""Events about classes."""


def class_line(line: Record, event: Record, ledger: Ledger, keys: dict[str, str]) -> Record | None:
    """Return the line of an event about classes, None where it changes nothing."""
    do, label = event["do"], event.get("label")
    line |= {"version": VERSION}
    if do == "order":
        return _order_line(line, event.get("classes"), ledger)
    check_known(label, ledger)
    if do == "rename":
        to = check_label(event.get("to"), ledger.classes[1:])  # one goes for one that comes
        return None if to == label else line | {"label": label, "to": to}
    if do == "delete":
        if len(ledger.classes) == 1:
            raise InputError(f"label must not be the only class, got {label!r:.60}")
        return line | {"label": label}
    return _style_line(line, event, str(label), keys)


def _style_line(line: Record, event: Record, label: str, keys: dict[str, str]) -> Record | None:
    if "colour" in event:
        colour = event["colour"]
        if not isinstance(colour, str) or not re.fullmatch("#[0-9a-f]{6}", colour):
            raise InputError(f"colour must be like '#3f90da', got {colour!r:.40}")
        return line | {"colours": {label: colour}}
    key = event.get("key")
    if not isinstance(key, str) or not re.fullmatch("⇧?[0-9]|[a-z]", key):
        raise InputError(f"key must be a digit, ⇧ and a digit, or a letter, got {key!r:.40}")
    if keys[label] == key:
        return None
    holder = next((name for name, each in keys.items() if each == key), None)
    swapped = {holder: keys[label]} if holder else {}
    return line | {"keys": {label: key} | swapped}


def _order_line(line: Record, classes: Any, ledger: Ledger) -> Record | None:
    if not isinstance(classes, list) or sorted(map(str, classes)) != sorted(ledger.classes):
        raise InputError(f"classes must be all classes in another order, got {classes!r:.80}")
    return None if tuple(classes) == ledger.classes else line | {"classes": classes}
