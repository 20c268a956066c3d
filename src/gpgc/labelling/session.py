"""A labelling session: its journal, what to show next, and how good the labels are by now."""

from __future__ import annotations

import hashlib
import threading
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from gpgc._typing import Integers
from gpgc.errors import DataError, InputError
from gpgc.files import Journal
from gpgc.labelling.certificate import Certificate
from gpgc.labelling.estimate import audited_accuracy, is_audit, per_class
from gpgc.labelling.ledger import FORMAT, VERSION, Ledger, Record, Role, check_record, replay
from gpgc.labelling.live import SURE, LiveModel
from gpgc.labelling.lock import lock_beside
from gpgc.uncertainty.suggest import Labelling

MAX_CLASSES, MAX_LABEL = 100, 200
RESERVED = 8
"""Next audit items, which are never suggested."""

WAIT = 20.0
"""Seconds that a request for the next item waits for the model."""


LIVE_NODES, KEPT_NODES = 32_000, 2000
"""Number of nodes up to which all are kept up with every label; of more, so many random ones."""


class UnknownClassError(InputError):
    """A label that is none of the classes."""


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
        self._guard = threading.RLock()
        self._listeners: list[Callable[[str], None]] = []
        self._desks: dict[str, list[int]] = {}
        self._lock = lock_beside(Path(journal))
        self.journal = Journal(journal, sync=True)
        self.ledger = self._open(tuple(classes), seed, imported or {})
        self._order = np.random.default_rng([self.seed, 1]).permutation(len(self.ids))
        self._closing_order = np.random.default_rng([self.seed, 2]).permutation(len(self.ids))
        few = len(self.ids) <= LIVE_NODES
        kept = None if few else np.sort(self._order[:KEPT_NODES])
        self.live = LiveModel(lambda: build(kept), len(self.ids), self.announce)
        self.certificate = Certificate(self)
        self.curve: list[dict[str, Any]] = []

    def start(self) -> None:
        """Begin to build the model, in its thread."""
        self._inform()
        self.live.start()

    # -- what a person does ---------------------------------------------------------------------

    def next(self, by: str, n: int = 2) -> list[int]:
        """Return the nodes on a person's desk, filled up to ``n``; the first is to be decided."""
        while True:
            with self._guard:
                desk = self._desk(by)
                if len(desk) >= n or self._offer_audit(desk):
                    if len(desk) >= n:
                        return desk[:n]
                    continue
                if self.ledger.closing or len(self.ledger.decided) + len(desk) >= len(self.ids):
                    return desk[:n]
            # the model may need a moment, in which others shall not wait
            node = self.live.take(self._is_taken, WAIT if not desk else 0.0)
            with self._guard:
                if node is None:
                    if self.live.failure:
                        raise DataError(f"the model failed: {self.live.failure}")
                    if not self._desk(by) and self.live.is_exhausted:
                        self._offer_any(by)
                    return self._desk(by)[:n]
                if not self._is_taken(node):
                    self._desk(by).append(node)
                    self._inform()

    def record(self, event: Record, by: str = "") -> dict[str, Any]:
        """Write a decision to the journal and answer once it is there.

        Parameters
        ----------
        event : dict
            ``event`` (an id; the same one again is answered but not written again), ``do`` (label,
            correct, skip, undo, redo, class, finish, continue), ``item``, ``label``, ``seconds``,
            ``chosen``, ``note``.
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

    def summary(self) -> dict[str, Any]:
        """Return the counts that every answer carries."""
        return {
            "revision": self.live.opinion.revision,
            "labels": len(self.ledger.labels),
            "skipped": len(self.ledger.skipped),
            "phase": self.phase,
        }

    @property
    def phase(self) -> str:
        """Either ``"labelling"``, or ``"closing"`` and then ``"closed"`` once it is finished."""
        if not self.ledger.closing:
            return "labelling"
        open_ones = [name for name in self.ledger.closing if name not in self.ledger.decided]
        return "closing" if open_ones else "closed"

    # -- what the model says --------------------------------------------------------------------

    def estimate(self) -> dict[str, Any]:
        """Return how good the labels of the rest are, by the audit items."""
        opinion, ledger = self.live.opinion, self.ledger
        audit = ledger.with_role("audit")
        learnt = ledger.with_role("suggested", "chosen", "imported")
        believed = {name: opinion.of(self.index[name]) for name in audit}
        hits = {name: bool(said and said[0] == audit[name]) for name, said in believed.items()}
        largest = opinion.rest(self.index[name] for name in ledger.labels)
        belief = float(largest.mean()) if len(largest) else 0.0
        found = audited_accuracy(sum(hits.values()), len(audit), belief) if len(largest) else None
        codes = opinion.codes[opinion.codes < len(opinion.classes)]
        counts = np.bincount(codes, minlength=len(opinion.classes)) / max(len(codes), 1)
        predicted = dict(zip(opinion.classes, counts.tolist(), strict=True))
        return {
            "interval": None if found is None else found.as_dict(),
            "audit": [sum(hits.values()), len(audit)],
            "audit_skipped": sum(role == "audit" for role in ledger.skipped.values()),
            "coverage": float((largest >= SURE).mean()) if len(predicted) > 1 else 0.0,
            "explained": opinion.explained,
            "changed": opinion.n_changed,
            "per_class": per_class(ledger.classes, learnt, audit, hits, predicted),
            **self.summary(),
        }

    def close(self) -> None:
        """End the model's thread and let the journal go."""
        self.announce("stopping")
        self.live.stop()
        self._lock.close()

    def listen(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Call a function with the name of whatever is new; returns how to end that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    # -- inside ---------------------------------------------------------------------------------

    def _open(self, classes: tuple[str, ...], seed: int, imported: dict[str, str]) -> Ledger:
        digest = hashlib.sha256("\n".join(self.ids).encode()).hexdigest()
        path = self.journal.path
        if not self.journal.records:
            self.journal.append(
                {
                    "gpgc": FORMAT,
                    "version": VERSION,
                    "nodes": len(self.ids),
                    "ids_sha256": digest,
                    "classes": list(classes),
                    "seed": seed,
                }
            )
        header, *lines = self.journal.records
        if header.get("gpgc") != FORMAT or not isinstance(header.get("classes"), list):
            raise DataError(f"{path} must be a journal of labels, got {header!r:.80}")
        if header.get("version", 0) > VERSION:
            raise DataError(f"{path} was written by a newer gpgc, got version {header['version']}")
        if header.get("ids_sha256") != digest:
            raise DataError(
                f"{path} must be a journal of these {len(self.ids):,} nodes, got one of other "
                f"data ({header.get('nodes')} nodes): name another file with --journal"
            )
        self.seed = int(header.get("seed", 0))
        records = [check_record(line, f"{path} line {i}") for i, line in enumerate(lines, 2)]
        ledger = replay(Ledger(tuple(header["classes"])), _unique(records))
        known = [line["id"] for line in records if line["do"] in ("label", "correct", "skip")]
        if strangers := [name for name in known if name not in self.index]:
            raise DataError(f"{path} must name nodes of this graph, got {strangers[0]!r}")
        self.ledger = ledger
        for name in [*classes, *imported.values()]:
            if name not in self.ledger.classes:
                self._write({"do": "class", "label": check_label(name, self.ledger.classes)})
        for name, label in imported.items():
            if name not in self.ledger.decided:
                self._write({"do": "label", "id": name, "label": label, "role": "imported"})
        return self.ledger

    def _write(self, line: Record) -> None:
        full = {"event": str(uuid.uuid4()), "at": _now(), **line}
        self.journal.append(full)
        self.ledger = self.ledger.after(full)

    def _line(self, name: str, event: Record, by: str) -> Record | None:
        """Return the line of an event, None where there is nothing to do."""
        do = event.get("do")
        line: Record = {"event": name, "at": _now(), "by": by, "do": do}
        if do in ("undo", "redo"):
            target = self.ledger.undoable(by) if do == "undo" else self.ledger.redoable(by)
            return None if target is None else line | {"do": "undo", "undone": target}
        if do == "class":
            return line | {"label": check_label(event.get("label"), self.ledger.classes)}
        if do == "finish":
            if self.ledger.closing:
                raise InputError("do must not be 'finish' while a closing audit is on")
            return line | {"ids": self._draw_closing(event.get("n", 30))}
        if do == "continue":
            return line
        if do not in ("label", "correct", "skip"):
            raise InputError(f"do must be a known kind of event, got {do!r:.40}")
        node = event.get("item")
        if not isinstance(node, int) or isinstance(node, bool) or not 0 <= node < len(self.ids):
            raise InputError(f"item must be a node from 0 to {len(self.ids) - 1}, got {node!r:.40}")
        line |= {"id": self.ids[node]}
        if do != "skip":
            label = event.get("label")
            if label not in self.ledger.classes:
                raise UnknownClassError(f"label must be one of the classes, got {label!r:.60}")
            line |= {"label": label}
        before = self.ledger.labels.get(self.ids[node])
        line |= {"role": before.role if before else self._role(node, event, by)}
        if before and do == "label":
            line |= {"do": "correct"}
        if said := self.live.opinion.of(node):
            line |= {"believed": [said[0], round(said[1], 3)]}
        if isinstance(event.get("seconds"), int | float):
            line |= {"seconds": round(min(float(event["seconds"]), 86400.0), 2)}
        return line | ({"note": "unsure"} if event.get("note") == "unsure" else {})

    def _apply(self, line: Record) -> None:
        self.ledger = self.ledger.after(line)
        if line["do"] == "undo":
            self._bring_back(line)
        elif "id" in line:
            node = self.index[line["id"]]
            for desk in self._desks.values():
                if node in desk:
                    desk.remove(node)
        if line["do"] in ("finish", "continue", "undo"):
            self._desks = {by: [] if line["do"] != "undo" else d for by, d in self._desks.items()}
            self.certificate.freeze()
        self._inform()
        self.announce("saved")

    def _bring_back(self, line: Record) -> None:
        """Put a node whose decision was undone on the desk again, first of all."""
        undone = next(r for r in self.ledger.records if r["event"] == line["undone"])
        if "id" in undone:
            node, desk = self.index[undone["id"]], self._desks.setdefault(line["by"], [])
            if undone["id"] not in self.ledger.decided and node not in desk:
                desk.insert(0, node)
        for by, desk in self._desks.items():
            self._desks[by] = [n for n in desk if self.ids[n] not in self.ledger.decided]

    def _desk(self, by: str) -> list[int]:
        return self._desks.setdefault(by, [])

    def _is_taken(self, node: int) -> bool:
        return self.ids[node] in self.ledger.decided or any(
            node in desk for desk in self._desks.values()
        )

    def _audit_window(self) -> list[int]:
        """Return the next audit items: the first of the seeded order that nobody has decided."""
        decided, window = self.ledger.decided, []
        size = min(RESERVED, 1 + len(self.ids) // 25)
        for node in self._order:
            if self.ids[node] not in decided:
                window.append(int(node))
                if len(window) == size:
                    break
        return window

    def _offer_audit(self, desk: list[int]) -> bool:
        """Put an audit item on the desk if one is due."""
        if self.ledger.closing:
            waiting = [self.index[name] for name in self.ledger.closing]
        else:
            roles = [given.role for given in self.ledger.labels.values()]
            roles += list(self.ledger.skipped.values())
            position = sum(role in ("suggested", "audit") for role in roles)
            position += sum(len(each) for each in self._desks.values())
            if not is_audit(position, self.seed):
                return False
            waiting = self._audit_window()
        free = [node for node in waiting if not self._is_taken(node)]
        desk.extend(free[:1])
        return bool(free)

    def _offer_any(self, by: str) -> None:
        """Put any node on the desk, where the model has nothing to suggest any more."""
        free = (int(node) for node in self._order if not self._is_taken(int(node)))
        self._desk(by).extend([node for _, node in zip(range(1), free, strict=False)])

    def _role(self, node: int, event: Record, by: str) -> Role:
        on_desk = node in self._desk(by)
        if self.ids[node] in self.ledger.closing:
            return "closing"
        if event.get("chosen") and not on_desk:
            return "chosen"
        return "audit" if node in self._audit_window() else "suggested"

    def _draw_closing(self, n: Any) -> list[str]:
        if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= 10_000:
            raise InputError(f"n must be a whole number from 1 to 10,000, got {n!r:.40}")
        decided = self.ledger.decided
        order = (self.ids[node] for node in self._closing_order)
        fresh = [name for name in order if name not in decided][:n]
        if not fresh:
            raise InputError("a closing audit needs nodes without a label, got none")
        return fresh

    def _inform(self) -> None:
        """Tell the model what to learn from: while labelling, all but the audit items."""
        ledger = self.ledger
        learnt = ledger.with_role("suggested", "chosen", "imported")
        labels = {self.index[name]: label for name, label in learnt.items()}
        kept_out = [self.index[name] for name in ledger.decided if name not in learnt]
        pending = [node for desk in self._desks.values() for node in desk]
        self.live.want(labels, {*kept_out, *self._audit_window()}, pending)

    def announce(self, what: str) -> None:
        """Tell all listeners what is new."""
        if what == "opinion":
            found = self.estimate()
            point = {key: found[key] for key in ("labels", "interval", "coverage", "changed")}
            self.curve = [*(p for p in self.curve if p["labels"] < point["labels"]), point][-2000:]
        for listener in list(self._listeners):
            listener(what)


def check_label(label: Any, known: Sequence[str]) -> str:
    """Return the name of a new class, or refuse it."""
    name = label.strip() if isinstance(label, str) else ""
    if not name or len(name) > MAX_LABEL or any(ord(letter) < 32 for letter in name):
        raise InputError(f"label must be a line of 1 to {MAX_LABEL} characters, got {label!r:.60}")
    if len(known) >= MAX_CLASSES and name not in known:
        raise InputError(f"label must be one of at most {MAX_CLASSES} classes, got one more")
    return name


def _unique(records: list[Record]) -> list[Record]:
    """Return the records, each event once."""
    return list({record["event"]: record for record in reversed(records)}.values())[::-1]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
