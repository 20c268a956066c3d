"""What `gpgc label` opens: the digits, images, texts, or the rows of a table, with a graph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gpgc.cli.label_options import LabelOptions, classes_and_keys, read_guide
from gpgc.errors import InputError
from gpgc.labelling import sources
from gpgc.labelling.desk import Desk
from gpgc.labelling.guesses import read_guesses
from gpgc.labelling.items import as_items
from gpgc.labelling.label import open_desk
from gpgc.problem.label_file import read_labels
from gpgc.problem.read import check_columns, read_problem

if TYPE_CHECKING:
    from gpgc.problem.problem import Problem


def desk_of(told: LabelOptions) -> Desk:
    """Open what is to be labelled, with the journal and the guesses."""
    source, imported = _source_of(told)
    names, keys = classes_and_keys(told.classes)
    guesses = None
    if told.suggestions is not None:
        guesses = read_guesses(told.suggestions, source.ids, told.columns)
    return open_desk(
        source,
        told.journal,
        names,
        imported=imported,
        goal=told.goal,
        seed=told.seed,
        keys=keys,
        guesses=guesses,
        guide=read_guide(told.guide),
        overlap=told.overlap if len(told.people) > 1 else 0.0,
        **told.settings(),
    )


def _source_of(told: LabelOptions) -> tuple[sources.Source, dict[str, str]]:
    """Return what is to be labelled, and the labels that are known."""
    _check(told)
    also_read = {*(("id",) if told.texts else ()), *(("id", "label") if told.labels else ())}
    found, own_items = None, (told.demo or told.images or told.texts) is not None
    if told.features is None and told.edges is None:
        check_columns(told.columns, also_read)
    else:
        found = read_problem(
            told.edges,
            told.features,
            None if own_items else told.labels,
            nodes=told.nodes,
            columns=told.columns,
            kinds=told.kinds,
            also_read=also_read,
        )
    if told.demo is not None:
        source = sources.digits()
    elif told.images is not None:
        has_names = found is not None and found.features is not None and not _is_counted(found)
        source = sources.image_folder(told.images, found.ids if found and has_names else None)
    elif told.texts is not None:
        source = sources.text_table(told.texts, told.columns)
    else:
        assert found is not None
        shown = _named(told.show)
        title = Path(told.features or told.edges or "").stem
        items = as_items(None, found.ids, found.X, shown)
        source = sources.Source(title, found.ids, items, found.features)
    if found is not None:
        source = _with_graph(source, found)
    if told.labels is None:
        return source, {}
    if found is not None and not own_items:
        known = found.y
    else:
        position = {name: place for place, name in enumerate(source.ids)}
        known = read_labels(told.labels, position, columns=told.columns).labels
    given = zip(source.ids, known, strict=True)
    return source, {name: str(label) for name, label in given if label is not None}


def _check(told: LabelOptions) -> None:
    """Refuse options that do not belong together."""
    files = {"--features": told.features, "--edges": told.edges}
    more = {"--nodes": told.nodes, "--encode": told.encode}
    kinds = [given for given in (told.demo, told.images, told.texts) if given is not None]
    if len(kinds) > 1 or not (kinds or any(files.values())):
        raise InputError(
            "one of digits, --images, --texts, or --features with or without --edges must be given"
        )
    if _named(told.show) and kinds:
        raise InputError("--show is for the columns of --features, got it with other items")
    if told.demo not in (None, "digits"):
        raise InputError(f"the demonstration must be digits, got {told.demo!r}")
    unused = [option for option, value in (files | more).items() if value]
    if told.demo is not None and unused:
        raise InputError(f"{unused[0]} is not available with the demonstration digits")
    if unused and not any(files.values()):
        raise InputError(f"{unused[0]} needs --features or --edges")


def _named(columns: str) -> list[str]:
    return [name.strip() for name in columns.split(",") if name.strip()]


def _is_counted(found: Problem) -> bool:
    """Return whether ids are only numbers."""
    return found.ids == [str(node) for node in range(len(found.ids))]


def _with_graph(source: sources.Source, found: Problem) -> sources.Source:
    """Return a source with features and edges of files, in the order of its own ids."""
    size = len(source.ids)
    if found.ids == source.ids or (_is_counted(found) and len(found.ids) == size):
        order = np.arange(size)
    elif set(found.ids) == set(source.ids):
        place = {name: node for node, name in enumerate(found.ids)}
        order = np.array([place[name] for name in source.ids])
    else:
        raise InputError(
            f"--features and --edges must name the same {size} items, got {len(found.ids)} others"
        )
    table = source.table if found.features is None else found.X.take(order)
    edges = found.adjacency
    if isinstance(edges, tuple):
        back = np.argsort(order)
        edges = (back[edges[0]], back[edges[1]], *edges[2:])
    elif edges is not None:
        edges = edges[order][:, order]
    features = source.features if table is None else table.features
    return replace(source, features=features, adjacency=edges, table=table)
