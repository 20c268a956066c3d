"""Rows kept as lines of JSON, so that a study that was broken off goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpgc.errors import DataError
from gpgc.estimators.storage import write_whole

Record = dict[str, Any]


class Journal:
    """A file with one row a line, to which rows are added; oldest first.

    Parameters
    ----------
    path : Path
        The file; it need not exist. A last line that was cut off in writing is dropped.
    stored : Path, optional
        Another file whose rows come before, and which stays as it is.
    fields : tuple of str
        What every row must have.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> journal = Journal(Path(mkdtemp()) / "runs.jsonl")
    >>> journal.append({"accuracy": 0.8})
    >>> Journal(journal.path).rows
    [{'accuracy': 0.8}]
    """

    def __init__(
        self, path: Path, stored: Path | None = None, fields: tuple[str, ...] = ()
    ) -> None:
        self.path = path
        files = [] if stored is None or stored.resolve() == path.resolve() else [stored]
        self.rows: list[Record] = [row for file in (*files, path) for row in _read(file, fields)]

    def append(self, row: Record) -> None:
        """Add a row to the list and to the file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        content = self.path.read_bytes() if self.path.exists() else b""
        if not content.endswith(b"\n") and content:
            write_whole(self.path, content[: content.rfind(b"\n") + 1])
        with self.path.open("a") as lines:
            lines.write(json.dumps(row) + "\n")
        self.rows.append(row)


class Measurements:
    """Measurements in a journal, found again by their key and the code that made them.

    Rows of version 0.1 do not say by what code they were made; they stay valid and are counted.

    Parameters
    ----------
    journal : Journal
        With ``key`` and ``measured`` in every row.
    code : str
        Digest of the code that measures.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> journal = Journal(Path(mkdtemp()) / "runs.jsonl")
    >>> Measurements(journal, "a1").recall(lambda: {"accuracy": 0.8}, seed=1)["accuracy"]
    0.8
    >>> Measurements(journal, "a1").recall(lambda: 1 / 0, seed=1)["accuracy"]
    0.8
    >>> Measurements(journal, "b2").recall(lambda: {"accuracy": 0.9}, seed=1)["accuracy"]
    0.9
    """

    def __init__(self, journal: Journal, code: str) -> None:
        self._journal, self._code = journal, code
        self._records = {_name(row["key"]): row["measured"] for row in journal.rows}
        self._older = {
            _name({name: value for name, value in row["key"].items() if name != "version"}): row
            for row in journal.rows
            if "code" not in row["key"]
        }
        self._versions: list[str] = []

    def recall(self, measure: Callable[[], Record], **key: Any) -> Record:
        """Return what was measured under a key, or measure it now and write it down."""
        name, older = _name({**key, "code": self._code}), self._older.get(_name(key))
        if name in self._records:
            known: Record = self._records[name]
            return known
        if older is not None:
            self._versions.append(str(older["key"].get("version")))
            measured: Record = older["measured"]
            return measured
        measured = measure()
        self._journal.append({"key": {**key, "code": self._code}, "measured": measured})
        self._records[name] = measured
        return measured

    def notes(self) -> list[str]:
        """Return a note on what was recalled that older code made, none where nothing was."""
        if not self._versions:
            return []
        versions = ", ".join(sorted(set(self._versions)))
        return [f"Made before, by gpgc {versions}: {len(self._versions):,} of the measurements."]


def _read(path: Path, fields: tuple[str, ...]) -> list[Record]:
    if not path.exists():
        return []
    rows = []
    for number, line in enumerate(path.read_text().split("\n")[:-1], 1):
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict) or not set(fields) <= set(row):
            wanted = f" with {' and '.join(fields)}" if fields else ""
            raise DataError(
                f"{path} line {number}: expected a JSON object{wanted}, got {line[:60]!r}"
            )
        rows.append(row)
    return rows


def _name(key: Record) -> str:
    return json.dumps(key, sort_keys=True)
