"""Sessions on small graphs, with somebody who knows all answers."""

import numpy as np
import pytest

from gpgc.labelling.items import as_items
from gpgc.labelling.label import open_desk
from gpgc.labelling.sources import Source


def made_up(n_nodes=300, n_classes=3, separation=1.0, seed=0):
    """Classes and features of made-up nodes, told apart more or less well."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_nodes)
    centers = rng.normal(size=(n_classes, 8)) * separation
    return truth, centers[truth] + rng.normal(size=(n_nodes, 8))


@pytest.fixture
def open_session(tmp_path):
    """Return a function that opens a desk on made-up data, and closes it in the end."""
    desks = []

    def opened(n_nodes=300, classes=("a", "b", "c"), journal=None, settle=True, **more):
        truth, X = made_up(n_nodes)
        ids = [f"n{node}" for node in range(n_nodes)]
        source = Source("made up", ids, as_items(None, ids, X), X)
        desk = open_desk(source, journal or tmp_path / "labels.jsonl", classes, **more)
        desk.truth = [("a", "b", "c")[code] for code in truth]
        desks.append(desk)
        if settle:
            assert desk.session.live.settle()
        return desk

    yield opened
    for desk in desks:
        desk.session.close()


def work(desk, n, by="anna", ahead=1):
    """Give n right labels, one after the other."""
    for _ in range(n):
        node = desk.session.next(by, ahead)[0]
        desk.session.record({"do": "label", "item": node, "label": desk.truth[node]}, by)
        assert desk.session.live.settle()
