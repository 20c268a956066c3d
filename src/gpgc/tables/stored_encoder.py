"""An encoder as JSON, and the check of every field of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpgc.errors import DataError
from gpgc.tables.column_encoders import CategoryColumn, ColumnEncoder, NumberColumn, TextColumn
from gpgc.tables.encoder import TableEncoder
from gpgc.tables.words import PATTERNS, Words


def to_json(encoder: TableEncoder | None) -> list[dict[str, Any]] | None:
    """Return an encoder as a list of records, one for each column.

    Examples
    --------
    >>> to_json(TableEncoder((NumberColumn("size", 1.0, 2.0, 0),)))
    [{'kind': 'number', 'name': 'size', 'mean': 1.0, 'scale': 2.0, 'n_missing': 0}]
    """
    return None if encoder is None else [_record(column) for column in encoder.columns]


def from_json(records: Any, source: str) -> TableEncoder | None:
    """Return the encoder that records stand for.

    Raises
    ------
    DataError
        If a field holds what no encoder has.
    """
    if records is None:
        return None
    if not (isinstance(records, list) and records):
        raise DataError(f"{source}: encoder must be a list of columns, got {records!r:.60}")
    encoder = TableEncoder(tuple(_column(record, source) for record in records))
    if len(set(encoder.names)) < len(encoder.names):
        raise DataError(f"{source}: encoder must hold each column once")
    return encoder


def _record(column: ColumnEncoder) -> dict[str, Any]:
    record: dict[str, Any] = {"kind": column.kind, "name": column.name}
    if isinstance(column, NumberColumn):
        record |= {"mean": column.mean, "scale": column.scale, "n_missing": column.n_missing}
        return record if column.unit is None else record | {"unit": column.unit}
    if isinstance(column, CategoryColumn):
        return record | {
            "categories": list(column.categories),
            "n_missing": column.n_missing,
            "n_rare": column.n_rare,
        }
    assert isinstance(column, TextColumn)
    words = column.words
    pattern = PATTERNS.index(words.pattern)
    return record | {"terms": list(words.terms), "idf": words.idf.tolist(), "pattern": pattern}


def _column(record: Any, source: str) -> ColumnEncoder:
    match record:
        case {"kind": "number", "name": str(name), "mean": float(mean), "scale": float(scale)}:
            _require(math.isfinite(mean) and 0 < scale < math.inf, source, name)
            unit = record.get("unit")
            _require(unit is None or (type(unit) is float and 0 < unit < math.inf), source, name)
            return NumberColumn(name, mean, scale, _count(record, "n_missing", source), unit)
        case {"kind": "category", "name": str(name), "categories": list(categories)}:
            _require(_are_different(categories) and sorted(categories) == categories, source, name)
            counts = (_count(record, part, source) for part in ("n_missing", "n_rare"))
            return CategoryColumn(name, tuple(categories), *counts)
        case {"kind": "text", "name": str(name), "terms": list(terms), "idf": list(idf)}:
            pattern = record.get("pattern")
            _require(type(pattern) is int and 0 <= pattern < len(PATTERNS), source, name)
            numbers = all(isinstance(value, float) and 0 < value < math.inf for value in idf)
            _require(_are_different(terms) and numbers and len(terms) == len(idf), source, name)
            return TextColumn(name, Words(tuple(terms), np.array(idf), PATTERNS[pattern]))
    raise DataError(f"{source}: encoder must hold columns that gpgc knows, got {record!r:.60}")


def _are_different(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values) and len(set(values)) == len(values)


def _count(record: dict[str, Any], part: str, source: str) -> int:
    value = record.get(part)
    _require(type(value) is int and value >= 0, source, str(record.get("name")))
    return int(value or 0)


def _require(fits: bool, source: str, name: str) -> None:
    if not fits:
        raise DataError(f"{source}: encoder must hold what a fit gives for the column {name!r:.60}")
