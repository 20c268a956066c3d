"""The commands, in the order in which help lists them."""

from __future__ import annotations

import inspect
import sys
import warnings
from typing import Annotated, NoReturn

import typer

import gpgc
from gpgc.cli.check import check
from gpgc.cli.classify import classify
from gpgc.cli.evaluate import evaluate
from gpgc.cli.explain import explain
from gpgc.cli.extensions import ExtensibleGroup
from gpgc.cli.features import features
from gpgc.cli.label import label
from gpgc.cli.predict import predict
from gpgc.cli.regress import regress
from gpgc.cli.run import run
from gpgc.cli.suggest import suggest
from gpgc.errors import DataError, InputError

COMMANDS = (
    run,
    classify,
    regress,
    predict,
    check,
    explain,
    evaluate,
    suggest,
    label,
    features,
)

app = typer.Typer(
    cls=ExtensibleGroup,
    help="Label a handful of nodes of a graph; get labels, probabilities and error bars for all.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _help_of(docstring: str | None) -> str:
    """Return a docstring whose paragraphs are one line each, for the terminal to wrap."""
    paragraphs = inspect.cleandoc(docstring or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


for command in COMMANDS:
    app.command(help=_help_of(command.__doc__))(command)


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
