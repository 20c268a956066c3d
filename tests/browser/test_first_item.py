"""The first item is on the screen while the model is still built."""

import time

import numpy as np
import pytest

from tests.browser.conftest import answer, item, shot, wait_for_labels

pytestmark = pytest.mark.browser


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
    server = serve("--texts", tmp_path / "texts.csv", "--classes", "a,b,c,d,e,f,g,h")
    start = time.monotonic()
    page = open_page(server)
    taken = time.monotonic() - start
    print(f"first item of 3,000 texts on the screen: {taken:.2f} s after the address was opened")
    assert page.locator(".progress").is_visible()
    shot(page, "60-building")
    answer(page, str(truth[item(page)] + 1))
    wait_for_labels(page, 1)
    assert server.lines()[0]["role"] == "audit"
    page.locator(".progress").wait_for(state="hidden", timeout=120_000)
    for _ in range(12):
        answer(page, str(truth[item(page)] + 1))
    wait_for_labels(page, 13)
    roles = [line["role"] for line in server.lines()]
    assert "suggested" in roles
    assert page.problems == []
