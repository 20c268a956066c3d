"""The commands, in the order in which help lists them."""

from __future__ import annotations

import inspect
import sys
import warnings
from typing import Annotated, NoReturn

import typer

import gpgc
from gpgc.cli.check import Check
from gpgc.cli.classify import Classify
from gpgc.cli.command import Command, ParsedCommand, as_function
from gpgc.cli.evaluate import Evaluate
from gpgc.cli.explain import Explain
from gpgc.cli.extensions import ExtensibleGroup
from gpgc.cli.features import Features
from gpgc.cli.label import Label
from gpgc.cli.predict import Predict
from gpgc.cli.regress import Regress
from gpgc.cli.run import Run
from gpgc.cli.suggest import Suggest
from gpgc.errors import DataError, InputError

COMMANDS: tuple[type[Command], ...] = (
    *(Run, Classify, Regress, Predict, Check),
    *(Explain, Evaluate, Suggest, Label, Features),
)

app = typer.Typer(
    cls=ExtensibleGroup,
    help="Label a handful of nodes of a graph; get labels, probabilities and error bars for all.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich takes as long to import as all the rest of the help
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _help_of(docstring: str | None) -> str:
    """Return a docstring whose paragraphs are one line each, for the terminal to wrap."""
    paragraphs = inspect.cleandoc(docstring or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


for command in COMMANDS:
    text, name = _help_of(command.__doc__), command.__name__.lower()
    add = app.command(name, cls=ParsedCommand, help=text, short_help=text.partition("\n")[0])
    add(as_function(command))


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gpgc {gpgc.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; wrong input ends with one sentence and exit code 2."""
    warnings.showwarning = _show_warning
    try:
        app()
    except (InputError, DataError, OSError) as error:
        _stop(str(error))
    except MemoryError as error:
        _stop(f"not enough memory: {error}")


def _stop(message: str) -> NoReturn:
    sys.stderr.write(f"gpgc: {message}\n")
    raise SystemExit(2) from None


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as one sentence, without the place in the code that a user cannot see."""
    sys.stderr.write(f"gpgc: warning: {message}\n")
