"""Tables with a header: CSV, TSV, both also gzipped, and Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import chain, count
from pathlib import Path
from typing import IO, Any

from gpgc.errors import InputError
from gpgc.files.arrays import seekable
from gpgc.files.cells import as_text

STANDARD_STREAM = Path("-")
"""What the command line calls its standard input and output."""

LONGEST_LINE = 2**26
"""Characters of one line beyond which a file is no table."""

# what other formats begin with, and how to call them
_FOREIGN = (
    ((b"\xff\xfe", b"\xfe\xff"), "text in UTF-16: save it as UTF-8"),
    ((b"PK\x03\x04",), "a zip archive (.xlsx, .npz, .zip): save it as CSV"),
    ((b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"), "a compressed file: use gzip, or unpack it"),
    ((b"\x89HDF", b"SQLite format 3", b"\x93NUMPY", b"ARROW1"), "binary data: save it as CSV"),
)
_FOREIGN_MARKS = {";": "semicolons", "|": "vertical bars"}


@dataclass(frozen=True)
class Table:
    """Columns and rows of text with places; ``typed`` an Arrow table, ``index`` that of pandas."""

    source: str
    columns: tuple[str, ...]
    rows: Iterator[tuple[str, list[str]]]
    typed: Callable[[], Any] | None = None
    index: frozenset[int] = frozenset()

    def renamed(self, names: Mapping[str, str], *wanted: str) -> Table:
        """Return the table with the wanted columns, in any case, under the names used here."""
        found = [column.casefold() for column in self.columns]
        columns = list(self.columns)
        for name, other in names.items():
            if name not in wanted:
                continue
            if other.casefold() not in found:
                raise InputError(
                    f"{self.source} line 1: expected a column {_shorten(other)} for {name}, "
                    f"got {_shorten(','.join(self.columns))}"
                )
            columns = [f"{c} (in the file)" if c.casefold() == name else c for c in columns]
            columns[found.index(other.casefold())] = name
        return replace(self, columns=tuple(columns))

    def select(
        self,
        required: Sequence[str],
        optional: Sequence[str] = (),
        *,
        names: Mapping[str, str] | None = None,
    ) -> Iterator[tuple[str, dict[str, str]]]:
        """Give the wanted cells of each row by their columns, which `names` calls otherwise."""
        columns = self.renamed(names or {}, *required, *optional).columns
        found = [name.casefold() for name in columns]
        if missing := [name for name in required if name not in found]:
            raise InputError(
                f"{self.source} line 1: expected the columns {','.join(required)}, "
                f"got {_shorten(','.join(columns))} without {','.join(missing)}"
            )
        wanted = [name for name in (*required, *optional) if name in found]
        if twice := [name for name in wanted if found.count(name) > 1]:
            raise InputError(f"{self.source} line 1: expected the column {twice[0]} once")
        indices = [(name, found.index(name)) for name in wanted]
        for place, row in self.rows:
            yield place, {name: row[index] for name, index in indices}


def read_table(path: Path) -> Table:
    """Open a table: CSV or TSV in UTF-8, gzipped or not, or Parquet; ``-`` is standard input."""
    if path == STANDARD_STREAM:
        path, file = Path("standard input"), seekable(sys.stdin.buffer)
    elif not path.exists() or path.is_dir():
        raise InputError(f"{path}: expected a file, found none")
    else:
        file = seekable(path.open("rb"))
    try:
        head = file.read(4096)
        file.seek(0)
        if head.startswith(b"PAR1"):
            return _parquet(file, str(path))
        _refuse_foreign(head, path)
        return _text_table(file, head.startswith(b"\x1f\x8b"), path)
    except BaseException:
        file.close()
        raise


def _refuse_foreign(head: bytes, path: Path) -> None:
    for beginnings, kind in _FOREIGN:
        if head.startswith(beginnings):
            raise InputError(f"{path}: expected a table in CSV, got what looks like {kind}")
    if b"\0" in head[:200] and not head.startswith(b"\x1f\x8b"):
        raise InputError(
            f"{path}: expected a table in CSV, got zero bytes: text in UTF-16 (save it as UTF-8) "
            "or no text at all"
        )


def _text_table(file: IO[bytes], is_gzipped: bool, path: Path) -> Table:
    lines = _lines(file, is_gzipped, str(path))
    first = next(lines, "")
    reader = csv.reader(chain([first], lines), delimiter=_delimiter(first, path), strict=True)

    def numbered() -> Iterator[tuple[str, list[str]]]:
        try:
            for row in reader:
                yield f"{path} line {reader.line_num}", [cell.strip() for cell in row]
        except csv.Error as error:
            raise InputError(f"{path} line {reader.line_num}: {error}") from error

    table = numbered()
    _, header = next(table, ("", []))
    if not any(header):
        raise InputError(f"{path} line 1: expected a header, the file is empty")

    def rows() -> Iterator[tuple[str, list[str]]]:
        for place, row in table:
            if row and len(row) != len(header):
                raise InputError(f"{place}: expected {len(header)} values, got {len(row)}")
            if row:
                yield place, row

    return Table(str(path), tuple(header), rows())


def _lines(file: IO[bytes], is_gzipped: bool, source: str) -> Iterator[str]:
    """Give the lines of a text, none of them endless."""
    content: Any = gzip.GzipFile(fileobj=file) if is_gzipped else file
    with closing(file), io.TextIOWrapper(content, encoding="utf-8-sig", newline="") as text:
        try:
            while line := text.readline(LONGEST_LINE):
                if len(line) == LONGEST_LINE:
                    raise InputError(f"{source}: expected lines of text, got one without an end")
                yield line
        except UnicodeDecodeError as error:
            raise InputError(f"{source}: expected a CSV file in UTF-8, got other bytes") from error
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(
                f"{source}: expected a gzipped table, got a damaged one: {error}"
            ) from error


def _delimiter(header: str, path: Path) -> str:
    is_named_tsv = any(suffix.lower() in (".tsv", ".tab") for suffix in path.suffixes[-2:])
    if "\t" in header and (is_named_tsv or "," not in header):
        return "\t"
    if "," not in header:
        for mark, name in _FOREIGN_MARKS.items():
            if mark in header:
                raise InputError(
                    f"{path} line 1: expected cells separated by commas or tabs, got what looks "
                    f"like {name}: {_shorten(header.strip())!r}; save it as CSV with commas"
                )
    return ","


def _parquet(file: IO[bytes], source: str) -> Table:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError as error:
        raise InputError(
            f"{source}: expected a table, got a Parquet file, which needs pyarrow: "
            "pip install pyarrow, or save it as CSV"
        ) from error
    try:
        content = parquet.ParquetFile(file)
        header = tuple(content.schema_arrow.names)
        stored = (content.schema_arrow.pandas_metadata or {}).get("index_columns", ())
        index = frozenset(place for place, name in enumerate(header) if name in stored)
    except (ValueError, OSError) as error:
        raise InputError(
            f"{source}: expected a Parquet file, got a damaged one: {error}"
        ) from error

    def typed() -> Any:
        try:
            with closing(file):
                return content.read()
        except (ValueError, OSError) as error:
            raise InputError(f"{source}: {error}") from error

    def rows() -> Iterator[tuple[str, list[str]]]:
        number = count(1)
        for batch in typed().to_batches():
            for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield f"{source} row {next(number)}", [as_text(cell) for cell in cells]

    return Table(source, header, rows(), typed, index)


def _shorten(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"
