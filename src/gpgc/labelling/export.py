"""What a labelling session leaves behind: labels, predictions, a model, the journal."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gpgc.errors import InputError
from gpgc.estimators.predictions import PREDICTION_COLUMNS, prediction_rows
from gpgc.labelling.ledger import Ledger
from gpgc.labelling.session import Session

LABEL_COLUMNS = ("id", "label", "by", "at", "role")
CERTIFICATES = ("certificate.html", "certificate.json")
NAMES = ("labels.csv", "predictions.csv", "model.gpgc", "journal.jsonl", *CERTIFICATES)


def export(session: Session, name: str) -> bytes:
    """Return one of the files of a session; models are fitted afresh to all labels given."""
    if name not in NAMES:
        raise InputError(f"name must be one of {', '.join(NAMES)}, got {name!r:.60}")
    if name == "labels.csv":
        return to_csv(LABEL_COLUMNS, label_rows(session.ledger))
    if name == "journal.jsonl":
        return session.journal.path.read_bytes()
    if name in CERTIFICATES:
        from gpgc.labelling.certificate import certificate_page

        found = session.certificate.document()
        text = json.dumps(found, indent=1) if name.endswith("json") else certificate_page(found)
        return text.encode()
    if not session.ledger.labels:
        raise InputError("an export of the model needs at least one label, got none")
    labels = {session.index[node]: given.label for node, given in session.ledger.labels.items()}
    estimator = session.live.fit(labels).result()
    if name == "predictions.csv":
        return to_csv(PREDICTION_COLUMNS, prediction_rows(session.ids, estimator))
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        estimator.save(path)
        return path.read_bytes()


def label_rows(ledger: Ledger) -> Iterator[tuple[str, ...]]:
    """Give a row for each current label."""
    for name, given in ledger.labels.items():
        yield name, given.label, given.by, given.at, given.role


def to_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a table with a header as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()
