"""A command is a dataclass: each of its fields is an option, and ``run`` does the job."""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import MISSING, Field, dataclass, field, fields
from types import ModuleType
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from gpgc.errors import InputError

REQUIRED: Any = MISSING
"""The default of an option that must be given."""

UNUSED = ("scipy.stats", "pandas")
"""What ``sklearn.utils.fixes`` imports for functions of its own: half of the time of a start."""


def option(
    default: Any,
    text: str,
    *names: str,
    reads: Sequence[str] | None = None,
    writes: bool = False,
    needs: str = "",
    **settings: Any,
) -> Any:
    """Return the field of an option; of a file that is read, with its columns, or written."""
    told = typer.Option(*names, help=text, **settings)
    more = {"reads": reads, "writes": writes, "needs": needs}
    return field(default=default, metadata={"typer": told, "names": names, **more})


def argument(default: Any, text: str) -> Any:
    """Return the field of an argument, which is given without a name."""
    return field(default=default, metadata={"typer": typer.Argument(help=text)})


@dataclass(frozen=True, kw_only=True)
class Command:
    """One call of a command."""

    def run(self) -> None:
        """Do the job."""
        raise NotImplementedError

    def given(self) -> list[Field[Any]]:
        """Return the options that are not at their defaults."""
        return [p for p in fields(self) if getattr(self, p.name) not in (None, [], p.default)]

    def refuse_others(self, allowed: Collection[str], with_option: str) -> None:
        """Refuse by name any option without a meaning beside another one."""
        for part in self.given():
            if part.name not in allowed:
                raise InputError(f"{flag_of(part)} is not available with {with_option}")

    def refuse_alone(self) -> None:
        """Refuse by name any option without the one that it needs."""
        flags = [flag_of(part) for part in self.given()]
        for part in self.given():
            needed = part.metadata.get("needs", "")
            if needed and needed.split()[0] not in flags:
                raise InputError(f"{flag_of(part)} needs {needed}")


@dataclass(frozen=True, kw_only=True)
class Shown(Command):
    """A command that prints a result."""

    as_json: bool = option(
        False, "Print the result as one JSON object on standard output.", "--json"
    )
    quiet: bool = option(False, "Print nothing but errors.", "--quiet", "-q")


class ParsedCommand(TyperCommand):
    """A command whose messages on wrong values are ours alone, not those of a validator."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments, without the words that pydantic puts before a message."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise


def flag_of(part: Field[Any]) -> str:
    """Return how the option of a field is written."""
    names = part.metadata.get("names") or (f"--{part.name.replace('_', '-')}",)
    return str(names[0])


def as_function(kind: type[Command]) -> Callable[..., None]:
    """Return a function that typer can read: the options that must be given come first.

    Examples
    --------
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Show(Command):
    ...     width: int = option(1, "Of the line.")
    ...     def run(self) -> None:
    ...         print(self.width)
    >>> as_function(Show)(width=2)
    2
    """
    types = get_type_hints(kind)
    parts = sorted(fields(kind), key=lambda part: part.default is not MISSING)

    def call(**given: Any) -> None:
        import_scikit_learn()
        from gpgc.compute.progress import silent

        command = kind(**given)
        is_quiet = isinstance(command, Shown) and command.quiet
        with silent() if is_quiet else nullcontext():
            command.run()

    call.__dict__["__signature__"] = inspect.Signature(
        [
            inspect.Parameter(
                part.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if part.default is MISSING else part.default,
                annotation=Annotated[types[part.name], part.metadata["typer"]],
            )
            for part in parts
        ]
    )
    call.__annotations__ = {part.name: types[part.name] for part in parts}
    return call


def import_scikit_learn() -> None:
    """Import scikit-learn quickly: `UNUSED` is left to whoever first asks for it, as is garbage."""
    if "sklearn" in sys.modules:
        return
    gc.disable()
    absent = [name for name in UNUSED if name not in sys.modules]
    sys.modules.update({name: ModuleType(name) for name in absent})
    try:
        import sklearn.utils.fixes  # noqa: F401
    except (ImportError, AttributeError):  # a version that uses them at once
        return
    finally:
        for name in absent:
            del sys.modules[name]
        gc.freeze()  # modules stay, so that no collection has to look at them
        gc.enable()
