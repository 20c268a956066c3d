"""A group that the model is sure of is confirmed by one key."""

import re

import pytest
from sklearn.datasets import load_digits

from tests.browser.conftest import answer, item, shot, wait_for_labels, wait_for_model

pytestmark = pytest.mark.browser


def test_enter_confirms_a_group_and_shows_the_next_one(serve, open_page):
    server = serve("digits")
    page, truth = open_page(server), load_digits().target
    page.keyboard.press("c")
    page.locator("dialog", has_text="sure of no further item").wait_for()
    shot(page, "30-no-group")
    page.keyboard.press("Escape")
    for _ in range(40):
        answer(page, str(truth[item(page)]))
    wait_for_labels(page, 40)
    wait_for_model(page, server)
    page.get_by_role("button", name="Groups", exact=True).click()
    tiles = page.locator("dialog[open] .tile")
    tiles.nth(23).wait_for()
    assert tiles.count() == 24
    label = re.fullmatch(r"All (\d)\?", page.locator("dialog h2").inner_text())[1]
    shot(page, "31-confirm")
    page.keyboard.press("3")  # rejects a tile, where it is no class
    tiles.nth(5).click()
    assert page.locator(".tile[aria-pressed='false']").count() == 2
    page.keyboard.press("3")
    assert page.locator(".tile[aria-pressed='false']").count() == 1
    page.locator("#accept:not([aria-disabled])", has_text="23 items").wait_for()
    shot(page, "32-rejected")
    before = [each.get_attribute("aria-label") for each in tiles.all()]
    page.keyboard.press("Enter")
    wait_for_labels(page, 63)
    line = server.lines()[-1]
    assert (line["do"], line["label"], len(line["ids"])) == ("confirm", label, 23)
    assert line["declined"] == [before[5]]
    page.locator("dialog[open] #accept").wait_for()
    after = [each.get_attribute("aria-label") for each in tiles.all()]
    assert not set(after) & set(before)
    page.keyboard.press("Escape")
    page.locator("dialog[open]").wait_for(state="detached")
    page.locator(".history", has_text="23 items at once").wait_for()
    page.keyboard.press("Backspace")
    wait_for_labels(page, 40)
    assert page.problems == []


def test_nothing_is_confirmed_before_its_picture_is_there(serve, open_page):
    server = serve("digits")
    page, truth = open_page(server), load_digits().target
    for _ in range(30):
        answer(page, str(truth[item(page)]))
    wait_for_labels(page, 30)
    wait_for_model(page, server)
    held, late = [], True
    page.route("**/thumbnail", lambda route: held.append(route) if late else route.continue_())
    page.keyboard.press("c")
    page.locator("dialog[open] .tile").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_timeout(500)
    assert server.lines()[-1]["do"] == "label"
    late = False
    for route in held:
        route.continue_()
    page.locator("#accept:not([aria-disabled])").wait_for()
    page.keyboard.press("Enter")
    page.locator(".history", has_text="items at once").wait_for()
    assert server.lines()[-1]["do"] == "confirm"
    assert page.problems == []


def test_a_group_of_which_nothing_is_right_is_rejected_by_a_finger(serve, open_page):
    server = serve("digits")
    page = open_page(server, has_touch=True, viewport={"width": 390, "height": 844})
    truth = load_digits().target
    for _ in range(30):
        answer(page, str(truth[item(page)]))
    wait_for_labels(page, 30)
    wait_for_model(page, server)
    page.get_by_role("button", name="Groups", exact=True).tap()
    page.locator("dialog[open] .tile").first.wait_for()
    shot(page, "33-confirm-phone")
    for tile in page.locator(".tile").all():
        tile.tap()
    page.locator("#accept:not([aria-disabled])", has_text="None of them").tap()
    page.locator(".tile[aria-pressed='true']").first.wait_for()
    assert server.lines()[-1]["do"] == "confirm"
    assert server.lines()[-1]["ids"] == []
    wait_for_labels(page, 30)
    assert page.problems == []
