"""What a person did, checked and made into a line of the journal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from gpgc.errors import InputError
from gpgc.labelling.ledger import Ledger, Record, Role

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
    raise InputError(f"do must be a known kind of event, got {do!r:.40}")


def item_line(
    line: Record,
    event: Record,
    name: str,
    role: Role,
    believed: tuple[Any, float] | None,
    ledger: Ledger,
    in_sight: bool = False,
) -> Record | None:
    """Return the line of a decision on an item, None where it has this label already.

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
    in_sight : bool
        Whether the person was told what the model thought.
    """
    line |= {"id": name, "role": role}
    do, label, before = event["do"], event.get("label"), ledger.labels.get(name)
    if do != "skip":
        _check_known(label, ledger)
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
    """Return the line of one label for many nodes, None where no node is left.

    Parameters
    ----------
    line : dict
        What all lines have.
    event : dict
        What came.
    nodes : sequence of str
        Ids of the nodes, without those that are to be left out.
    ledger : Ledger
        The state before.
    declined : sequence of str
        Ids of nodes that were shown as of this class and rejected.
    """
    _check_known(event.get("label"), ledger)
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


def _check_known(label: Any, ledger: Ledger) -> None:
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
