"""The laboratory uses public names of gpgc alone, and has no second copy of what gpgc offers."""

import ast
from pathlib import Path

import pytest

import gpgc_lab

SOURCE = Path(gpgc_lab.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def private_names(tree: ast.AST) -> set[str]:
    """Return private modules, names and attributes that are not a module's own."""
    own = {node.attr for node in ast.walk(tree) if _is_stored(node)}
    own |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            parts = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            found |= {part for part in parts if is_private(part)}
        elif isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in own:
            found.add(node.attr)
    return found


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_private_names_of_other_modules(path):
    assert not private_names(ast.parse(path.read_text()))


def test_private_names_are_found():
    source = "from gpgc._typing import Array\nfrom gpgc.x import _y\nestimator._fit_graph(X)\n"
    assert private_names(ast.parse(source)) == {"_typing", "_y", "_fit_graph"}
