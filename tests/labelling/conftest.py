"""Sessions on small graphs, with somebody who knows all answers."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

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


def open_made_up(journal, n_nodes=300, classes=("a", "b", "c"), settle=True, **more):
    """Return a desk on made-up data, with the answers that it should get."""
    truth, X = made_up(n_nodes)
    ids = [f"n{node}" for node in range(n_nodes)]
    source = Source("made up", ids, as_items(None, ids, X), X)
    desk = open_desk(source, journal, classes, **more)
    desk.truth = [("a", "b", "c")[code] for code in truth]
    if settle:
        assert desk.session.live.settle()
    return desk


@pytest.fixture
def open_session(tmp_path):
    """Return a function that opens a desk on made-up data, and closes it in the end."""
    desks = []

    def opened(n_nodes=300, classes=("a", "b", "c"), journal=None, **more):
        desks.append(open_made_up(journal or tmp_path / "labels.jsonl", n_nodes, classes, **more))
        return desks[-1]

    yield opened
    for desk in desks:
        desk.session.close()


@pytest.fixture
def open_labelled(open_session, tmp_path):
    """Return a function that opens a desk on made-up data with n right labels."""

    def opened(n):
        (tmp_path / "labels.jsonl").write_text(journal_of(n), encoding="utf-8")
        return open_session()

    return opened


@cache
def journal_of(n):
    """Return the journal of a desk on made-up data after n right labels."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "labels.jsonl"
        desk = open_made_up(path)
        work(desk, n)
        desk.session.close()
        return path.read_text(encoding="utf-8")


def work(desk, n, by="anna", ahead=1):
    """Give n right labels, one after the other."""
    for _ in range(n):
        node = desk.session.next(by, ahead)[0]
        desk.session.record({"do": "label", "item": node, "label": desk.truth[node]}, by)
        assert desk.session.live.settle()
