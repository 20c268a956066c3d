"""The command that opens a page to label in."""

from __future__ import annotations

import os
import re
import sys
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

import typer

from gpgc.cli.options import (
    ColumnOption,
    EncodeOption,
    NeighborsOption,
    NodesOption,
    neighbors_of,
    reading,
    refuse_trust,
)
from gpgc.errors import InputError

if TYPE_CHECKING:
    from gpgc.cli.files import GraphFiles
    from gpgc.labelling.sources import Source


def label(
    demo: Annotated[
        str | None, typer.Argument(help="digits: a demonstration that needs no files.")
    ] = None,
    images: Annotated[Path | None, typer.Option(help="Folder of images.")] = None,
    texts: Annotated[Path | None, typer.Option(help="Table with the columns id,text.")] = None,
    features: Annotated[
        Path | None,
        typer.Option(help="Table with a column id, .npy or sparse .npz (ids 0 ... N-1)."),
    ] = None,
    edges: Annotated[
        Path | None, typer.Option(help="Table source,target[,weight], or sparse .npz.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Table id,label: labels known before, taken over once.")
    ] = None,
    nodes: NodesOption = None,
    column: ColumnOption = None,
    encode: EncodeOption = None,
    classes: Annotated[
        str,
        typer.Option(
            help="Names, with letters as keys where wanted: spam=s,ham=h. A letter that the page "
            "uses itself moves the page's own key to Shift + letter. More can be added."
        ),
    ] = "",
    journal: Annotated[
        Path, typer.Option(help="File of the labels; the same command goes on with it.")
    ] = Path("labels.jsonl"),
    target: Annotated[
        float | None, typer.Option(min=0, max=1, help="Accuracy to reach, such as 0.9.")
    ] = None,
    by: Annotated[str, typer.Option(help="Who labels.")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the audit items.")] = 0,
    neighbors: NeighborsOption = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, open nothing.")
    ] = False,
) -> None:
    """Label in person, on a page of your own: one item, one key, the next best item.

    The page runs on this machine alone and needs no network. Every label is on disk before it is
    acknowledged. How good the labels of the rest are is measured by random items mixed in. The
    secret in its address is new each time, unless the environment variable GPGC_TOKEN holds one:
    the same one and the same --port let open tabs go on after a restart.
    """
    from gpgc.labelling.label import open_desk

    try:
        from gpgc.labelling.server import Server
    except ImportError as error:
        raise InputError(f"gpgc label needs {error.name}: pip install 'gpgc[label]'") from error
    options = reading(nodes, column, encode)
    refuse_trust(options["columns"], "gpgc label")
    settings = neighbors_of(neighbors, edges)
    source, imported = _source(demo, images, texts, features, edges, labels, options)
    names, keys = _classes(classes)
    desk = open_desk(
        source,
        journal,
        names,
        imported=imported,
        target=target,
        seed=seed,
        keys=keys,
        **settings,
    )
    server = Server(desk, port, os.environ.get("GPGC_TOKEN") or None)
    address = server.url + (f"&{urlencode({'by': by})}" if by.strip() else "")
    sys.stdout.write(f"gpgc label: {address}\n")
    sys.stdout.flush()
    if not no_browser:
        webbrowser.open(address)
    with suppress(KeyboardInterrupt):
        server.run()
    desk.session.close()
    sys.stdout.write(f"stopped; {len(desk.session.ledger.labels)} labels in {journal}\n")


def _source(
    demo: str | None,
    images: Path | None,
    texts: Path | None,
    features: Path | None,
    edges: Path | None,
    labels: Path | None,
    options: Mapping[str, Any],
) -> tuple[Source, dict[str, str]]:
    """Return what is to be labelled, and the labels that are known."""
    from gpgc.cli.files import check_columns, read_graph_files
    from gpgc.cli.label_file import read_labels
    from gpgc.cli.output import Progress
    from gpgc.labelling import sources
    from gpgc.labelling.items import as_items

    found, called = None, options["columns"]
    also_read = {*(("id",) if texts else ()), *(("id", "label") if labels else ())}
    own_items = demo is not None or images is not None or texts is not None
    files_options = {"--nodes": options["nodes"], "--encode": options["kinds"]}
    kinds = [given for given in (demo, images, texts) if given is not None]
    if len(kinds) > 1 or (not kinds and features is None and edges is None):
        raise InputError(
            "one of digits, --images, --texts, or --features with or without --edges must be given"
        )
    if demo is not None:
        if demo != "digits":
            raise InputError(f"the demonstration must be digits, got {demo!r}")
        given = {"--features": features, "--edges": edges} | files_options
        if unused := [option for option, value in given.items() if value]:
            raise InputError(f"{unused[0]} is not available with the demonstration digits")
        check_columns(called, also_read)
        source = sources.digits()
    else:
        if features is not None or edges is not None:
            found = read_graph_files(
                edges,
                features,
                None if own_items else labels,
                **options,
                also_read=also_read,
            )
        elif unused := [option for option, value in files_options.items() if value]:
            raise InputError(f"{unused[0]} needs --features or --edges")
        else:
            check_columns(called, also_read)
        if images is not None:
            with Progress() as progress:
                named = None if found is None else _own_names(found)
                source = sources.image_folder(images, lambda fraction, what: progress(what), named)
        elif texts is not None:
            source = sources.text_table(texts, called)
        else:
            assert found is not None
            items = as_items(None, found.ids, found.table)
            title = Path(features or edges or "").stem
            source = sources.Source(title, found.ids, items, found.features)
        if found is not None:
            source = _with_graph(source, found)
    if labels is None:
        return source, {}
    if found is not None and not own_items:
        known = found.labels
    else:
        position = {name: place for place, name in enumerate(source.ids)}
        known = read_labels(labels, position, columns=called).labels
    return source, {
        name: str(given) for name, given in zip(source.ids, known, strict=True) if given is not None
    }


def _own_names(found: GraphFiles) -> list[str] | None:
    """Return the ids of features that have ids of their own, and not only numbers."""
    counted = found.ids == [str(node) for node in range(len(found.ids))]
    return None if counted or found.features is None else found.ids


def _with_graph(source: Source, found: GraphFiles) -> Source:
    """Return a source with features and edges of files, in the order of its own ids."""
    import numpy as np

    counted = found.ids == [str(node) for node in range(len(found.ids))]
    if found.ids == source.ids or (counted and len(found.ids) == len(source.ids)):
        order = np.arange(len(source.ids))
    elif set(found.ids) == set(source.ids):
        place = {name: node for node, name in enumerate(found.ids)}
        order = np.array([place[name] for name in source.ids])
    else:
        raise InputError(
            f"--features and --edges must name the same {len(source.ids)} items, "
            f"got {len(found.ids)} others"
        )
    back = np.empty(len(order), dtype=np.int64)
    back[order] = np.arange(len(order))
    table = source.table if found.features is None else found.table.take(order)
    features = source.features if table is None else table.features
    edges = found.edges
    if edges is not None and not isinstance(edges, tuple):
        edges = edges[order][:, order]
    elif edges is not None:
        edges = (back[edges[0]], back[edges[1]], *edges[2:])
    return replace(source, features=features, adjacency=edges, table=table)


def _classes(text: str) -> tuple[list[str], dict[str, str]]:
    """Return the names of classes and the keys of those that have one."""
    names: list[str] = []
    keys: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        found = re.fullmatch(r"(.+)=([A-Za-z])", part)
        name = found[1] if found else part
        names.append(name)
        if found:
            keys[name] = found[2].lower()
    if len(set(keys.values())) < len(keys):
        raise InputError(f"--classes must give each class a letter of its own, got {text!r}")
    if len(set(names)) < len(names):
        raise InputError(f"--classes must name each class once, got {text!r}")
    return names, keys
