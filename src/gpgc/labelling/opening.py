"""Opening a journal of labels: a new one, or one to go on with."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Sequence

from gpgc.errors import DataError
from gpgc.files import Journal
from gpgc.labelling.events import check_label, now
from gpgc.labelling.ledger import FORMAT, VERSION, Ledger, Record, check_record, replay


def open_ledger(
    journal: Journal, ids: Sequence[str], classes: Sequence[str], seed: int
) -> tuple[int, Ledger]:
    """Return the seed and the state of a journal; an empty one gets its header.

    Parameters
    ----------
    journal : Journal
        The file.
    ids : sequence of str
        The nodes, which the header names by a digest: a journal of other data is refused.
    classes, seed
        Written into a new header; an old one has its own.
    """
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
    if header.get("gpgc") != FORMAT or not isinstance(header.get("classes"), list):
        raise DataError(f"{path} must be a journal of labels, got {header!r:.80}")
    if header.get("version", 0) > VERSION:
        raise DataError(f"{path} was written by a newer gpgc, got version {header['version']}")
    if header.get("ids_sha256") != digest:
        raise DataError(
            f"{path} must be a journal of these {len(ids):,} nodes, got one of other data "
            f"({header.get('nodes')} nodes): name another file with --journal"
        )
    records = [check_record(line, f"{path} line {i}") for i, line in enumerate(lines, 2)]
    known = set(ids)
    for record in records:
        if record["do"] in ("label", "correct", "skip") and record["id"] not in known:
            raise DataError(f"{path} must name nodes of this graph, got {record['id']!r}")
    ledger = replay(Ledger(tuple(header["classes"])), _unique(records))
    return int(header.get("seed", 0)), ledger


def import_known(
    journal: Journal, ledger: Ledger, classes: Sequence[str], labels: Mapping[str, str]
) -> Ledger:
    """Write down classes and labels that were known before, each once, and return the state."""

    def write(line: Record) -> None:
        nonlocal ledger
        record = {"event": str(uuid.uuid4()), "at": now(), **line}
        journal.append(record)
        ledger = ledger.after(record)

    for name in [*classes, *labels.values()]:
        if name not in ledger.classes:
            write({"do": "class", "label": check_label(name, ledger.classes)})
    for name, label in labels.items():
        if name not in ledger.decided:
            write({"do": "label", "id": name, "label": label, "role": "imported"})
    return ledger


def _unique(records: list[Record]) -> list[Record]:
    """Return the records, each event once."""
    return list({record["event"]: record for record in reversed(records)}.values())[::-1]
