"""What a study has measured: records that came with the laboratory, and new ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpgc.errors import DataError
from gpgc.files import Journal

Record = dict[str, Any]


class StudyJournal:
    """A journal of new records, after those of another one, which is only read.

    Parameters
    ----------
    path : Path
        The file of new records; it need not exist.
    stored : Path, optional
        The file of older ones; it need not exist, and may be the same.
    fields : tuple of str, default ()
        What every record must have.

    Attributes
    ----------
    new : Journal
        To which records are added.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> journal = StudyJournal(Path(mkdtemp()) / "runs.jsonl")
    >>> journal.new.append({"accuracy": 0.8})
    >>> journal.records
    [{'accuracy': 0.8}]
    """

    def __init__(
        self, path: Path, stored: Path | None = None, fields: tuple[str, ...] = ()
    ) -> None:
        self.new = Journal(path)
        _check_fields(self.new, fields)
        self._older: list[Record] = []
        if stored is not None and stored.resolve() != path.resolve():
            older = Journal(stored)
            _check_fields(older, fields)
            self._older = older.records

    @property
    def records(self) -> list[Record]:
        """All records, oldest first."""
        return [*self._older, *self.new.records]


class Measurements:
    """Measurements in a journal, found again by their key and the code that made them.

    Records of version 0.1 do not say by what code they were made; they stay valid and are counted.

    Parameters
    ----------
    journal : StudyJournal
        With ``key`` and ``measured`` in every record.
    code : str
        Digest of the code that measures.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> journal = StudyJournal(Path(mkdtemp()) / "runs.jsonl")
    >>> Measurements(journal, "a1").recall(lambda: {"accuracy": 0.8}, seed=1)["accuracy"]
    0.8
    >>> Measurements(journal, "a1").recall(lambda: 1 / 0, seed=1)["accuracy"]
    0.8
    >>> Measurements(journal, "b2").recall(lambda: {"accuracy": 0.9}, seed=1)["accuracy"]
    0.9
    """

    def __init__(self, journal: StudyJournal, code: str) -> None:
        self._journal, self._code = journal, code
        self._known = {_name(record["key"]): record["measured"] for record in journal.records}
        self._without_code = {
            _name({name: key[name] for name in key if name != "version"}): record
            for record in journal.records
            if "code" not in (key := record["key"])
        }
        self._versions: list[str] = []

    def recall(self, measure: Callable[[], Record], **key: Any) -> Record:
        """Return what was measured under a key, or measure it now and write it down."""
        full = {**key, "code": self._code}
        known = self.find(**key)
        if known is not None:
            return known
        older = self._without_code.get(_name(key))
        if older is not None:
            self._versions.append(str(older["key"].get("version")))
            measured: Record = older["measured"]
            return measured
        found = recall(self._journal.new, full, measure)
        self._known[_name(full)] = found
        return found

    def find(self, **key: Any) -> Record | None:
        """Return what this code measured under a key, None where nothing was."""
        return self._known.get(_name({**key, "code": self._code}))

    def notes(self) -> list[str]:
        """Return a note on what was recalled that older code made, none where nothing was."""
        if not self._versions:
            return []
        versions = ", ".join(sorted(set(self._versions)))
        return [f"Made before, by gpgc {versions}: {len(self._versions):,} of the measurements."]


def recall(journal: Journal, key: Record, measure: Callable[[], Record]) -> Record:
    """Return what a journal last measured under a key, or measure it now and write it down."""
    for record in reversed(journal.records):
        if "measured" in record and _name(record["key"]) == _name(key):
            found: Record = record["measured"]
            return found
    journal.append({"key": key, "measured": measure()})
    return recall(journal, key, measure)


def _check_fields(journal: Journal, fields: tuple[str, ...]) -> None:
    for number, record in enumerate(journal.records, 1):
        if absent := [name for name in fields if name not in record]:
            raise DataError(
                f"{journal.path} record {number}: expected {' and '.join(fields)}, "
                f"got no {' and '.join(absent)}"
            )


def _name(key: Record) -> str:
    return json.dumps(key, sort_keys=True)
