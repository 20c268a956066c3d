"""What a labelling session leaves behind: labels, predictions, a model, the journal."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gpgc.errors import InputError
from gpgc.estimators import GPGCClassifier
from gpgc.estimators.predictions import prediction_columns
from gpgc.labelling.ledger import Ledger
from gpgc.labelling.session import Session

LABEL_COLUMNS = ("id", "label", "by", "at", "role")
PREDICTION_COLUMNS = ("id", "label", "probability", "std", "given")
NAMES = ("labels.csv", "predictions.csv", "model.gpgc", "journal.jsonl")


def export(session: Session, name: str) -> bytes:
    """Return one of the files of a session; models are fitted afresh to all labels given.

    Parameters
    ----------
    session : Session
        Whose labels, those of audit items included.
    name : {"labels.csv", "predictions.csv", "model.gpgc", "journal.jsonl"}
        Which file.
    """
    if name not in NAMES:
        raise InputError(f"name must be one of {', '.join(NAMES)}, got {name!r:.60}")
    if name == "labels.csv":
        return to_csv(LABEL_COLUMNS, label_rows(session.ledger))
    if name == "journal.jsonl":
        return session.journal.path.read_bytes()
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


def prediction_rows(
    ids: Sequence[str], estimator: GPGCClassifier, with_std: bool = True
) -> Iterator[tuple[Any, ...]]:
    """Give a row for each node: its label, with probability and std, and whether it was given."""
    columns = prediction_columns(estimator, with_std=with_std) | {"id": ids}
    for name, label, probability, std, is_given in zip(*columns.values(), strict=True):
        shown = f"{std:.6g}" if with_std else ""
        yield name, label, f"{probability:.6g}", shown, int(is_given)


def to_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    r"""Return a table with a header as CSV.

    Examples
    --------
    >>> to_csv(["id", "label"], [("n1", "a,b")])
    b'id,label\nn1,"a,b"\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()
