"""Everything that a page or a widget may ask of a session."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Integers
from gpgc.errors import InputError
from gpgc.labelling.events import MAX_BULK, MAX_CLASSES, MAX_LABEL, check_item, check_items
from gpgc.labelling.export import NAMES
from gpgc.labelling.finding import Wanted, find
from gpgc.labelling.items import Picture, shrink
from gpgc.labelling.ledger import Entry, Given
from gpgc.labelling.opinion import NOTHING
from gpgc.labelling.session import Session
from gpgc.labelling.sources import Source
from gpgc.plot.layout import layouts

N_NEIGHBORS = 8
NEAR = 300
"""Nodes within two links among which the nearest are looked for."""

LISTED, HISTORY, REVIEWED = 100, 30, 100
THUMBNAILS = 4000
"""Small images that are kept."""


class Desk:
    """The answers to the questions of a page: a session and what there is to see of its nodes."""

    def __init__(self, session: Session, source: Source, guide: str = "") -> None:
        self.session, self.source, self._guide = session, source, guide
        self._thumbnails: dict[int, Picture] = {}
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
            "is_linked": self.source.adjacency is not None,
            "classes": self.classes(),
            "exports": list(NAMES),
            "limits": {"classes": MAX_CLASSES, "label": MAX_LABEL, "bulk": MAX_BULK},
            "progress": self.progress,
            "layout": self.layout_revision,
            "features": self.source.about,
            "guide": self._guide,
            "source": self.session.guesses.name,
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
        ledger, keys = self.session.ledger, self.session.keys()
        places = ledger.places
        return [
            {"name": name, "key": keys[name], "labels": given[name], "place": places[name]}
            | ({"colour": ledger.colours[name]} if name in ledger.colours else {})
            for name in ledger.classes
        ]

    def next(self, by: str, n: int = 2, holding: int | None = None) -> dict[str, Any]:
        """Return the next items of a person, the first to be decided now."""
        nodes = self.session.next(by, min(max(n, 1), 4), holding)
        return {"items": [self.item(node, by) for node in nodes], **self.session.summary()}

    def item(self, node: int, by: str = "") -> dict[str, Any]:
        """Return what there is to see of a node; why it is shown is nobody's business."""
        session = self.session
        given = None if session.is_second(node, by) else self._given(node)
        shown = {"item": node, "id": session.ids[node][:400], **self.source.items.show(node)}
        if self.source.items.kind == "image":
            shown["image"] = True
        labelling = session.live.labelling
        if labelling is not None:
            shown["links"] = int(np.diff(labelling.adjacency.indptr[node : node + 2])[0])
        if (guess := session.guess(node)) is not None:
            shown["suggestion"] = guess
        return shown | {"label": given.label if given else None}

    def near(self, node: int, shows: bool = False) -> dict[str, Any]:
        """Return the nearest nodes and, where it is wanted, the model's opinion on them all.

        Of an item that waits for an answer nothing is told, nor what the model thinks of its
        neighbors: the audit items are among them, and nobody shall know which they are.
        """
        session = self.session
        tells = shows and not session.is_open(node)
        found = []
        for other in self._nearest(node):
            given = None if session.is_open(int(other)) else self._given(int(other))
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
            shown = self.brief(node)
            is_skipped = ids[node] in ledger.skipped
            items.append(shown | {"label": label.label if label else None, "skipped": is_skipped})
        return {"items": items, "left_out": n_left_out}

    def sure(self) -> dict[str, Any]:
        """Return a group of items that the model is sure of, to be confirmed at once."""
        label, nodes, n_sure = self.session.sure_group()
        return {"label": label, "items": [self.brief(n) for n in nodes], "sure": n_sure}

    def review(self) -> dict[str, Any]:
        """Return answers to look at again, and whether labels are being checked by now."""
        entries, is_checking = self.session.review()
        items = [{**each, "item": self.session.index[each["id"]]} for each in entries[:REVIEWED]]
        n_labels = len(self.session.ledger.labels)
        n_wrong = sum("wrong" in each for each in entries)
        return {
            "entries": items,
            "count": len(entries),
            "wrong": [n_wrong, n_labels],
            "checking": is_checking,
        }

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
        kept_from = set(self.session.wants_second(by))
        return {
            "count": len(entries),
            "entries": self._folded(
                [each for each in entries if self.session.index[each.id] not in kept_from]
            ),
            "people": len({entry.by for entry in entries}),
            "can_undo": self.session.ledger.undoable(by) is not None,
            "can_redo": self.session.ledger.redoable(by) is not None,
        }

    def _folded(self, entries: Sequence[Entry]) -> list[dict[str, Any]]:
        """Return the last decisions, what they took the place of folded into each."""
        found: dict[str, dict[str, Any]] = {}
        for entry in reversed(entries):
            name = entry.id if entry.n_items == 1 else entry.event
            if last := found.get(name):
                last["before"].append({"label": entry.label, "by": entry.by})
                continue
            if len(found) == HISTORY:
                break
            node = self.session.index[entry.id]
            found[name] = {
                "item": node,
                "line": self.source.items.line(node),
                "label": entry.label,
                "do": entry.do,
                "items": entry.n_items,
                "by": entry.by,
                "before": [],
            }
        return list(found.values())

    def search(self, wanted: Wanted, shows: bool = False) -> dict[str, Any]:
        """Return how many items are wanted, the first of them, and what to show of some."""
        nodes = find(self.session, self.source.items, wanted)
        found = []
        for node in nodes[:LISTED]:
            given = None if self.session.is_open(node) else self._given(node)
            shown = self.brief(node) | {"label": given.label if given else None}
            said = self.session.tell(node) if shows and given is None else None
            found.append(shown | {"by": given.by if given else "", "guess": _guess(said)})
        return {"count": len(nodes), "items": nodes[:MAX_BULK], "found": found}

    def people(self) -> dict[str, list[int]]:
        """Return the nodes that each person labelled."""
        found: dict[str, list[int]] = {}
        for name, given in self.session.ledger.labels.items():
            found.setdefault(given.by, []).append(self.session.index[name])
        return found

    def brief(self, node: int) -> dict[str, Any]:
        """Return a node in one line, for a pointer that rests on it."""
        name = self.session.ids[node][:200]
        return {"item": node, "id": name, "line": self.source.items.line(node)}

    def edges(self, node: int) -> dict[str, Any]:
        """Return the nodes that a node is linked to."""
        labelling = self.session.live.labelling
        return {"links": [] if labelling is None else _links(labelling.adjacency, node)[:200]}

    def layout(self) -> bytes:
        """Return x and y of each node as uint16; nothing until they are there."""
        return b"" if self.places is None else self.places.tobytes()

    def colours(self) -> bytes:
        """Return class and certainty of each node as uint8; certainty 255 is a given label.

        Classes are counted in the order in which they came; 255 stands for no opinion. What waits
        for an answer, and what is linked to it, shows none: the map would give it away.
        """
        opinion, ledger, index = self.session.live.opinion, self.session.ledger, self.session.index
        order = ledger.places
        table = np.full(NOTHING + 1, NOTHING, dtype=np.uint8)
        table[: len(opinion.classes)] = [order.get(name, NOTHING) for name in opinion.classes]
        both = np.stack([table[opinion.codes], opinion.certainty], axis=1)
        both[self._hidden()] = NOTHING, 0
        for name, given in ledger.labels.items():
            both[index[name]] = order[given.label], NOTHING
        both[self.session.desk_items()] = NOTHING, 0  # also where somebody else answered
        return both.tobytes()

    def picture(self, node: int) -> Picture:
        """Return the image of a node."""
        found = self.source.items.picture(node)
        return Picture(b"", "", "This item has no image.") if found is None else found

    def thumbnail(self, node: int) -> Picture:
        """Return the image of a node, small; made once."""
        if node not in self._thumbnails:
            if len(self._thumbnails) >= THUMBNAILS:
                self._thumbnails.pop(next(iter(self._thumbnails)), None)
            self._thumbnails[node] = shrink(self.picture(node))
        return self._thumbnails[node]

    def check(self, node: Any) -> int:
        """Return a node that was asked for, if there is one."""
        text = str(node)
        if not text.isdecimal() or len(text) > 12 or int(text) >= len(self.session.ids):
            raise InputError(f"item must be a node of the graph, got {text!r:.40}")
        return int(text)

    def _given(self, node: int) -> Given | None:
        return self.session.ledger.labels.get(self.session.ids[node])

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


def routes(desk: Desk) -> dict[str, Callable[[Mapping[str, Any], str], Any]]:
    """Return the questions: functions of arguments and person that give dict, bytes or Picture."""

    def shows(asked: Mapping[str, Any]) -> bool:
        return str(asked.get("shows", "")).lower() in ("1", "true")

    return {
        "session": lambda asked, by: desk.settings(),
        "next": lambda asked, by: desk.next(
            by,
            int(asked.get("n", 2)),
            desk.check(asked["holding"]) if "holding" in asked else None,
        ),
        "item": lambda asked, by: desk.item(desk.check(asked.get("item")), by),
        "near": lambda asked, by: desk.near(desk.check(asked.get("item")), shows(asked)),
        "group": lambda asked, by: desk.group(str(asked.get("items", "")).split(",")),
        "review": lambda asked, by: desk.review(),
        "sure": lambda asked, by: desk.sure(),
        "image": lambda asked, by: desk.picture(desk.check(asked.get("item"))),
        "thumbnail": lambda asked, by: desk.thumbnail(desk.check(asked.get("item"))),
        "brief": lambda asked, by: desk.brief(desk.check(asked.get("item"))),
        "people": lambda asked, by: desk.people(),
        "edges": lambda asked, by: desk.edges(desk.check(asked.get("item"))),
        "estimate": lambda asked, by: desk.estimate(),
        "history": lambda asked, by: desk.history(by),
        "search": lambda asked, by: desk.search(
            Wanted(
                str(asked.get("q", "")),
                str(asked.get("label", "")),
                asked.get("state", ""),
                str(asked.get("who", "")),
            ),
            shows(asked),
        ),
        "layout": lambda asked, by: desk.layout(),
        "colours": lambda asked, by: desk.colours(),
    }
