"""Guesses of another source are accepted by Enter, and the source is measured."""

import pytest
from sklearn.datasets import load_digits

from tests.browser.conftest import OPEN, item, shot, wait_for_labels, wait_for_other_item

pytestmark = pytest.mark.browser
DIGITS = load_digits().target


def test_enter_accepts_a_suggestion_and_the_source_is_measured(serve, open_page, tmp_path):
    rows = [f"{n},{(c + (n % 4 == 0)) % 10},0.8" for n, c in enumerate(DIGITS)]
    (tmp_path / "oracle.csv").write_text("\n".join(["id,label,score", *rows]))
    server = serve("digits", "--suggestions", tmp_path / "oracle.csv")
    page = open_page(server)
    page.locator(".suggestion").wait_for()
    accepted = 0
    for step in range(30):
        before = item(page)
        page.wait_for_function(OPEN)
        button = page.locator("#suggestion")
        truth = str(DIGITS[before])
        if button.count() and button.inner_text().split()[-1] == truth:
            if step < 6:
                shot(page, "45-suggestion")
            page.keyboard.press("Enter")
            accepted += 1
        else:
            page.keyboard.press(truth)
        wait_for_other_item(page, before)
    wait_for_labels(page, 30)
    assert accepted > 10
    lines = [line for line in server.lines() if line["do"] == "label"]
    assert all(line["label"] == str(DIGITS[int(line["id"])]) for line in lines)
    assert not [line for line in lines if line["role"] == "audit" and "proposed" in line]
    page.locator("#source", has_text="oracle is right on").wait_for()
    shot(page, "46-source")
    assert page.problems == []
