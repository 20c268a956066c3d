"""Labels that look wrong, and skipped items, are looked at again by one key each."""

import re

import pytest
from sklearn.datasets import load_digits

from tests.browser.conftest import answer, item, shot, wait_for_labels

pytestmark = pytest.mark.browser
DIGITS = load_digits().target


def test_a_wrong_label_is_changed_by_one_key_and_the_queue_ends(serve, open_page):
    server = serve("digits")
    page = open_page(server)
    page.locator("#review").click()
    page.locator("dialog", has_text="Nothing to review").wait_for()
    page.keyboard.press("Escape")
    for step in range(60):
        wrong = step in (30, 34, 38, 41, 44, 47)
        answer(page, str((DIGITS[item(page)] + 3 * wrong) % 10))
    answer(page, "u")
    wait_for_labels(page, 60)
    page.locator("#review", has_text="Review").click()
    page.locator("dialog[data-kind='review']").wait_for()
    page.locator("#review", has_text=re.compile("Review [2-9]")).wait_for()  # they were checked
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    page.locator("dialog[open] #change").wait_for()
    assert "of your 60 labels may be wrong" in page.locator("#review-count").inner_text()
    shot(page, "40-review")
    first = page.locator("dialog .review-item img").get_attribute("alt")
    page.keyboard.press("Space")
    page.locator(f"dialog .review-item img:not([alt='{first}'])").wait_for()
    line = server.lines()[-1]
    assert (line["do"], line["reviewed"]) == ("correct", True)
    assert line["label"] == str(DIGITS[int(line["id"])])
    # How many more are suspected depends on when the model was last fitted; that kept ones are not
    # asked again is held in tests/labelling/test_review.py.
    while page.locator("dialog[open] #change").count():
        before = page.locator("dialog .review-item img").get_attribute("alt")
        page.keyboard.press("Enter")
        page.locator(f"dialog .review-item img:not([alt='{before}'])").or_(
            page.locator("dialog", has_text="Nothing to review")
        ).wait_for()
    page.locator("dialog", has_text="Somebody was unsure").wait_for()
    shot(page, "41-review-unsure")
    page.keyboard.press(str(DIGITS[int(server.lines()[-1]["id"])]))
    wait_for_labels(page, 61)
    page.locator("dialog", has_text="Nothing to review").wait_for()
    page.keyboard.press("Escape")
    page.locator("#review").click()
    page.locator("dialog", has_text="Nothing to review").wait_for()
    shot(page, "42-review-nothing")
    assert page.problems == []
