"""A labelling session: its journal, what to show next, and how good the labels are by now."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gpgc._typing import Integers
from gpgc.errors import DataError, InputError
from gpgc.files import Journal
from gpgc.labelling.audits import AuditOrder
from gpgc.labelling.certificate import Certificate
from gpgc.labelling.confirm import surest_group
from gpgc.labelling.desks import Desks
from gpgc.labelling.events import (
    bulk_line,
    check_item,
    check_items,
    item_line,
    now,
    session_line,
)
from gpgc.labelling.items import is_text
from gpgc.labelling.labelling import Labelling
from gpgc.labelling.ledger import GROUPED, Record, Role
from gpgc.labelling.live import LiveModel
from gpgc.labelling.lock import lock_beside
from gpgc.labelling.opening import import_known, open_ledger
from gpgc.labelling.opinion import NOTHING, SURE
from gpgc.labelling.report import report

WAIT = 20.0
"""Seconds that a request for the next item waits for the model."""


LIVE_NODES, KEPT_NODES = 32_000, 2000
"""Number of nodes up to which all are kept up with every label; of more, so many random ones."""


class Session:
    """Label the nodes of a graph in person; everything that is answered is in the journal first.

    Parameters
    ----------
    ids : sequence of str
        The name of each node, all different.
    build : callable
        Returns the :class:`gpgc.Labelling` of the graph, without labels and with
        ``refresh="manual"``, given the nodes whose opinion is wanted (None for all); called in a
        thread.
    journal : path-like
        The file of labels; the session goes on with what it holds.
    classes : sequence of str
        Classes to begin with; more may be added.
    imported : dict of str to str, optional
        Labels known before, by id; written to the journal once.
    seed : int, default 0
        Of the order of the audit items.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> graph = np.kron(np.eye(2), np.ones((3, 3)))
    >>> def build(nodes):
    ...     return Labelling.on(None, adjacency=graph, nodes=nodes, refresh="manual")
    >>> session = Session("abcdef", build, Path(mkdtemp()) / "labels.jsonl", ["left", "right"])
    >>> session.start()
    >>> (item,) = session.next("anna", 1)
    >>> session.record({"do": "label", "item": item, "label": "left"}, "anna")["labels"]
    1
    >>> session.close()
    """

    def __init__(
        self,
        ids: Sequence[str],
        build: Callable[[Integers | None], Labelling],
        journal: str | Path,
        classes: Sequence[str] = (),
        *,
        imported: dict[str, str] | None = None,
        seed: int = 0,
    ) -> None:
        self.ids = list(ids)
        self.index = {name: node for node, name in enumerate(self.ids)}
        if len(self.index) < len(self.ids):
            raise InputError("ids must all be different, got some twice")
        for name in self.ids:
            if not is_text(name):
                raise InputError(f"ids must be text that UTF-8 can hold, got {name!r:.80}")
        self._guard = threading.RLock()
        self._listeners: list[Callable[[str], None]] = []
        self._desks = Desks()
        self._told: set[int] = set()  # nodes of which somebody saw what the model thinks
        self._lock = lock_beside(Path(journal))
        self.journal = Journal(journal, sync=True)
        self.seed, ledger = open_ledger(self.journal, self.ids, classes, seed)
        self.ledger = import_known(self.journal, ledger, classes, imported or {}, self.index)
        self.audits = AuditOrder(self.ids, self.seed)
        few = len(self.ids) <= LIVE_NODES
        kept = None if few else np.sort(self.audits.order[:KEPT_NODES])
        self.live = LiveModel(lambda: build(kept), len(self.ids), self.announce)
        self.certificate = Certificate(self)
        self.curve: list[dict[str, Any]] = []

    def start(self) -> None:
        """Begin to build the model, in its thread."""
        self._inform()
        self.live.start()

    def next(self, by: str, n: int = 2, holding: int | None = None) -> list[int]:
        """Return the nodes on a person's desk, filled up to ``n``; the first is to be decided.

        An item that the person is ``holding``, as after a restart, lies there first unless it was
        decided or is somebody else's.
        """
        with self._guard:
            closing = self.ledger.closing
            is_asked = holding is not None and (not closing or self.ids[holding] in closing)
            if holding is not None and is_asked and not self._is_taken(holding):
                self._desks.put(by, holding, first=True)
        while True:
            with self._guard:
                desk = self._desks.of(by)
                if len(desk) >= n:
                    return list(desk[:n])
                if self._offer_audit(by):
                    continue
                if self.ledger.closing or len(self.ledger.decided) + len(desk) >= len(self.ids):
                    return list(desk[:n])
            # the model may need a moment, in which others shall not wait
            node = self.live.take(self._is_taken, WAIT if not desk else 0.0)
            with self._guard:
                if self.ledger.closing:  # it was begun meanwhile, and suggests nothing
                    continue
                if node is None:
                    if self.live.failure:
                        raise DataError(f"the model failed: {self.live.failure}")
                    if not self._desks.of(by) and self.live.is_exhausted:
                        self._offer_any(by)
                    return list(self._desks.of(by)[:n])
                if not self._is_taken(node):
                    self._desks.put(by, node)
                    self._inform()

    def record(self, event: Record, by: str = "") -> dict[str, Any]:
        """Write a decision to the journal and answer once it is there.

        Parameters
        ----------
        event : dict
            ``event`` (an id; the same one again is answered but not written again), ``do`` (label,
            correct, skip, bulk, confirm, undo, redo, class, finish, continue), ``item``,
            ``label``, ``was`` (the label that the person saw), ``seconds``, ``chosen``, ``note``;
            of a bulk ``items`` and ``named`` (those that are meant though they are usually left
            out), of a confirmed group ``items`` and ``declined`` (those that were rejected).
        by : str
            Who decides.
        """
        with self._guard:
            name = str(event.get("event") or uuid.uuid4())[:80]
            if name not in self.ledger:
                line = self._line(name, event, by)
                if line is not None:
                    self.journal.append(line)
                    self._apply(line)
            return {"saved": True, "event": name, **self.summary()}

    def group(self, nodes: list[int]) -> tuple[list[int], int]:
        """Return the nodes that one label may be given to, and how many are left out.

        Left out are items on desks and some that are asked one by one, the next audit items among
        them. All are, while a closing audit is on.
        """
        with self._guard:
            kept = {*self._desks.items(), *self.audits.window(self.ledger, times=2)}
            free = [] if self.ledger.closing else [node for node in nodes if node not in kept]
            return free, len(nodes) - len(free)

    def sure_group(self) -> tuple[str | None, list[int], int]:
        """Return a class, items that the model puts there for sure, and how many it is sure of.

        Left out are the items that :meth:`group` leaves out, and those that were rejected from a
        group of that class before.
        """
        with self._guard:
            opinion, labelling, ledger = self.live.opinion, self.live.labelling, self.ledger
            if labelling is None or not opinion.classes or not labelling.is_conditioned:
                return None, [], 0
            is_sure = (opinion.codes != NOTHING) & (opinion.certainty >= SURE * (NOTHING - 1))
            if opinion.nodes is not None:  # of the others it was thought some labels ago
                is_sure &= np.isin(np.arange(len(is_sure)), opinion.nodes)
            decided, declined = ledger.decided, ledger.declined
            free = [
                int(node)
                for node in self.audits.order[is_sure[self.audits.order]]
                if self.ids[node] not in decided
                and (self.ids[node], opinion.classes[opinion.codes[node]]) not in declined
            ]
            free, _ = self.group(free)
        # what is like what takes a moment, in which others shall not wait
        code, found = surest_group(
            np.array(free, dtype=np.intp), opinion.codes, opinion.certainty, labelling.correlation
        )
        with self._guard:
            self._told.update(found.tolist())
        return None if code is None else opinion.classes[code], found.tolist(), len(free)

    def is_open(self, node: int) -> bool:
        """Return whether somebody is about to answer a node, and shall not be told anything."""
        with self._guard:
            is_decided = self.ids[node] in self.ledger.decided
            return not is_decided and (bool(self.ledger.closing) or self._desks.hold(node))

    def tell(self, node: int) -> tuple[Any, float] | None:
        """Return what the model thinks of a node, for a person to see; None of an open one."""
        with self._guard:
            if self.is_open(node):
                return None
            said = self.live.opinion.of(node)
            if said is not None:
                self._told.add(node)
            return said

    def desk_items(self) -> list[int]:
        """Return the items on all desks."""
        return self._desks.items()

    def summary(self) -> dict[str, Any]:
        """Return the counts that every answer carries."""
        return {
            "revision": self.live.opinion.revision,
            "labels": len(self.ledger.labels),
            "skipped": len(self.ledger.skipped),
            "phase": self.ledger.phase,
        }

    def estimate(self) -> dict[str, Any]:
        """Return how good the labels of the rest are, by the audit items."""
        return report(self.ledger, self.live.opinion, self.index) | self.summary()

    def close(self) -> None:
        """End the model's thread and let the journal go."""
        self.announce("stopping")
        self.live.stop()
        self._lock.close()

    def listen(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Call a function with the name of whatever is new; returns how to end that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def _line(self, name: str, event: Record, by: str) -> Record | None:
        """Return the line of an event, None where there is nothing to do."""
        line = {"event": name, "at": now(), "by": by, "do": event.get("do")}
        if event.get("do") == "finish":
            if self.ledger.closing:
                raise InputError("do must not be 'finish' while a closing audit is on")
            return line | {"ids": self.audits.draw_closing(self.ledger, event.get("n", 30))}
        if event.get("do") in GROUPED:
            return self._bulk_line(line, event)
        if event.get("do") not in ("label", "correct", "skip"):
            return session_line(line, event, self.ledger)
        node = check_item(event.get("item"), len(self.ids))
        said, role = self.live.opinion.of(node), self._role(node, event, by)
        in_sight = node in self._told or self.ledger.is_declined(self.ids[node])
        return item_line(line, event, self.ids[node], role, said, self.ledger, in_sight)

    def _bulk_line(self, line: Record, event: Record) -> Record | None:
        if self.ledger.closing:
            raise InputError("a closing audit is answered one by one, got many items at once")
        n_nodes, decided = len(self.ids), self.ledger.decided
        named = check_items(event.get("named", []), n_nodes)
        free, _ = self.group(check_items(event.get("items"), n_nodes))
        fresh = [node for node in free if self.ids[node] not in decided]
        meant = [self.ids[node] for node in dict.fromkeys([*fresh, *named])]
        declined: list[str] = []
        if event["do"] == "confirm":
            rejected = check_items(event.get("declined", []), n_nodes)
            declined = [self.ids[node] for node in rejected if self.ids[node] not in decided]
        return bulk_line(line, event, meant, self.ledger, declined)

    def _apply(self, line: Record) -> None:
        self.ledger = self.ledger.after(line)
        if line["do"] in ("finish", "continue"):
            self._desks.keep(lambda node: False)
        if line["do"] == "undo":
            undone = next(r for r in self.ledger.records if r["event"] == line["undone"])
            if "id" in undone:  # it lies on the desk again, first of all
                self._desks.put(line["by"], self.index[undone["id"]], first=True)
        self._desks.keep(lambda node: self.ids[node] not in self.ledger.decided)
        self.certificate.freeze()
        self._inform()
        self.announce("saved")

    def _is_taken(self, node: int) -> bool:
        return self.ids[node] in self.ledger.decided or self._desks.hold(node)

    def _offer_audit(self, by: str) -> bool:
        """Put an audit item on a person's desk if one is due."""
        if self.ledger.closing:
            waiting = [self.index[name] for name in self.ledger.closing]
        else:
            if not self.audits.is_due(self.ledger, len(self._desks.items())):
                return False
            waiting = self.audits.window(self.ledger)
        free = [node for node in waiting if not self._is_taken(node)]
        if free:
            self._desks.put(by, free[0])
        return bool(free)

    def _offer_any(self, by: str) -> None:
        """Put any node on the desk, where the model has nothing to suggest any more."""
        free = (int(node) for node in self.audits.order if not self._is_taken(int(node)))
        node = next(free, None)
        if node is not None:
            self._desks.put(by, node)

    def _role(self, node: int, event: Record, by: str) -> Role:
        before = self.ledger.labels.get(self.ids[node])
        if before:
            return before.role
        on_desk = node in self._desks.of(by)
        if self.ids[node] in self.ledger.closing:
            return "closing"
        if event.get("chosen") and not on_desk:
            return "chosen"
        return "audit" if node in self.audits.window(self.ledger) else "suggested"

    def _inform(self) -> None:
        """Tell the model what to learn from: all but the audit items, and a closing audit."""
        ledger, learnt = self.ledger, self.ledger.learnt
        labels = {self.index[name]: label for name, label in learnt.items()}
        kept_out = [self.index[name] for name in ledger.decided if name not in learnt]
        excluded = {*kept_out, *self.audits.window(self.ledger)}
        self.live.want(labels, excluded, self._desks.items())

    def announce(self, what: str) -> None:
        """Tell all listeners what is new."""
        if what == "opinion":
            found = self.estimate()
            point = {key: found[key] for key in ("labels", "interval", "coverage", "changed")}
            self.curve = [*(p for p in self.curve if p["labels"] < point["labels"]), point][-2000:]
        for listener in list(self._listeners):
            listener(what)
