"""Tables that are printed and written as CSV, Markdown and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpgc.files import write_file
from gpgc_lab.cells import to_json


@dataclass
class Table:
    """A titled table of rows; cells are strings, numbers, records of `gpgc_lab.cells` or None."""

    name: str
    title: str
    columns: Sequence[str]
    rows: list[Sequence[Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_markdown(self) -> str:
        """Return the table in Markdown, with title and notes."""
        lines = [f"### {self.title}", "", _row(self.columns), _row(["---"] * len(self.columns))]
        lines += [_row([show(cell) for cell in row]) for row in self.rows]
        lines += ["", *(f"{note}\n" for note in self.notes)]
        return "\n".join(lines).rstrip() + "\n"

    def to_csv(self) -> str:
        """Return the rows as CSV with a header."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()

    def to_json(self) -> dict[str, Any]:
        """Return the table as an object for JSON."""
        return {
            "title": self.title,
            "rows": [dict(zip(self.columns, map(to_json, row), strict=True)) for row in self.rows],
            "notes": self.notes,
        }

    def show(self) -> None:
        """Print the table."""
        from rich.console import Console
        from rich.table import Table as RichTable

        table = RichTable(title=self.title, title_justify="left", caption_justify="left")
        for place, column in enumerate(self.columns):
            table.add_column(column, justify="left" if place == 0 else "right")
        for row in self.rows:
            table.add_row(*(show(cell) for cell in row))
        console = Console(markup=False)
        console.print(table)
        for note in self.notes:
            console.print(note, style="dim", highlight=False)


def write_tables(tables: Sequence[Table], folder: Path, name: str) -> list[Path]:
    """Write each table as CSV, and all of them as one Markdown and one JSON file."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {f"{table.name}.csv": table.to_csv() for table in tables}
    contents[f"{name}.md"] = "\n".join(table.to_markdown() for table in tables)
    contents[f"{name}.json"] = json.dumps(
        {table.name: table.to_json() for table in tables}, indent=1
    )
    for file, content in contents.items():
        write_file(folder / file, content.encode())
    return [folder / file for file in contents]


def show(cell: Any) -> str:
    """Return a cell as a person reads it."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.4g}" if abs(cell) < 1 else f"{cell:.1f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
