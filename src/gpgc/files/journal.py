"""Records kept as lines of JSON, so that work that was broken off goes on where it was."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import IO, Any

from gpgc.errors import DataError
from gpgc.files.atomic import sync_folder

Record = dict[str, Any]

LONGEST_LINE = 2**28
"""Bytes of one line beyond which a file is no journal."""


class Journal:
    """A file with one JSON object a line, to which lines are only ever added, each under a lock.

    A last line that was cut off is passed over, and removed when the next record is written.
    """

    def __init__(self, path: str | os.PathLike[str], *, sync: bool = False) -> None:
        self.path, self._sync = Path(path), sync
        self.records: list[Record] = []
        if self.path.exists():
            with self.path.open("rb") as file:
                self.records, _ = _read(file, str(self.path))

    def append(self, record: Record) -> None:
        """Add a record as the last line."""
        line = json.dumps(record).encode() + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self.path.exists()
        with self.path.open("ab+") as file:
            _lock(file)
            _end_last_line(file, str(self.path))
            file.flush()
            _write_line(file.fileno(), line, self._sync)
        if self._sync and is_new:
            sync_folder(self.path.parent)
        self.records.append(json.loads(line))


def _read(file: IO[bytes], source: str) -> tuple[list[Record], int]:
    """Return the records of a journal and the number of bytes that hold them."""
    records: list[Record] = []
    number = end = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        is_whole = line.endswith(b"\n")
        if not is_whole and len(line) == LONGEST_LINE:
            raise DataError(f"{source} line {number}: expected a JSON object, got an endless line")
        if line.strip():
            try:
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise ValueError("no object")
            except (ValueError, RecursionError) as error:
                if not is_whole:
                    break
                raise DataError(
                    f"{source} line {number}: expected a JSON object, got {line[:60]!r}"
                ) from error
            records.append(record)
        end += len(line)
    return records, end


def _end_last_line(file: IO[bytes], source: str) -> None:
    """Cut off a last line that is no record, and end one that has no line break."""
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        return
    file.seek(size - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    _, end = _read(file, source)
    if end < size:
        file.truncate(end)
    else:
        file.write(b"\n")


def _write_line(handle: int, line: bytes, sync: bool) -> None:
    """Write a line to the end of a file, or nothing of it."""
    start = os.fstat(handle).st_size
    try:
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(handle, rest) :]
        if sync:
            os.fsync(handle)
    except OSError:
        os.ftruncate(handle, start)
        raise


def _lock(file: IO[bytes]) -> None:
    """Wait until no other process writes to the file; the lock ends when it is closed."""
    if os.name == "posix":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
