"""Commands that other distributions add to ``gpgc``, imported only when they are called."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperGroup

from gpgc.errors import InputError

GROUP = "gpgc.commands"
"""Entry points of this group name a ``typer.Typer`` each; the name is that of the command."""

LAB_COMMANDS = ("benchmark", "compare", "reproduce", "train")
"""What gpgc-lab adds, so that its absence can be explained."""


class ExtensibleGroup(TyperGroup):
    """The commands of gpgc, and those that entry points add; its own come first."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands that are installed."""
        own = super().list_commands(ctx)
        return [*own, *sorted(set(_installed()) - set(own))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name; only one that is added and asked for is imported."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        installed = _installed()
        if cmd_name in installed:
            command = typer.main.get_command(installed[cmd_name].load())
            command.name = cmd_name
            return command
        if cmd_name in LAB_COMMANDS:
            raise InputError(
                f"`gpgc {cmd_name}` is a command of gpgc-lab, which is not installed: run "
                "`pip install ./lab` in a clone of gpgc's repository"
            )
        return None


def _installed() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
