"""Measurements kept as lines of JSON, so that a study that was broken off goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gpgc
from gpgc.errors import DataError
from gpgc.estimators.storage import write_whole

Record = dict[str, Any]


class Journal:
    """A file with one measurement a line, found again by its key.

    The version of the package belongs to every key; delete the file to measure anew within one.

    Parameters
    ----------
    path : Path
        The file; it need not exist. A last line that was cut off in writing is dropped.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> journal = Journal(Path(mkdtemp()) / "runs.jsonl")
    >>> journal.recall(lambda: {"accuracy": 0.8}, dataset="cora", seed=1)["accuracy"]
    0.8
    >>> Journal(journal.path).recall(lambda: 1 / 0, dataset="cora", seed=1)["accuracy"]
    0.8
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._records: dict[str, Record] = {}
        if not path.exists():
            return
        text = path.read_text()
        whole, _, rest = text.rpartition("\n")
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                entry = json.loads(line)
                self._records[_name(entry["key"])] = entry["measured"]
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(
                    f"{path} line {number}: expected an object with key and measured, "
                    f"got {line[:60]!r}"
                ) from error
        if rest:
            write_whole(path, text[: -len(rest)].encode())

    def recall(self, measure: Callable[[], Record], **key: Any) -> Record:
        """Return what was measured under a key, or measure it now and write it down."""
        key = {**key, "version": gpgc.__version__}
        name = _name(key)
        if name not in self._records:
            measured = measure()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as lines:
                lines.write(json.dumps({"key": key, "measured": measured}) + "\n")
            self._records[name] = measured
        return self._records[name]


def _name(key: Record) -> str:
    return json.dumps(key, sort_keys=True)
