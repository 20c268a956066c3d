"""What code made a number: a digest of its sources, which changes when they do."""

from __future__ import annotations

import ast
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import gpgc

CORE_ROOMS = (
    *("graph", "compute", "kernels", "models", "gp", "choice", "selection", "probability"),
    *("estimators", "uncertainty"),
)
"""Rooms of gpgc that numbers depend on; ``selection`` is what ``choice`` was called before."""


def digest(files: Iterable[Path]) -> str:
    """Return a digest of the content of files, in any order."""
    whole = hashlib.sha256()
    for content in sorted(file.read_bytes() for file in set(files)):
        whole.update(hashlib.sha256(content).digest())
    return whole.hexdigest()[:16]


def syntax_digest(files: Iterable[Path]) -> str:
    """Return a digest of what code says: comments, docstrings and line breaks play no part.

    Examples
    --------
    >>> syntax_digest([Path(__file__)]) == syntax_digest([Path(__file__)])
    True
    """
    whole = hashlib.sha256()
    for content in sorted(_without_docstrings(file) for file in set(files)):
        whole.update(hashlib.sha256(content.encode()).digest())
    return whole.hexdigest()[:16]


def core_files() -> list[Path]:
    """Return the sources of the core rooms, which all numbers of gpgc depend on."""
    home = Path(gpgc.__file__).parent
    return [file for room in CORE_ROOMS for file in (home / room).rglob("*.py")]


def core_digest(*own: Path) -> str:
    """Return a digest of what the core rooms say, and files of a study beside them.

    Examples
    --------
    >>> core_digest() == core_digest() != core_digest(Path(__file__))
    True
    """
    return syntax_digest([*core_files(), *own])


def module_files(file: Path) -> list[Path]:
    """Return a module and those beside it, in its own folder, that it imports, and they import."""
    found, waiting = [file], [file]
    while waiting:
        for name in _imported(waiting.pop()):
            other = file.parent / f"{name}.py"
            if other.exists() and other not in found:
                found.append(other)
                waiting.append(other)
    return found


def find_module(name: str) -> Path | None:
    """Return the file of a module, imported or not, as a process started here would find it."""
    parts = name.split(".")
    for place in (os.getcwd(), *sys.path):
        path = Path(place or ".").joinpath(*parts)
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                return file
    return None


def _without_docstrings(file: Path) -> str:
    tree = ast.parse(file.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [line for line in node.body if not _is_text(line)]
    return ast.dump(tree)


def _is_text(line: ast.stmt) -> bool:
    """Tell whether a statement is a string alone: a docstring, also of a constant."""
    return (
        isinstance(line, ast.Expr)
        and isinstance(line.value, ast.Constant)
        and isinstance(line.value.value, str)
    )


def _imported(file: Path) -> Iterator[str]:
    """Give the last part of all names that a module may import other modules by."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.rpartition(".")[2] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").rpartition(".")[2]
            yield from (alias.name for alias in node.names)
