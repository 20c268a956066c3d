"""How good the labels of the rest are by now, in numbers for the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpgc.labelling.estimate import audited_accuracy
from gpgc.labelling.ledger import Ledger
from gpgc.labelling.opinion import SURE, Opinion
from gpgc.probability.fraction import LEAST


def report(ledger: Ledger, opinion: Opinion, index: Mapping[str, int]) -> dict[str, Any]:
    """Return the audited accuracy, and what else tells how far the labels reach.

    Parameters
    ----------
    ledger : Ledger
        What was answered.
    opinion : Opinion
        What the model makes of it.
    index : mapping of str to int
        The node of each id.
    """
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
    """Return for each class its labels, predicted fraction and audit hits.

    Parameters
    ----------
    classes : tuple of str
        All of them.
    labels, audit : mapping of id to class
        Labels that the model learnt from, and those of audit items.
    hits : mapping of id to bool
        Whether the model is right on each audit item.
    predicted : mapping of class to float
        Fraction of the rest that the model puts into each class.
    """
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
