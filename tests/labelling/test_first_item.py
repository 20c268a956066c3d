"""The first item is there at once: random items while the model is built."""

import threading
import time

import numpy as np
import pytest
from PIL import Image

from gpgc.labelling.items import THUMBNAIL, Picture, shrink
from gpgc.labelling.labelling import Labelling
from gpgc.labelling.ledger import Ledger, replay
from gpgc.labelling.session import Session
from tests.labelling.conftest import made_up


@pytest.fixture
def slow(tmp_path):
    """Return a session whose model is built when it is allowed, and the permission."""
    truth, X = made_up()
    allowed = threading.Event()

    def build(nodes):
        assert allowed.wait(300)
        return Labelling.on(X, nodes=nodes, refresh="manual")

    ids = [f"n{node}" for node in range(300)]
    session = Session(ids, build, tmp_path / "labels.jsonl", ["a", "b", "c"])
    session.truth = ["abc"[code] for code in truth]
    session.start()
    yield session, allowed
    allowed.set()
    session.close()


def answer(session, n):
    for _ in range(n):
        (node,) = session.next("anna", 1)
        event = {"do": "label", "item": node, "label": session.truth[node]}
        session.record(event, "anna")


def test_random_items_come_while_the_model_is_built_and_fewer_after(slow):
    session, allowed = slow
    answer(session, 8)
    assert {given.role for given in session.ledger.labels.values()} == {"audit"}
    assert session.ledger.learnt == {}
    allowed.set()
    assert session.live.settle()
    while not session.live.is_ready:
        assert session.live.settle()
    session.next("anna", 1)
    answer(session, 42)
    roles = [given.role for given in session.ledger.labels.values()]
    assert 9 <= roles.count("audit") <= 12


def test_a_small_image_is_made_of_a_large_one(tmp_path):
    Image.fromarray(np.zeros((400, 800, 3), dtype=np.uint8)).save(tmp_path / "large.png")
    content = (tmp_path / "large.png").read_bytes()
    small = shrink(Picture(content, "image/png"))
    (tmp_path / "small.png").write_bytes(small.content)
    assert Image.open(tmp_path / "small.png").size == (THUMBNAIL, THUMBNAIL // 2)
    broken = Picture(content[:100], "image/png")
    assert shrink(broken) == broken


def test_an_undo_is_linear_in_the_lines():
    lines = [
        {"event": str(n), "do": "label", "id": f"n{n}", "label": "a", "by": "anna"}
        for n in range(20_000)
    ]
    ledger = replay(Ledger(("a",)), lines)
    start = time.perf_counter()
    after = ledger.after({"event": "u", "do": "undo", "undone": "19999", "by": "anna"})
    print(f"undo after 20,000 decisions: {time.perf_counter() - start:.3f} s")
    assert len(after.labels) == 19_999
