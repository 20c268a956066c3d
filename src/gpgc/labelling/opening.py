"""Opening a journal of labels, one session each: a new one, or one to go on with."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeGuard

from gpgc.errors import DataError, InputError
from gpgc.files import Journal
from gpgc.labelling.events import MAX_CLASSES, check_label, now
from gpgc.labelling.ledger import (
    FORMAT,
    VERSION,
    Ledger,
    Record,
    check_record,
    ids_of,
    replay,
)


def lock_beside(path: Path) -> IO[bytes]:
    """Hold a lock file beside a journal; it ends with the returned file, or with the process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.with_name(f".{path.name}.lock").open("ab")
    if os.name != "posix":
        return file
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise InputError(f"{path} is open in another gpgc label") from error
    return file


def open_ledger(
    journal: Journal, ids: Sequence[str], classes: Sequence[str], seed: int
) -> tuple[int, Ledger]:
    """Return the seed and the state of a journal; an empty one gets its header."""
    digest = hashlib.sha256("\n".join(ids).encode()).hexdigest()
    path = journal.path
    if not journal.records:
        journal.append(
            {
                "gpgc": FORMAT,
                "version": VERSION,
                "nodes": len(ids),
                "ids_sha256": digest,
                "classes": list(classes),
                "seed": seed,
            }
        )
    header, *lines = journal.records
    named, number = _check_header(header, str(path))
    if header.get("ids_sha256") != digest:
        raise DataError(
            f"{path} must be a journal of these {len(ids):,} nodes, got one of other data "
            f"({header.get('nodes')} nodes): name another file with --journal"
        )
    records = [check_record(line, f"{path} line {i}") for i, line in enumerate(lines, 2)]
    known = set(ids)
    for record in records:
        for name in ids_of(record):
            if name not in known:
                raise DataError(f"{path} must name nodes of this graph, got {name!r:.80}")
    return number, replay(Ledger(named), _unique(records))


def _check_header(header: Record, where: str) -> tuple[tuple[str, ...], int]:
    """Return the classes and the seed that the first line of a journal holds."""
    classes, version, seed = header.get("classes"), header.get("version"), header.get("seed", 0)
    if header.get("gpgc") != FORMAT or not isinstance(classes, list):
        raise DataError(f"{where} must be a journal of labels, got {header!r:.80}")
    if not _is_count(version) or version < 1:
        raise DataError(
            f"{where} line 1: version must be a whole number from 1, got {version!r:.40}"
        )
    if version > VERSION:
        raise DataError(f"{where} was written by a newer gpgc, got version {version}")
    if not all(isinstance(name, str) and name for name in classes):
        raise DataError(f"{where} line 1: classes must be names in quotes, got {classes!r:.80}")
    if not _is_count(seed):
        raise DataError(f"{where} line 1: seed must be a whole number from 0, got {seed!r:.40}")
    return tuple(dict.fromkeys(classes)), int(seed)


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def import_known(
    journal: Journal,
    ledger: Ledger,
    classes: Sequence[str],
    labels: Mapping[str, str],
    ids: Collection[str],
) -> Ledger:
    """Write down classes and labels that were known before, each once, and return the state."""
    strangers = [name for name in labels if name not in ids]
    if strangers:
        raise InputError(
            f"labels known before must be of these nodes, got {strangers[0]!r:.80}"
            + (f" and {len(strangers) - 1:,} others" if len(strangers) > 1 else "")
        )
    labels = {name: check_label(label, ()) for name, label in labels.items()}
    # classes that were renamed or deleted since, and labels that were taken back, stay as they are
    named = (each.get(key) for each in ledger.records for key in ("label", "to"))
    before = {*ledger.first_classes, *named}
    written = {each["id"] for each in ledger.records if each.get("role") == "imported"}
    labels = {name: label for name, label in labels.items() if name not in written}
    fresh = [name for name in (*classes, *labels.values()) if name not in before]
    names = list(dict.fromkeys([*ledger.classes, *fresh]))
    if len(names) > MAX_CLASSES:
        raise InputError(f"labels must be of at most {MAX_CLASSES} classes, got {len(names):,}")

    def write(line: Record) -> None:
        nonlocal ledger
        record = {"event": str(uuid.uuid4()), "at": now(), **line}
        journal.append(record)
        ledger = ledger.after(record)

    for name in names:
        if name not in ledger.classes:
            write({"do": "class", "label": check_label(name, ledger.classes)})
    for name, label in labels.items():
        if name not in ledger.decided:
            write({"do": "label", "id": name, "label": label, "role": "imported"})
    return ledger


def _unique(records: list[Record]) -> list[Record]:
    """Return the records, each event once."""
    return list({record["event"]: record for record in reversed(records)}.values())[::-1]
