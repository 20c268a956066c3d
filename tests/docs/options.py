"""The table of options in docs/reference/commands.md: python -m tests.docs.options writes it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import typer

from gpgc.cli.app import app
from gpgc.cli.command import Shown
from gpgc.cli.job import Job
from gpgc.cli.options import ClassOptions, ClusterOptions, Further, Inputs, ModelOptions

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"
START, END = "<!-- made by python -m tests.docs.options -->\n", "<!-- end -->"
GROUPS = {
    "the graph": Inputs,
    "the model": ModelOptions,
    "the model of classes": ClassOptions,
    "more of `classify`": Further,
    "a cluster": ClusterOptions,
    "what is printed": Shown,
    "labels and the table": Job,
}


def table() -> str:
    """Return the options of each group, and of each command beside them."""
    commands = typer.main.get_command(app).commands
    options = {
        name: {p.name: p.opts[0] for p in command.params if p.param_type_name == "option"}
        for name, command in commands.items()
    }
    named = {part: shown for found in options.values() for part, shown in found.items()}
    rows, listed = ["| group | options | commands |", "|---|---|---|"], set()
    told: dict[str, set[str]] = {name: set() for name in options}
    for title, group in GROUPS.items():
        parts = [part.name for part in fields(group) if part.name not in listed]
        listed |= set(parts)
        who = [name for name, found in options.items() if set(parts) <= set(found)]
        for name in who:
            told[name] |= set(parts)
        shown = ", ".join(f"`{named[part]}`" for part in parts)
        rows.append(f"| {title} | {shown} | {', '.join(f'`{name}`' for name in who)} |")
    for name, found in options.items():
        own = [shown for part, shown in found.items() if part not in told[name]]
        rows.append(f"| of its own | {', '.join(f'`{shown}`' for shown in own)} | `{name}` |")
    return "\n".join(rows) + "\n"


def written(page: str) -> str:
    """Return the page with the table as it is now."""
    before, _, rest = page.partition(START)
    return before + START + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
