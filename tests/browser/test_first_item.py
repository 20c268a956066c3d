"""The first item is on the screen while the model is still built."""

import time

import numpy as np
import pytest

from tests.browser.conftest import answer, item, shot, wait_for_labels

pytestmark = pytest.mark.browser

PATIENT = """
import sys, threading, time
from pathlib import Path
from gpgc.cli import main
from gpgc.labelling.session import Session

start = Session.start

def wait_and_start(self):
    def begin():
        while not Path({!r}).exists():
            time.sleep(0.01)
        start(self)
    threading.Thread(target=begin, daemon=True).start()

Session.start = wait_and_start
main()
"""
"""A program whose model is not built before there is a file of this name."""


def test_an_item_can_be_answered_before_the_model_is_there(serve, open_page, tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(8, size=3000)
    own = [[f"word{c}x{n}" for n in range(40)] for c in range(8)]
    usual = [f"usual{n}" for n in range(400)]
    rows = ["id,text"]
    for node, code in enumerate(truth):
        words = [*rng.choice(own[code], 6), *rng.choice(usual, 30)]
        rows.append(f"t{node},{' '.join(words)}")
    (tmp_path / "texts.csv").write_text("\n".join(rows))
    program = ("-c", PATIENT.format(str(tmp_path / "go")))
    server = serve(
        "--texts", tmp_path / "texts.csv", "--classes", "a,b,c,d,e,f,g,h", program=program
    )  # fmt: skip
    start = time.monotonic()
    page = open_page(server, wait=False)
    page.locator(".item-box[data-item]").wait_for()
    taken = time.monotonic() - start
    print(f"first item of 3,000 texts on the screen: {taken:.2f} s after the address was opened")
    page.locator(".progress progress").wait_for()
    shot(page, "60-building")
    answer(page, str(truth[item(page)] + 1))
    wait_for_labels(page, 1)
    assert server.lines()[0]["role"] == "audit"
    (tmp_path / "go").touch()
    page.locator(".progress").wait_for(state="hidden")
    for _ in range(12):
        answer(page, str(truth[item(page)] + 1))
    wait_for_labels(page, 13)
    roles = [line["role"] for line in server.lines()]
    assert "suggested" in roles
    assert page.problems == []
