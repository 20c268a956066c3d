"""Everything that a page or a widget may ask of a session."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Mapping
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Integers
from gpgc.errors import InputError
from gpgc.labelling.class_keys import class_keys
from gpgc.labelling.events import MAX_BULK, MAX_CLASSES, MAX_LABEL, check_item, check_items
from gpgc.labelling.export import NAMES
from gpgc.labelling.items import Picture
from gpgc.labelling.layout import layouts
from gpgc.labelling.opinion import NOTHING
from gpgc.labelling.session import Session
from gpgc.labelling.sources import Source

N_NEIGHBORS = 8
NEAR = 300
"""Nodes within two links among which the nearest are looked for."""

SEARCH, HISTORY = 20, 30
SEARCHED_LINES = 20_000
"""Number of nodes up to which a search looks into their lines too."""


class Desk:
    """The answers to the questions of a page: a session and what there is to see of its nodes.

    Parameters
    ----------
    session : Session
    source : Source
        What is labelled.
    target : float, optional
        Accuracy that is aimed at.
    keys : dict of str to str, optional
        Letters that stand for classes.
    """

    def __init__(
        self,
        session: Session,
        source: Source,
        target: float | None = None,
        keys: Mapping[str, str] | None = None,
    ) -> None:
        self.session, self.source = session, source
        self._target, self._keys = target, dict(keys or {})
        self.progress: tuple[float, str] = (0.0, "building the graph")
        self.places: NDArray[np.uint16] | None = None
        self.layout_revision = 0
        session.listen(self._hear)

    def _hear(self, what: str) -> None:
        if what == "ready":
            self.progress = (1.0, "ready")
            threading.Thread(target=self._lay_out, name="gpgc-layout", daemon=True).start()

    def _lay_out(self) -> None:
        labelling = self.session.live.labelling
        if labelling is None:
            return
        for places in layouts(self.source.features, labelling.adjacency, self.session.seed):
            self.places = places
            self.layout_revision += 1
            self.session.announce("layout")

    def settings(self) -> dict[str, Any]:
        """Return what a page needs to know to begin."""
        return {
            "title": self.source.title,
            "session": self.session.journal.records[0]["ids_sha256"][:16],
            "kind": self.source.items.kind,
            "nodes": len(self.session.ids),
            "classes": self.classes(),
            "target": self._target,
            "exports": list(NAMES),
            "limits": {"classes": MAX_CLASSES, "label": MAX_LABEL, "bulk": MAX_BULK},
            "progress": self.progress,
            "layout": self.layout_revision,
            "failure": str(self.session.live.failure or ""),
            **self.session.summary(),
        }

    def about(self, news: Collection[str] = ()) -> dict[str, Any]:
        """Return what comes with news: counts, and the classes where an answer was saved."""
        about = {"layout": self.layout_revision, "progress": self.progress}
        classes = {"classes": self.classes()} if "saved" in news else {}
        return about | self.session.summary() | classes

    def classes(self) -> list[dict[str, Any]]:
        """Return the classes with their keys and their numbers of labels."""
        given = Counter(each.label for each in self.session.ledger.labels.values())
        names = self.session.ledger.classes
        keys = class_keys(names, self._keys)
        return [
            {"name": name, "key": key, "labels": given[name]}
            for name, key in zip(names, keys, strict=True)
        ]

    def next(self, by: str, n: int = 2, holding: int | None = None) -> dict[str, Any]:
        """Return the next items of a person, the first to be decided now."""
        nodes = self.session.next(by, min(max(n, 1), 4), holding)
        return {"items": [self.item(node) for node in nodes], **self.session.summary()}

    def item(self, node: int) -> dict[str, Any]:
        """Return what there is to see of a node; why it is shown is nobody's business."""
        session = self.session
        given = session.ledger.labels.get(session.ids[node])
        shown = {"item": node, "id": session.ids[node][:400], **self.source.items.show(node)}
        if self.source.items.kind == "image":
            shown["image"] = True
        labelling = session.live.labelling
        if labelling is not None:
            shown["links"] = int(np.diff(labelling.adjacency.indptr[node : node + 2])[0])
        return shown | {"label": given.label if given else None}

    def near(self, node: int, shows: bool = False) -> dict[str, Any]:
        """Return the nearest nodes and, where it is wanted, the model's opinion on them all.

        Of an item that waits for an answer nothing is told, nor what the model thinks of its
        neighbours: the audit items are among them, and nobody shall know which they are.
        """
        session = self.session
        tells = shows and not session.is_open(node)
        found = []
        for other in self._nearest(node):
            given = session.ledger.labels.get(session.ids[other])
            found.append(
                {
                    "item": int(other),
                    "line": self.source.items.line(int(other)),
                    "label": given.label if given else None,
                    "guess": _guess(session.tell(int(other))) if tells else None,
                }
            )
        return {"item": node, "near": found, "guess": _guess(session.tell(node)) if tells else None}

    def group(self, nodes: Any) -> dict[str, Any]:
        """Return items that were drawn around, and how many of them are asked one by one."""
        given = check_items([self.check(node) for node in nodes], len(self.session.ids))
        free, n_left_out = self.session.group(given)
        ledger, ids = self.session.ledger, self.session.ids
        items = []
        for node in free:
            label = ledger.labels.get(ids[node])
            shown = self._in_short(node)
            is_skipped = ids[node] in ledger.skipped
            items.append(shown | {"label": label.label if label else None, "skipped": is_skipped})
        return {"items": items, "left_out": n_left_out}

    def sure(self) -> dict[str, Any]:
        """Return a group of items that the model is sure of, to be confirmed at once.

        ``sure`` counts all items that could be in one.
        """
        label, nodes, n_sure = self.session.sure_group()
        return {"label": label, "items": [self._in_short(n) for n in nodes], "sure": n_sure}

    def record(self, event: dict[str, Any], by: str) -> dict[str, Any]:
        """Write a decision down; answer with what is next."""
        answer = self.session.record(event, by) | {"classes": self.classes()}
        if event.get("shows") is True and event.get("do") in ("label", "correct"):
            node = check_item(event.get("item"), len(self.session.ids))
            answer["thought"] = {"item": node, "guess": _guess(self.session.tell(node))}
        return answer

    def estimate(self) -> dict[str, Any]:
        """Return how good it is by now, the curve of that, and the certificate if there is one."""
        return self.session.estimate() | {
            "curve": self.session.curve,
            "certificate": self.session.certificate.result(),
        }

    def history(self, by: str) -> dict[str, Any]:
        """Return the last decisions that stand, newest first."""
        entries = self.session.ledger.entries
        return {
            "count": len(entries),
            "entries": [
                {
                    "item": self.session.index[entry.id],
                    "line": self.source.items.line(self.session.index[entry.id]),
                    "label": entry.label,
                    "do": entry.do,
                    "items": entry.n_items,
                    "by": entry.by,
                }
                for entry in entries[: -HISTORY - 1 : -1]
            ],
            "can_undo": self.session.ledger.undoable(by) is not None,
            "can_redo": self.session.ledger.redoable(by) is not None,
        }

    def search(self, text: str) -> dict[str, Any]:
        """Return nodes whose id, or line, holds a text."""
        wanted, ids = text[:200].casefold(), self.session.ids
        exact = [self.session.index[text]] if text in self.session.index else []
        line = self.source.items.line
        lines = range(len(ids)) if len(ids) <= SEARCHED_LINES else ()
        by_name = (node for node, name in enumerate(ids) if wanted in name.casefold())
        by_line = (node for node in lines if wanted in line(node).casefold())
        some = islice(chain(exact, by_name, by_line), 3 * SEARCH) if wanted else ()
        found = list(dict.fromkeys(some))[:SEARCH]
        return {"found": [{"item": n, "id": ids[n][:200], "line": line(n)} for n in found]}

    def edges(self, node: int) -> dict[str, Any]:
        """Return the nodes that a node is linked to."""
        labelling = self.session.live.labelling
        return {"links": [] if labelling is None else _links(labelling.adjacency, node)[:200]}

    def layout(self) -> bytes:
        """Return x and y of each node as uint16; nothing until they are there."""
        return b"" if self.places is None else self.places.tobytes()

    def colours(self) -> bytes:
        """Return class and certainty of each node as uint8; certainty 255 is a given label.

        Classes are counted in the order of the session; 255 stands for no opinion. What waits for
        an answer, and what is linked to it, shows none: the map would give it away.
        """
        opinion, ledger, index = self.session.live.opinion, self.session.ledger, self.session.index
        order = {name: place for place, name in enumerate(ledger.classes)}
        table = np.full(NOTHING + 1, NOTHING, dtype=np.uint8)
        table[: len(opinion.classes)] = [order.get(name, NOTHING) for name in opinion.classes]
        both = np.stack([table[opinion.codes], opinion.certainty], axis=1)
        both[self._hidden()] = NOTHING, 0
        for name, given in ledger.labels.items():
            both[index[name]] = order[given.label], NOTHING
        return both.tobytes()

    def picture(self, node: int) -> Picture:
        """Return the image of a node."""
        found = self.source.items.picture(node)
        return Picture(b"", "", "This item has no image.") if found is None else found

    def check(self, node: Any) -> int:
        """Return a node that was asked for, if there is one."""
        text = str(node)
        if not text.isdecimal() or len(text) > 12 or int(text) >= len(self.session.ids):
            raise InputError(f"item must be a node of the graph, got {text!r:.40}")
        return int(text)

    def _in_short(self, node: int) -> dict[str, Any]:
        name = self.session.ids[node][:200]
        return {"item": node, "id": name, "line": self.source.items.line(node)}

    def _hidden(self) -> list[int]:
        """Return the items on desks and the nodes that are linked to them."""
        labelling, waiting = self.session.live.labelling, self.session.desk_items()
        if labelling is None:
            return waiting
        return [*waiting, *(n for node in waiting for n in _links(labelling.adjacency, node)[:200])]

    def _nearest(self, node: int) -> Integers:
        """Return the nodes within two links that have the largest covariance with a node."""
        labelling = self.session.live.labelling
        if labelling is None:
            return np.empty(0, dtype=np.intp)
        first = _links(labelling.adjacency, node)
        second = [far for near in first[:40] for far in _links(labelling.adjacency, near)]
        around = np.array([n for n in dict.fromkeys([*first, *second]) if n != node][:NEAR], int)
        if not len(around) or not labelling.is_conditioned:
            return around[:N_NEIGHBORS]
        covariance = labelling.covariance(around, np.array([node]))[:, 0]
        return np.asarray(around[np.argsort(-covariance, kind="stable")[:N_NEIGHBORS]])


def _guess(said: tuple[Any, float] | None) -> list[Any] | None:
    return None if said is None else [said[0], round(said[1], 3)]


def _links(adjacency: Any, node: int) -> list[int]:
    start, end = adjacency.indptr[node : node + 2]
    strongest = np.argsort(-adjacency.data[start:end], kind="stable")
    return [int(other) for other in adjacency.indices[start:end][strongest]]
