"""Options of every command that reads a user's tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from gpgc.errors import InputError

NodesOption = Annotated[
    Path | None,
    typer.Option(help="Table with the column id: all nodes, those without links included."),
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=COLUMN",
        help="What the tables call id, label, value, source, target or weight, such as "
        "label=topic; may be given several times.",
    ),
]
EncodeOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=KIND",
        help="What a column of the features is: number, category, text or drop; may be given "
        "several times.",
    ),
]


def reading(
    nodes: Path | None, column: Sequence[str] | None, encode: Sequence[str] | None
) -> dict[str, Any]:
    """Return what these options say as arguments of :func:`gpgc.cli.files.read_graph_files`."""
    return {
        "nodes": nodes,
        "columns": parse_pairs(column, "--column"),
        "kinds": parse_pairs(encode, "--encode"),
    }


def parse_pairs(pairs: Sequence[str] | None, option: str) -> dict[str, str]:
    """Return what an option that is given as NAME=VALUE, several times, says.

    Examples
    --------
    >>> parse_pairs(["id=paper", "label=topic"], "--column")
    {'id': 'paper', 'label': 'topic'}
    """
    found = {}
    for pair in pairs or ():
        name, equals, value = pair.rpartition("=") if option == "--encode" else pair.partition("=")
        if not (name and equals and value):
            raise InputError(f"{option} must be NAME=VALUE, got {pair!r:.60}")
        found[name] = value
    return found
