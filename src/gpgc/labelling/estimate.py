"""How good the labels of the rest are, how far a goal is, how people agree: by random items.

Labels that were chosen because they help most are the hard ones: leave-one-out on them
underestimates the accuracy. The audit items are drawn at random and kept out of the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import median
from typing import Any

import numpy as np
from scipy.special import betaincinv

from gpgc.labelling.ledger import Goal, Ledger
from gpgc.labelling.opinion import SURE, Opinion
from gpgc.probability.fraction import LEAST, Interval, exact_interval

WEIGHT = 10.0
"""Pseudo-counts that the model's own opinion is worth."""

OFTEN, SELDOM, MANY = 5, 10, 30
"""One audit item among so many, until there are many, and from then on."""


def audited_accuracy(hits: int, audited: int, belief: float) -> Interval | None:
    r"""Return the accuracy on the rest from audit items and the model's own opinion.

    .. math:: \mathrm{Beta}(h + w b + \tfrac12,\; m - h + w (1 - b) + \tfrac12)

    with h hits of m audit items, belief b and weight w = 10.
    """
    if audited < LEAST:
        return None
    right = hits + WEIGHT * belief + 0.5
    wrong = audited - hits + WEIGHT * (1 - belief) + 0.5
    low, high = betaincinv(right, wrong, [0.025, 0.975])
    return Interval(right / (right + wrong), float(low), float(high))


def is_audit(position: int, seed: int, every: int | None = None) -> bool:
    """Return whether the item at a position of the session is an audit item."""
    turn = OFTEN * MANY
    every = every or (OFTEN if position < turn else SELDOM)
    block, place = divmod(position, every)
    return int(np.random.default_rng([seed, every, block]).integers(every)) == place


def report(ledger: Ledger, opinion: Opinion, index: Mapping[str, int]) -> dict[str, Any]:
    """Return the audited accuracy, and what else tells how far the labels reach."""
    audit = audited(ledger)
    believed = {name: opinion.of(index[name]) for name in audit}
    hits = {name: bool(said and said[0] == audit[name]) for name, said in believed.items()}
    largest = opinion.rest(index[name] for name in ledger.labels)
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
        "behind": max(0, len(ledger.learnt) - opinion.n_pictured),
        "changed": opinion.n_changed,
        "per_class": per_class(ledger.classes, ledger.learnt, audit, hits, predicted),
    }


def audited(ledger: Ledger) -> dict[str, str]:
    """Return the answers to audit items by id: the blind ones, once there are enough of them."""
    answers = ledger.with_role("audit")
    blind = {name: label for name, label in answers.items() if ledger.labels[name].is_blind}
    return blind if len(blind) >= LEAST else answers


def per_class(
    classes: tuple[str, ...],
    labels: Mapping[str, str],
    audit: Mapping[str, str],
    hits: Mapping[str, bool],
    predicted: Mapping[str, float],
) -> list[dict[str, Any]]:
    """Return for each class its labels, predicted fraction and audit hits."""
    return [
        {
            "name": name,
            "labels": sum(label == name for label in labels.values()),
            "predicted": predicted.get(name, 0.0),
            "audited": sum(label == name for label in audit.values()),
            "hits": sum(hits.get(node, False) for node, label in audit.items() if label == name),
        }
        for name in classes
    ]


def people(ledger: Ledger) -> dict[str, Any] | None:
    """Return how often two people gave the same answer, and how often the model thought it before.

    Items that two people saw were drawn at random, and neither knew the other's answer: ``both``
    of them, ``same`` with the same label, and the exact 95 % interval. Of all other answers the
    model's opinion before each stands in: ``model`` counts those it agreed with, and those it had
    one on. It is lower where items were chosen because they are hard. None while one person labels.
    """
    counts = Counter(given.by for given in ledger.labels.values() if given.role != "imported")
    asked_twice = [both for both in ledger.seconds.values() if both[1].label]
    counts.update(second.by for _, second in asked_twice)
    if len(counts) < 2:
        return None
    agreed: Counter[str] = Counter()
    opined: Counter[str] = Counter()
    for record in ledger.records:
        given = ledger.labels.get(record.get("id", ""))
        if given is not None and given.event == record["event"] and "believed" in record:
            opined[given.by] += 1
            agreed[given.by] += record["believed"][0] == given.label
    same = sum(first.label == second.label for first, second in asked_twice)
    interval = exact_interval(same, len(asked_twice)).as_dict() if asked_twice else {}
    rows = [
        {"name": name, "labels": n, "model": [agreed[name], opined[name]]}
        for name, n in counts.most_common()
    ]
    return {"both": len(asked_twice), "same": same, **interval, "rows": rows}


MOST = 10_000
"""Items beyond which a forecast says no number."""

RECENT = 50
"""Last decisions whose seconds are the pace."""

LEAST_POINTS, LEAST_GROWTH = 6, 1.5
"""Estimates, and growth of the labels between the first and the last, that a forecast needs."""

FOR_PROOF = 2
"""One audit item among so many, once the model is accurate enough and only the proof is missing."""


@lru_cache(maxsize=32)
def audits_needed(goal: Goal) -> int:
    """Return how many random items tell an accuracy within so much to both sides."""

    def is_enough(n: int) -> bool:
        found = exact_interval(round(n * goal.accuracy), n)
        return (found.high - found.low) / 2 <= goal.within

    high = 8
    while not is_enough(high):
        high *= 2
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def labels_needed(points: Sequence[tuple[int, float]], accuracy: float) -> int | None:
    """Return how many labels an accuracy is expected to take, by the estimates so far.

    Examples
    --------
    >>> labels_needed([(n, 1 - 2 / n) for n in range(10, 40)], 0.98)
    100
    >>> labels_needed([(n, 0.8) for n in range(10, 40)], 0.98) is None
    True
    """
    known = np.array([(n, a) for n, a in points if n > 0], dtype=np.float64).reshape(-1, 2)
    if len(known) < LEAST_POINTS or known[-1, 0] < LEAST_GROWTH * known[0, 0]:
        return None
    n_labels, error = np.log(known[:, 0]), np.log(np.maximum(1 - known[:, 1], 1e-3))
    falling, level = np.polyfit(n_labels, error, 1)
    if falling > -0.05:
        return None
    wanted = (np.log(max(1 - accuracy, 1e-3)) - level) / falling
    return int(np.ceil(round(float(np.exp(min(wanted, 20.0))), 6)))


def pace(ledger: Ledger) -> float | None:
    """Return the median of the seconds that the last decisions took; None without any."""
    seconds = [each["seconds"] for each in ledger.records[-4 * RECENT :] if "seconds" in each]
    return float(median(seconds[-RECENT:])) if seconds else None


def is_accurate(goal: Goal | None, interval: Mapping[str, float] | None) -> bool:
    """Return whether the estimate is where the goal is, however wide its interval."""
    return goal is not None and interval is not None and interval["mean"] >= goal.accuracy


def forecast(
    ledger: Ledger, interval: Mapping[str, float] | None, curve: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Return what is left to the goal of a session, in items and minutes; None without a goal."""
    goal = ledger.goal
    if goal is None:
        return None
    done = sum(
        given.role in ("audit", "closing") and given.is_blind for given in ledger.labels.values()
    )
    audits = max(0, audits_needed(goal) - done)
    labels: int | None = 0
    if not is_accurate(goal, interval):
        points = [(p["labels"], p["interval"]["mean"]) for p in curve if p["interval"]]
        wanted = labels_needed(points, goal.accuracy)
        labels = None if wanted is None else max(1, wanted - len(ledger.labels))
    items = None if labels is None or labels > MOST else labels + audits
    seconds = pace(ledger)
    return {
        "accuracy": goal.accuracy,
        "within": goal.within,
        "audits": [done, done + audits],
        "labels": labels,
        "is_far": labels is not None and labels > MOST,
        "items": items,
        "minutes": None if items is None or seconds is None else items * seconds / 60,
        "is_reached": labels == 0 and audits == 0,
    }
