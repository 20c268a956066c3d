"""A labelling session: its journal, what to show next, and how good the labels are by now."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.errors import DataError, InputError
from gpgc.files import Journal
from gpgc.labelling.audits import AuditOrder
from gpgc.labelling.certificate import Certificate
from gpgc.labelling.desks import Desks
from gpgc.labelling.estimate import forecast, is_accurate, people, report
from gpgc.labelling.events import (
    KINDS,
    bulk_line,
    check_item,
    check_items,
    class_line,
    item_line,
    keep_line,
    now,
    second_line,
    session_line,
)
from gpgc.labelling.guesses import WITHHELD, Guesses
from gpgc.labelling.items import is_text
from gpgc.labelling.labelling import Labelling
from gpgc.labelling.ledger import GROUPED, Goal, Record, class_keys
from gpgc.labelling.live import LiveModel
from gpgc.labelling.opening import import_known, lock_beside, open_ledger
from gpgc.labelling.opinion import NOTHING, SURE
from gpgc.labelling.review import LabelWatch, review_entries
from gpgc.problem.roles import RANDOM_ROLES, Role

GROUP = 24
"""Items that a person is shown at once."""

COMPARED = 2000
"""Items among which the nearest are looked for; of more, the surest."""


def surest_group(
    free: Integers,
    codes: NDArray[np.integer],
    certainty: NDArray[np.integer],
    correlation: Callable[[int, Integers], Array],
    size: int = GROUP,
) -> tuple[int | None, Integers]:
    """Return the class and the items of a group: the surest item, and those most like it."""
    if not len(free):
        return None, free
    surest = free[np.argsort(-certainty[free].astype(np.intp), kind="stable")]
    first = int(surest[0])
    alike = surest[codes[surest] == codes[first]][:COMPARED]
    others = alike[alike != first]
    nearest = np.argsort(-correlation(first, others), kind="stable")[: size - 1]
    return int(codes[first]), np.concatenate([[first], others[nearest]])


WAIT = 20.0
"""Seconds that a request for the next item waits for the model."""

CATCH_UP = 2.0
"""Seconds that a group waits for the model to know the last labels."""

LIVE_NODES, KEPT_NODES = 32_000, 2000
"""Number of nodes up to which all are kept up with every label; of more, so many random ones."""


class Session:
    """Label the nodes of a graph in person; everything that is answered is in the journal first."""

    def __init__(
        self,
        ids: Sequence[str],
        build: Callable[[Integers | None], Labelling],
        journal: str | Path,
        classes: Sequence[str] = (),
        *,
        imported: dict[str, str] | None = None,
        seed: int = 0,
        keys: Mapping[str, str] | None = None,
        guesses: Guesses | None = None,
        goal: Goal | None = None,
        overlap: float = 0.0,
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
        self._overlap = overlap
        self._letters, self.guesses = dict(keys or {}), guesses or Guesses()
        self._told: set[int] = set()  # nodes of which somebody saw what the model thinks
        self._lock = lock_beside(Path(journal))
        try:
            self.journal = Journal(journal, sync=True)
            self.seed, ledger = open_ledger(self.journal, self.ids, classes, seed)
            names = [*classes, *dict.fromkeys(self.guesses.labels.values())]
            self.ledger = import_known(self.journal, ledger, names, imported or {}, self.index)
        except BaseException:
            self._lock.close()
            raise
        self.audits = AuditOrder(self.ids, self.seed)
        n_shown = len(self.ids) - int(WITHHELD * len(self.ids))
        self._withheld = frozenset(self.audits.order[n_shown:].tolist())
        few = len(self.ids) <= LIVE_NODES
        kept = None if few else np.sort(self.audits.order[:KEPT_NODES])
        self.live = LiveModel(lambda: build(kept), len(self.ids), self.announce)
        self.certificate = Certificate(self)
        self.watch = LabelWatch(self)
        self.curve: list[dict[str, Any]] = []
        if goal is not None:
            self.record({"do": "goal", **asdict(goal)}, "gpgc")  # nobody undoes it by chance

    def start(self) -> None:
        """Begin to build the model, in its thread."""
        self._inform()
        self.live.start()

    def next(self, by: str, n: int = 2, holding: int | None = None) -> list[int]:
        """Return the nodes on a person's desk, filled up to ``n``; the first is to be decided."""
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
        """Write a decision to the journal and answer once it is there."""
        with self._guard:
            name = str(event.get("event") or uuid.uuid4())[:80]
            if name not in self.ledger:
                line = self._line(name, event, by)
                if line is not None:
                    self.journal.append(line)
                    self._apply(line)
            return {"saved": True, "event": name, **self.summary()}

    def group(self, nodes: list[int]) -> tuple[list[int], int]:
        """Return the nodes that one label may be given to, and how many are left out."""
        with self._guard:
            kept = {*self._desks.items(), *self.audits.window(self.ledger, times=2)}
            free = [] if self.ledger.closing else [node for node in nodes if node not in kept]
            return free, len(nodes) - len(free)

    def sure_group(self) -> tuple[str | None, list[int], int]:
        """Return a class, items that the model puts there for sure, and how many it is sure of."""
        self.live.settle(CATCH_UP)
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

    def keys(self) -> dict[str, str]:
        """Return the key of each class."""
        created = self.ledger.created
        return dict(
            zip(created, class_keys(created, self._letters | self.ledger.keys), strict=True)
        )

    def review(self) -> tuple[list[dict[str, Any]], bool]:
        """Return the answers that are worth a second look, and whether labels are being checked."""
        with self._guard:
            is_checking = self.watch.follow(at_once=True)
            found = review_entries(self.ledger, self.watch.suspects)
            self._told.update(self.index[each["id"]] for each in found if "wrong" in each)
        return found, is_checking

    def is_open(self, node: int) -> bool:
        """Return whether somebody is about to answer a node, and shall not be told anything."""
        with self._guard:
            is_closing = bool(self.ledger.closing) and self.ids[node] not in self.ledger.decided
            return is_closing or self._desks.hold(node)

    def tell(self, node: int) -> tuple[Any, float] | None:
        """Return what the model thinks of a node, for a person to see; None of an open one."""
        with self._guard:
            if self.is_open(node):
                return None
            said = self.live.opinion.of(node)
            if said is not None:
                self._told.add(node)
            return said

    def guess(self, node: int) -> tuple[str, float | None] | None:
        """Return what the source from outside thinks of a node, for a person to see.

        None of random items, and of a tenth of all, among which nobody can tell them.
        """
        name = self.ids[node]
        label = self.guesses.labels.get(name)
        with self._guard:
            ledger = self.ledger
            given = ledger.labels.get(name)
            role = given.role if given else ledger.skipped.get(name)
            is_random = role in RANDOM_ROLES or node in self.audits.window(ledger)
            if label is None or node in self._withheld or is_random or name in ledger.closing:
                return None
            self._told.add(node)
        return label, self.guesses.scores.get(name)

    def desk_items(self) -> list[int]:
        """Return the items on all desks."""
        return self._desks.items()

    def summary(self) -> dict[str, Any]:
        """Return the counts that every answer carries."""
        return {
            "revision": self.live.opinion.revision,
            "labels": len(self.ledger.labels),
            "skipped": len(self.ledger.skipped),
            "review": len(review_entries(self.ledger, self.watch.suspects)),
            "phase": self.ledger.phase,
        }

    def estimate(self) -> dict[str, Any]:
        """Return how good the labels of the rest are, by the audit items."""
        found = report(self.ledger, self.live.opinion, self.index) | self.summary()
        return found | {
            "source": self.guesses.measured(self.ledger),
            "goal": forecast(self.ledger, found["interval"], self.curve),
            "people": people(self.ledger),
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

    def _line(self, name: str, event: Record, by: str) -> Record | None:
        """Return the line of an event, None where there is nothing to do."""
        line = {"event": name, "at": now(), "by": by, "do": event.get("do")}
        if event.get("do") == "finish":
            if self.ledger.closing:
                raise InputError("do must not be 'finish' while a closing audit is on")
            return line | {"ids": self.audits.draw_closing(self.ledger, event.get("n", 30))}
        if event.get("do") in GROUPED:
            return self._bulk_line(line, event)
        if event.get("do") in KINDS:
            return class_line(line, event, self.ledger, self.keys())
        if event.get("do") == "keep":
            node = check_item(event.get("item"), len(self.ids))
            return keep_line(line, self.ids[node], event, self.ledger)
        if event.get("do") not in ("label", "correct", "skip"):
            return session_line(line, event, self.ledger)
        node = check_item(event.get("item"), len(self.ids))
        if self.is_second(node, by) and event.get("was") is None:
            return second_line(line, event, self.ids[node], self.ledger)
        said, role = self.live.opinion.of(node), self._role(node, event, by)
        if (guess := self.guess(node)) is not None:
            line |= {"source": self.guesses.name, "proposed": guess[0]}
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
            self._desks.keep(lambda by, node: False)
        if line["do"] == "undo":
            undone = next(r for r in self.ledger.records if r["event"] == line["undone"])
            if "id" in undone:  # it lies on the desk again, first of all
                self._desks.put(line["by"], self.index[undone["id"]], first=True)
        decided = self.ledger.decided
        self._desks.keep(
            lambda by, node: self.ids[node] not in decided or node in self.wants_second(by)
        )
        self.certificate.freeze()
        self._inform()
        self.watch.follow()
        self.announce("saved")

    def _is_taken(self, node: int) -> bool:
        return self.ids[node] in self.ledger.decided or self._desks.hold(node)

    def _offer_audit(self, by: str) -> bool:
        """Put an audit item on a person's desk if one is due."""
        if self.ledger.closing:
            waiting = [self.index[name] for name in self.ledger.closing]
        elif seconds := [node for node in self.wants_second(by) if not self._desks.hold(node)]:
            self._desks.put(by, seconds[0])
            return True
        else:
            last = self.curve[-1]["interval"] if self.curve else None
            accurate = is_accurate(self.ledger.goal, last)
            n_open = len(self._desks.items())
            # while the model is built, the random items are what can be asked already
            is_building = not self.live.is_ready and self.live.failure is None
            if not (is_building or self.audits.is_due(self.ledger, n_open, accurate)):
                return False
            waiting = self.audits.window(self.ledger)
        free = [node for node in waiting if not self._is_taken(node)]
        if free:
            self._desks.put(by, free[0])
        return bool(free)

    def wants_second(self, by: str) -> list[int]:
        """Return the audit items that another person answered and this one shall answer too."""
        ledger = self.ledger
        if not self._overlap or ledger.closing:
            return []
        return [
            node
            for name, given in ledger.labels.items()
            if given.role == "audit"
            and given.is_blind
            and given.by != by
            and name not in ledger.seconds
            and self.audits.is_shared(node := self.index[name], self._overlap)
        ]

    def is_second(self, node: int, by: str) -> bool:
        """Return whether a person is asked an item that another one answered."""
        with self._guard:
            return node in self._desks.of(by) and self.ids[node] in self.ledger.decided

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
        skipped = self.ledger.skipped.get(self.ids[node])
        if skipped in RANDOM_ROLES:
            return skipped
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
