"""What a person did, checked and made into a line of the journal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from gpgc.errors import InputError
from gpgc.labelling.ledger import Ledger, Record, Role

MAX_CLASSES, MAX_LABEL = 100, 200


class UnknownClassError(InputError):
    """A label that is none of the classes."""


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
    raise InputError(f"do must be a known kind of event, got {do!r:.40}")


def item_line(
    line: Record,
    event: Record,
    name: str,
    role: Role,
    believed: tuple[Any, float] | None,
    ledger: Ledger,
) -> Record:
    """Return the line of a decision on an item.

    Parameters
    ----------
    line : dict
        What all lines have.
    event : dict
        What came.
    name : str
        The item's id.
    role : str
        Why it was shown.
    believed : tuple, optional
        What the model thought of it before.
    ledger : Ledger
        The state before.
    """
    line |= {"id": name, "role": role}
    if event["do"] != "skip":
        label = event.get("label")
        if label not in ledger.classes:
            raise UnknownClassError(f"label must be one of the classes, got {label!r:.60}")
        line |= {"label": label, "do": "correct" if name in ledger.labels else "label"}
    if believed is not None:
        line |= {"believed": [believed[0], round(believed[1], 3)]}
    if isinstance(event.get("seconds"), int | float):
        line |= {"seconds": round(min(float(event["seconds"]), 86400.0), 2)}
    return line | ({"note": "unsure"} if event.get("note") == "unsure" else {})


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
