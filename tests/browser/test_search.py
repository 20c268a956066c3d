"""A list of items by class, state and words, and the same as the next queue."""

import re

import pytest

from tests.browser.conftest import answer, item, shot, wait_for_labels
from tests.browser.test_page import small

pytestmark = pytest.mark.browser
__all__ = ["small"]


def test_what_was_found_is_listed_and_asked_next(serve, open_page, small):
    arguments, truth = small
    server = serve(*arguments)
    page = open_page(server)
    for _ in range(12):
        answer(page, str(truth[item(page)] + 1))
    wait_for_labels(page, 12)
    waiting = item(page)
    page.keyboard.press("/")
    page.get_by_label("State").select_option("labelled")
    page.locator("#found", has_text="12 items").wait_for()
    page.get_by_label("Class", exact=True).select_option("a")
    given = [line["id"] for line in server.lines() if line.get("label") == "a"]
    page.locator("#found", has_text=re.compile(f"^{len(given)} items?$")).wait_for()
    assert set(page.locator(".found b").all_inner_texts()) == set(given)
    assert set(page.locator(".found .mark").all_inner_texts()) == {"a"}
    page.get_by_label("State").select_option("")
    page.get_by_label("Class", exact=True).select_option("")
    ten = 14 if waiting not in (14, 114, 140) else 13  # it is to wait until the list is left
    page.get_by_role("searchbox").fill(str(ten))
    named = [str(node) for node in (ten, 100 + ten, *range(10 * ten, 10 * ten + 10))]
    page.locator("#found", has_text="12 items").wait_for()
    shot(page, "85-search")
    assert page.locator(".found b").all_inner_texts() == named
    page.get_by_role("button", name="Ask these 12 next").click()
    for step, name in enumerate(named[:3]):
        page.locator(f".item-box[data-item='{name}']").wait_for()
        page.locator(".note", has_text=f"{11 - step} more of the list").wait_for()
        answer(page, str(truth[int(name)] + 1))
    page.locator(f".item-box[data-item='{named[3]}']").wait_for()
    page.keyboard.press("Escape")  # back to what is asked as usual
    page.locator(f".item-box[data-item='{waiting}']").wait_for()
    asked = [line for line in server.lines() if line["do"] in ("label", "correct")]
    assert [line["id"] for line in asked[12:]] == named[:3]
    assert page.problems == []


def test_all_classes_are_named_at_once_where_there_are_none(serve, open_page, small):
    server = serve(*small[0][:2])
    page = open_page(server)
    page.locator("dialog h2", has_text="Which classes are there?").wait_for()
    page.get_by_label("Names of the classes").fill("cat\n dog \n\ncat\nbird")
    shot(page, "86-first-classes")
    page.get_by_role("button", name="Begin").click()
    page.locator(".left .class").nth(2).wait_for()
    assert page.locator(".left .class-name").all_inner_texts() == ["cat", "dog", "bird"]
    answer(page, "2")
    wait_for_labels(page, 1)
    assert [line["label"] for line in server.lines()] == ["cat", "dog", "bird", "dog"]
    assert page.problems == []
