"""What code made a number: a digest of its sources, which changes when they do."""

from __future__ import annotations

import ast
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import gpgc

NO_ARITHMETIC = ("cli", "datasets")
"""Folders of gpgc that no number of a study depends on."""


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


def package_files() -> list[Path]:
    """Return the sources of gpgc that its numbers depend on."""
    root = Path(gpgc.__file__).parent
    return [
        path for path in root.rglob("*.py") if path.relative_to(root).parts[0] not in NO_ARITHMETIC
    ]


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
        holds = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if holds and ast.get_docstring(node, clean=False) is not None:  # type: ignore[arg-type]
            node.body = node.body[1:]  # type: ignore[attr-defined]
    return ast.dump(tree)


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
