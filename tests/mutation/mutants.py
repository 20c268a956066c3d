"""Small changes to source files, one at a time: each should make some test fail."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
"""Operators that are put in each other's place."""

FOR_TIME = ("GEMM_GAIN", "DENSE_LIMIT", "LEAST_ROWS", "MANY_SCORES", "COARSE", "NOISE_STEP")
"""Constants that say what is computed at once, or where a search begins."""

SIZES = ("_BYTES", "_bytes", "_ROWS", "_STEPS", "BISECTIONS", "size")
"""How names end of what is held at once, and of the steps of a search."""

UNTESTED = ("__repr__", "__getstate__")
"""Functions whose text is no behaviour."""


@dataclass(frozen=True)
class Mutant:
    """One change of a source: where, what becomes what, which node it is; may an answer change?"""

    line: int
    change: str
    place: int
    which: int
    counts: bool

    def applied(self, source: str) -> str:
        """Return the whole changed source."""
        tree = ast.parse(source)
        node = next(node for at, node in enumerate(_places(tree)) if at == self.place)
        _Replace(node, _replacements(node)[self.which]).visit(tree)
        return ast.unparse(ast.fix_missing_locations(tree))


def mutants_of(source: str) -> list[Mutant]:
    """Return every mutant of a source.

    Examples
    --------
    >>> for mutant in mutants_of("def f(a, b): return a + b"):
    ...     print(mutant.line, mutant.change)
    1 a + b -> a - b
    1 a + b -> a
    1 a + b -> b
    """
    tree = ast.parse(source)
    answerless = set(_answerless(tree))
    return [
        Mutant(
            *(getattr(node, "lineno", 0), f"{_said(node)} -> {_said(new)}"),
            *(place, which, node not in answerless),
        )
        for place, node in enumerate(_places(tree))
        for which, new in enumerate(_replacements(node))
    ]


def _answerless(tree: ast.AST) -> Iterator[ast.AST]:
    """Give the nodes that change time or memory, and no answer: `tests/compute` holds the limits.

    Sizes, what is asked of the memory limit, and the shape of what is filled later.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            names = [_name_of(part) for part in ast.walk(node.targets[0]) if _name_of(part)]
            whole = all(name in FOR_TIME or name.endswith(SIZES) for name in names)
        elif isinstance(node, ast.Compare):
            whole = any(_name_of(part) in FOR_TIME for part in ast.walk(node))
        else:
            asked = ("budget", "require", "empty")
            whole = isinstance(node, ast.Call) and _name_of(node.func) in asked
        if whole:
            yield from ast.walk(node)


def _name_of(node: ast.AST) -> str:
    """Return the name of a variable or of an attribute."""
    return getattr(node, "id", getattr(node, "attr", ""))


def _said(node: ast.AST) -> str:
    """Return the text of a node, of a statement its first line."""
    return ast.unparse(ast.fix_missing_locations(node)).partition("\n")[0]


def _places(tree: ast.AST) -> Iterator[ast.AST]:
    """Give the nodes that may be changed: no docstrings, annotations, messages of errors."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(
            node, ast.Raise | ast.Import | ast.ImportFrom | ast.AnnAssign | ast.arguments
        ):
            continue
        if isinstance(node, ast.FunctionDef) and node.name in UNTESTED:
            continue
        if isinstance(node, ast.JoinedStr):
            continue
        yield node
        yield from _places(node)


def _replacements(node: ast.AST) -> list[ast.AST]:
    """Return what a node may be replaced by."""
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        swapped: ast.AST = ast.BinOp(node.left, SWAPS[type(node.op)](), node.right)
        is_sum = isinstance(node.op, ast.Add | ast.Sub)
        return [swapped, node.left, *([node.right] if is_sum else [])]
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPS:
        return [ast.Compare(node.left, [SWAPS[type(node.ops[0])]()], node.comparators)]
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return [
            ast.Constant(value)
            for value in dict.fromkeys((2 * node.value, node.value + 1))
            if value != node.value
        ]
    if isinstance(node, ast.AugAssign):
        return [ast.Assign([node.target], node.value)]
    if isinstance(node, ast.If | ast.IfExp):
        opposite = copy.copy(node)
        opposite.test = ast.UnaryOp(ast.Not(), node.test)
        return [opposite]
    return []


class _Replace(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)
