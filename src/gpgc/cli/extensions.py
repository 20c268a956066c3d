"""Commands and data sets that other distributions add, imported only when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from gpgc.errors import InputError

if TYPE_CHECKING:
    from gpgc.datasets import Dataset

GROUP = "gpgc.commands"
"""Entry points of this group name a ``typer.Typer`` each; the name is that of the command."""

DATASETS = "gpgc.datasets"
"""Entry points of this group name a function ``(name, features, data_dir, seed)`` each that returns
a :class:`~gpgc.datasets.Dataset`; the name is that of the data set."""

LAB_DATASETS = ("cora", "citeseer", "pubmed", "mnist", "svhn", "cifar10")
"""Data sets that gpgc-lab loads, so that its absence can be explained."""

LAB_COMMANDS = ("benchmark", "compare", "reproduce", "train")
"""What gpgc-lab adds, so that its absence can be explained."""

_HOW = "run `pip install ./lab` in a clone of gpgc's repository"


class ExtensibleGroup(TyperGroup):
    """The commands of gpgc, and those that entry points add; its own come first."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands that are installed."""
        own = super().list_commands(ctx)
        return [*own, *sorted(set(_installed(GROUP)) - set(own))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name; of one that is added what help lists, without importing."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        installed = _installed(GROUP)
        if cmd_name in installed:
            package = installed[cmd_name].dist
            return TyperCommand(
                cmd_name, help=f"Of {package.name if package else 'another package'}."
            )
        if cmd_name in LAB_COMMANDS:
            raise InputError(
                f"`gpgc {cmd_name}` is a command of gpgc-lab, which is not installed: {_HOW}"
            )
        return None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name, the command and the arguments of a call; only here one is imported."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and super().get_command(ctx, name) is None:
            command = typer.main.get_command(_installed(GROUP)[name].load())
            command.name = name
        return name, command, rest


def load_data_set(name: str, features: str | None, data_dir: Path | None, seed: int) -> Dataset:
    """Load a data set: the digits, or one that another distribution brings."""
    if name == "digits":
        return _load_digits(features, data_dir, seed)
    installed = _installed(DATASETS)
    if name in installed:
        load: Callable[..., Dataset] = installed[name].load()
        return load(name, features, data_dir, seed)
    if name in LAB_DATASETS:
        raise InputError(f"{name} is a data set of gpgc-lab, which is not installed: {_HOW}")
    known = ", ".join(dict.fromkeys(["digits", *LAB_DATASETS, *installed]))
    raise InputError(f"dataset must be one of {known}, got {name!r}")


def _load_digits(features: str | None, data_dir: Path | None, seed: int) -> Dataset:
    """Load the digits, refusing options that say nothing about them."""
    from gpgc.datasets import load_digits

    if features is not None:
        raise InputError("--features applies to mnist, svhn and cifar10 only, got 'digits'")
    if data_dir is not None:
        raise InputError("--data-dir is not used by digits, which need no download")
    return load_digits(seed)


def _installed(group: str) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=group)}
