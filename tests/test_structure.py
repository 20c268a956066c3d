"""The order of imports, and that no module uses another's private names."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "gpgc"
FILES = sorted(SOURCE.rglob("*.py"))

ROOMS = (
    ("errors", "_typing"),
    ("reference",),
    ("files",),
    ("compute",),
    ("graph",),
    ("problem",),
    ("kernels",),
    ("models",),
    ("gp",),
    ("probability",),
    ("selection",),
    ("estimators",),
    ("uncertainty",),
    ("datasets", "image_features"),
    ("plot",),
    ("report",),
    ("labelling", "dask"),
    ("cli",),
)
"""Lower rooms first: a room imports from itself and from rooms above it in this list."""

HANDED_OVER = {"estimators": {"uncertainty", "labelling"}}
"""Rooms whose public methods hand over to later ones, such as ``explain``: in functions alone."""

CORE = ("reference", "compute", "kernels", "models", "gp", "probability")
FRAMEWORKS = {"sklearn", "torch", "matplotlib", "typer", "rich", "networkx", "pandas", "dask"}


def level_of(room: str) -> int:
    return next(level for level, rooms in enumerate(ROOMS) if room in rooms)


def imports_of(path: Path, at_import: bool = False) -> set[str]:
    """Return the modules that a file imports, in functions and for types too, or at import alone.

    Names that the package itself offers, as in ``from gpgc import load``, are no room's.
    """
    tree = ast.parse(path.read_text())
    found: set[str] = set()
    for node in tree.body if at_import else ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def room_of(module: str) -> str | None:
    """Return the room of a module of gpgc."""
    package, _, rest = module.partition(".")
    return rest.partition(".")[0] if package == "gpgc" and rest else None


def test_rooms_import_only_from_rooms_below():
    wrong = []
    for path in FILES:
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room in ("__init__", "__main__"):
            continue
        later = HANDED_OVER.get(room, set()) - {room_of(each) for each in imports_of(path, True)}
        for module in imports_of(path):
            other = room_of(module)
            if other and level_of(other) > level_of(room) and other not in later:
                wrong.append(f"{path} imports {module}")
            if room in CORE and module.partition(".")[0] in FRAMEWORKS:
                wrong.append(f"{path} imports {module}")
    assert not wrong


def test_no_private_names_of_other_modules():
    assert not [name for path in FILES for name in foreign_private_names(path)]


def test_nothing_but_its_own_room_imports_dask():
    found = {
        str(path)
        for path in FILES
        if path.relative_to(SOURCE).parts[0] != "dask"
        and {each.partition(".")[0] for each in imports_of(path)} & {"dask", "distributed"}
    }
    assert not found


def foreign_private_names(path: Path) -> set[str]:
    """Return the names with an underscore that a file uses and does not define."""
    tree = ast.parse(path.read_text())
    own = {node.attr for node in ast.walk(tree) if _is_stored(node)}
    own |= {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
    }
    own |= {
        node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    own |= {"_replace", "_exit"}  # of a NamedTuple and of os, public by their documentation
    used = {
        f"{path.name}:{node.lineno} {node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and node.attr not in own
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    }
    imported = {
        f"{path.name}:{node.lineno} {alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gpgc")
        for alias in node.names
        if alias.name.startswith("_")
    }
    return used | imported


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
