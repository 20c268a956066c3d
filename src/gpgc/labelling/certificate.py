"""The closing audit: a frozen model, fresh random nodes, an exact interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import gpgc
from gpgc.errors import InputError
from gpgc.probability.fraction import exact_interval
from gpgc.report.page import STYLE

if TYPE_CHECKING:
    from gpgc.labelling.session import Session


class Certificate:
    """What the closing audit measures: the model on all labels but random ones."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._frozen: tuple[tuple[str, ...], Future[NDArray[Any]]] | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="gpgc-certificate")

    def freeze(self) -> None:
        """Fit the model that is audited, in the background, if an audit is on."""
        closing, ledger = self._session.ledger.closing, self._session.ledger
        if not closing:
            self._frozen = None
        elif self._frozen is None or self._frozen[0] != closing:
            known = {self._session.index[name]: label for name, label in ledger.learnt.items()}
            self._frozen = closing, self._pool.submit(self._predict, known)

    def result(self) -> dict[str, Any] | None:
        """Return hits, answers, skips and interval so far; None without an audit or its model.

        The random items that were mixed in before and answered blind count with the fresh ones: the
        model never learnt from either.
        """
        self.freeze()
        if self._frozen is None or not self._frozen[1].done():
            return None
        predicted, ledger = self._frozen[1].result(), self._session.ledger
        running = [
            name
            for name, given in ledger.labels.items()
            if given.role == "audit" and given.is_blind
        ]
        running += [name for name, role in ledger.skipped.items() if role == "audit"]
        counted = [*running, *self._frozen[0]]
        answers = {name: ledger.labels[name].label for name in counted if name in ledger.labels}
        hits = {
            name: bool(predicted[self._session.index[name]] == label)
            for name, label in answers.items()
        }
        return {
            "right": sum(hits.values()),
            "answered": len(answers),
            "skipped": sum(name in ledger.skipped for name in counted),
            "of": len(counted),
            "running": len(running),
            "fresh": len(self._frozen[0]),
            **exact_interval(sum(hits.values()), len(answers)).as_dict(),
            "by_class": _by_class(ledger.classes, answers, hits),
        }

    def document(self) -> dict[str, Any]:
        """Return what a finished session is worth, for JSON and for a page of its own."""
        session, ledger = self._session, self._session.ledger
        measured = self.wait() if ledger.phase == "closed" else None
        if measured is None:
            raise InputError("a certificate needs a closing audit that is answered: use Finish")
        by_class = measured.pop("by_class")
        goal, times = ledger.goal, [r["at"] for r in ledger.records if r.get("at")] or [""]
        is_close = goal and (measured["high"] - measured["low"]) / 2 <= goal.within
        is_reached = bool(goal and is_close and measured["mean"] >= goal.accuracy)
        return {
            "certificate": 1,
            "gpgc": gpgc.__version__,
            "session": session.journal.records[0]["ids_sha256"][:16],
            "seed": session.seed,
            "nodes": len(session.ids),
            "labels": len(ledger.learnt),
            "by": dict(Counter(given.by for given in ledger.labels.values()).most_common()),
            "from": times[0],
            "to": times[-1],
            "level": 0.95,
            "measured": measured,
            "by_class": by_class,
            "goal": asdict(goal) | {"is_reached": is_reached} if goal else None,
        }

    def wait(self) -> dict[str, Any] | None:
        """Return the result once the model is there."""
        self.freeze()
        if self._frozen is not None:
            self._frozen[1].result()
        return self.result()

    def _predict(self, known: dict[int, str]) -> NDArray[Any]:
        n_nodes = len(self._session.ids)
        if not known:
            return np.full(n_nodes, None, dtype=object)
        predicted = self._session.live.fit(known).result().predict()
        self._session.announce("estimate")
        return np.asarray(predicted)


def _by_class(
    classes: tuple[str, ...], answers: Mapping[str, str], hits: Mapping[str, bool]
) -> list[dict[str, Any]]:
    """Return for each class how many of its items the model has right, with their interval."""
    found = []
    for label in classes:
        mine = [hits[name] for name, answer in answers.items() if answer == label]
        interval = exact_interval(sum(mine), len(mine)).as_dict()
        found.append({"name": label, "right": sum(mine), "answered": len(mine), **interval})
    return found


def certificate_page(found: Mapping[str, Any]) -> str:
    """Return a certificate, as :meth:`gpgc.labelling.certificate.Certificate.document` gives it."""
    measured, goal = found["measured"], found["goal"]
    skipped = f", {measured['skipped']} were skipped" if measured["skipped"] else ""
    facts = {
        "95 % interval": f"{100 * measured['low']:.1f} to {100 * measured['high']:.1f} %",
        "right": f"{measured['right']} of {measured['answered']} random items{skipped}",
        "labels behind the model": f"{found['labels']:,} of {found['nodes']:,} items",
        "answered by": ", ".join(
            f"{who or 'nobody named'} ({n})" for who, n in found["by"].items()
        ),
        "from": found["from"][:16].replace("T", " ") + " UTC",
        "to": found["to"][:16].replace("T", " ") + " UTC",
        "seed, session": f"{found['seed']}, {found['session']}",
    }
    if goal:
        word = "reached" if goal["is_reached"] else "not reached"
        facts["goal"] = f"{100 * goal['accuracy']:.3g} ± {100 * goal['within']:.3g} %: {word}"
    rows = "".join(
        f"<tr><th scope=row>{escape(each['name'])}<td>{each['right']} of {each['answered']}"
        f"<td>{100 * each['low']:.0f} to {100 * each['high']:.0f} %</tr>"
        for each in found["by_class"]
        if each["answered"]
    )
    details = "".join(
        f"<div><dt>{name}</dt><dd>{escape(what)}</dd></div>" for name, what in facts.items()
    )
    share = measured["right"] / max(measured["answered"], 1)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Certificate</title><style>{STYLE}</style>
<main><h1>{100 * share:.1f} % of the labels are right</h1><dl>{details}</dl>
<p class="note">Measured on random items that the model had never learnt from:
{measured["running"]} mixed into the labelling and answered without a prediction in sight,
{measured["fresh"]} after the model was frozen. The interval is Clopper and Pearson's.</p>
<h2>By class</h2><div class="wide"><table><tr><th>class<th>right<th>95 % interval</tr>{rows}</table>
</div><footer>gpgc {escape(found["gpgc"])}</footer></main></html>
"""
