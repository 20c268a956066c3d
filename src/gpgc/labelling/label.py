"""Begin to label: from arrays in Python, or from a source that was read from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpgc._typing import Integers
from gpgc.errors import InputError
from gpgc.estimators.given import is_unlabelled
from gpgc.graph import as_adjacency
from gpgc.labelling.desk import Desk
from gpgc.labelling.guesses import Guesses
from gpgc.labelling.items import as_items
from gpgc.labelling.labelling import Labelling
from gpgc.labelling.ledger import Goal
from gpgc.labelling.session import Session
from gpgc.labelling.sources import Source
from gpgc.problem import NodeTable, encode_table
from gpgc.problem.alignment import problem_of
from gpgc.problem.frames import is_frame

if TYPE_CHECKING:
    from gpgc.labelling.widget import LabelWidget

CANDIDATES = 5000
"""Nodes among which the next item is looked for; of more, a seeded sample, so that it is quick."""

_WIDGETS: dict[Path, LabelWidget] = {}
"""The widget of each journal that this process has open."""


def label(
    X: Any,
    y: Any = None,
    adjacency: Any = None,
    *,
    items: Any = None,
    ids: Sequence[str] | None = None,
    classes: Sequence[str] = (),
    journal: str | Path = "labels.jsonl",
    by: str = "",
    goal: str | None = None,
    seed: int = 0,
    **settings: Any,
) -> LabelWidget:
    """Label nodes in a notebook: one item, one key, an exact refit, the next best item.

    Needs the extra ``notebook``. Every answer is in the journal before it is acknowledged; the same
    call goes on where it was, and closes the widget that has the journal open.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (N, F), or None
        Features, as in :meth:`gpgc.GPGCClassifier.fit`.
    y : array of shape (N,) or dict, optional
        Labels known before; None, NaN or −1 where there is none.
    adjacency : graph, optional
        As in :meth:`gpgc.GPGCClassifier.fit`.
    items : sequence or array, optional
        What to show of each node: texts, arrays of pixels of shape (N, h, w) or (N, h, w, 3), or
        paths of images; rows of X, or names, when not given.
    ids : sequence of str, optional
        Names of the nodes; when not given, those that X or adjacency has, else 0 … N−1.
    classes : sequence of str, optional
        Classes to begin with; more can be added while labelling.
    journal : path-like, default "labels.jsonl"
        Where labels are kept.
    by : str, default ""
        Who labels.
    goal : str, optional
        Accuracy that is aimed at and within how much it is to be known, in per cent: "95 ± 3".
    seed : int, default 0
        Of the audit items.
    **settings
        Parameters of :class:`gpgc.GPGCClassifier`.

    Returns
    -------
    LabelWidget
        Displays itself; ``widget.labels`` is a dict of id to label, ``widget.estimator()`` the
        classifier on all of them.
    """
    from gpgc.labelling.widget import LabelWidget

    problem = problem_of(encode_table(X) if is_frame(X) else X, y, adjacency)
    X, y, adjacency = problem.X, problem.y, problem.adjacency
    if adjacency is not None:
        adjacency = as_adjacency(adjacency, None if X is None else X.shape[0])
    n_nodes = (adjacency if X is None else X).shape[0]
    given = problem.names if ids is None else ids
    names = [str(node) for node in (range(n_nodes) if given is None else given)]
    if len(names) != n_nodes:
        raise InputError(f"ids must be one for each of the {n_nodes} nodes, got {len(names)}")
    shown, table = as_items(items, names, X), X if isinstance(X, NodeTable) else None
    features = X if table is None else table.features
    source = Source("labels", names, shown, features, adjacency, table=table)
    path = Path(journal).resolve()
    if path in _WIDGETS:  # the cell is run again, whose widget holds the journal
        _WIDGETS.pop(path).close()
    desk = open_desk(
        source, journal, classes, imported=_known(y, names), goal=goal, seed=seed, **settings
    )
    _WIDGETS[path] = widget = LabelWidget(desk, by)
    return widget


def open_desk(
    source: Source,
    journal: str | Path,
    classes: Sequence[str] = (),
    *,
    imported: Mapping[str, str] | None = None,
    goal: str | None = None,
    seed: int = 0,
    keys: Mapping[str, str] | None = None,
    guesses: Guesses | None = None,
    guide: str = "",
    overlap: float = 0.0,
    **settings: Any,
) -> Desk:
    """Begin, or go on with, a session on a source; the model is built in the background."""
    desks: list[Desk] = []

    def tell(fraction: float, what: str) -> None:
        if desks:
            desks[0].progress = (fraction, what)
            desks[0].session.announce("progress")

    def build(nodes: Integers | None) -> Labelling:
        made = source.described(lambda fraction, what: tell(0.3 * fraction, what))
        desks[0].source = made
        tell(0.3, "building the graph")
        graph = made.adjacency
        if graph is not None:  # else it is made of the features, as a fit makes it
            graph = as_adjacency(graph, len(made.ids))
            tell(0.5, "spreading features over the graph, and planning what to ask first")
        return Labelling.on(
            made.as_table(),
            None,
            graph,
            candidates=_candidates(len(made.ids), seed),
            nodes=nodes,
            refresh="manual",
            **settings,
        )

    session = Session(
        source.ids,
        build,
        journal,
        tuple(classes) or source.classes,
        imported=dict(imported or {}),
        seed=seed,
        keys=keys,
        guesses=guesses,
        goal=None if goal is None else Goal.parse(goal),
        overlap=overlap,
    )
    desks.append(Desk(session, source, guide))
    session.start()
    return desks[0]


def _candidates(n_nodes: int, seed: int) -> Integers | None:
    if n_nodes <= CANDIDATES:
        return None
    rng = np.random.default_rng([seed, 3])
    return np.sort(rng.choice(n_nodes, CANDIDATES, replace=False))


def _known(y: Any, names: list[str]) -> dict[str, str]:
    if y is None:
        return {}
    given = np.asarray(y, dtype=object)
    if len(given) != len(names):
        raise InputError(f"y must have one entry for each node, got {len(given)}")
    return {
        name: str(label)
        for name, label in zip(names, given, strict=True)
        if not is_unlabelled(label)
    }
