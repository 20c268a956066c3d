"""The page destroys no answer, says nothing false, and keeps the audit blind."""

import json
import re
import signal
from urllib.request import Request, urlopen

import pytest

from tests.browser.conftest import (
    answer,
    item,
    press,
    shot,
    wait_for_labels,
    wait_for_model,
    wait_for_other_item,
)
from tests.browser.test_page import small

pytestmark = pytest.mark.browser
__all__ = ["small"]


def label_some(page, truth, n, start=0):
    for _ in range(n):
        answer(page, str(truth[item(page)] + 1))
    wait_for_labels(page, start + n)


def draw_around_all(page):
    """Draw a lasso along the edge of the map."""
    box = page.locator("canvas.points").bounding_box()
    left, top = box["x"] + 3, box["y"] + 30  # its corners are round
    right, bottom = left + box["width"] - 6, top + box["height"] - 50
    corners = [(left, bottom), (right, bottom), (right, top + 30), (left + 30, top - 20)]
    page.keyboard.down("Shift")
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in corners:
        page.mouse.move(x, y, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")


def wait_for_map(page):
    page.locator("canvas.points[data-points='150']").wait_for()


def test_many_items_get_one_label_by_one_key_and_one_undo(serve, open_page, small):
    arguments, truth = small
    server = serve(*arguments)
    page = open_page(server)
    label_some(page, truth, 12)
    before = server.lines()
    wait_for_map(page)
    draw_around_all(page)
    go = page.locator("#group")
    go.wait_for()
    n_open = int(re.search(r"Label (\d+) item", go.inner_text())[1])
    assert 100 < n_open < 138
    shot(page, "20-selected")
    page.keyboard.press("b")
    page.locator("dialog[open] .tile").first.wait_for()
    shot(page, "21-grid")
    tiles = page.locator(".tile")
    assert page.locator(".tile[aria-pressed='true']").count() == n_open
    assert page.locator(".tile[aria-pressed='false']").count() == 12  # what has an answer
    page.locator(".tile[aria-pressed='true']").first.click()
    page.locator("dialog h2", has_text=f"Label {n_open - 1} items").wait_for()
    assert tiles.count() == n_open + 12
    page.keyboard.press("2")
    wait_for_labels(page, 12 + n_open - 1)
    (line,) = server.lines()[len(before) :]
    assert line["do"] == "bulk"
    assert line["label"] == "b"
    assert len(line["ids"]) == n_open - 1
    assert not set(line["ids"]) & {each["id"] for each in before}
    page.locator(".history", has_text=f"{n_open - 1} items at once").wait_for()
    shot(page, "22-labelled-at-once")
    page.keyboard.press("Backspace")
    wait_for_labels(page, 12)
    assert page.problems == []


def test_an_answer_is_changed_by_name_alone(serve, open_page, small):
    arguments, truth = small
    server = serve(*arguments)
    page = open_page(server)
    label_some(page, truth, 5)
    before = {line["id"]: line["label"] for line in server.lines()}
    wait_for_map(page)
    draw_around_all(page)
    page.locator("#group").click()
    answered = page.locator(".tile[aria-pressed='false']").first
    answered.wait_for()
    text = answered.get_attribute("aria-label")
    answered.click()
    page.keyboard.press("3")
    page.locator(".history", has_text="items at once").wait_for()
    changed = {name for name in before if name in server.lines()[-1]["ids"]}
    assert len(changed) == 1
    assert text.startswith(changed.pop())


def test_a_finger_selects_without_a_shift_key(serve, open_page, small):
    arguments, truth = small
    page = open_page(serve(*arguments), has_touch=True)
    label_some(page, truth, 3)
    wait_for_map(page)
    page.locator("#lasso").tap()
    page.locator("#lasso[aria-pressed='true']").wait_for()
    box = page.locator("canvas.points").bounding_box()
    client = page.context.new_cdp_session(page)

    def touch(kind, x, y):
        points = [] if kind == "touchEnd" else [{"x": box["x"] + x, "y": box["y"] + y}]
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    width, height = box["width"] - 4, box["height"] - 30
    touch("touchStart", 4, 60)
    for x, y in ((4, height), (width, height), (width, 70), (30, 10), (8, 58)):
        touch("touchMove", x, y)
    touch("touchEnd", 0, 0)
    page.locator("#group").tap()
    page.locator("dialog[open] .class").first.tap()
    page.locator(".history", has_text="items at once").wait_for()


def test_what_the_model_thinks_of_an_open_item_is_in_no_answer(serve, open_page, small):
    arguments, truth = small
    server = serve(*arguments)
    page = open_page(server)
    label_some(page, truth, 10)
    wait_for_model(page, server)
    bodies = []
    page.on("response", lambda found: "/api/near/" in found.url and bodies.append(found))
    page.keyboard.press("p")
    page.locator("#prediction[aria-pressed='true']").wait_for()
    for step in range(10):
        page.locator(".note", has_text="once you answered").wait_for()
        assert page.locator(".class.likely").count() == 0
        assert not any("?" in text for text in page.locator(".near .mark").all_inner_texts())
        answer(page, str(truth[item(page)] + 1))
        wait_for_labels(page, 11 + step)
        page.locator(".thought", has_text="last: model").wait_for()
    shot(page, "23-blind")
    roles = [line["role"] for line in server.lines()]
    assert roles.count("audit") >= 4  # more while the model was built
    found = [json.loads(each.text()) for each in bodies]
    assert len(found) >= 10
    assert all(each["guess"] is None for each in found)
    assert all(near["guess"] is None for each in found for near in each["near"])
    page.keyboard.press("ArrowLeft")  # what is answered is shown with its prediction
    page.locator(".note", has_text="model:").wait_for()


def test_the_map_says_by_how_many_labels_it_is_behind(serve, open_page, small):
    page = open_page(serve(*small[0]))

    def late(route):
        answered = route.fetch()
        route.fulfill(response=answered, json=answered.json() | {"behind": 12})

    page.route("**/api/estimate*", late)
    for _ in range(5):  # of which some teach the model, so that there is an opinion
        answer(page, "1")
    page.locator(".map-behind", has_text="The map is 12 labels behind").wait_for()
    shot(page, "24-behind")
    page.unroute("**/api/estimate*")
    for _ in range(5):
        answer(page, "2")
    page.locator(".map-behind").wait_for(state="hidden")


def test_two_tabs_of_one_person_never_correct_each_other(serve, open_page, small):
    server = serve(*small[0])
    one = open_page(server)
    two = one.context.new_page()
    two.goto(server.url)
    two.locator(".item-box[data-item]").wait_for()
    first = item(one)
    assert item(two) == first
    answer(one, "1")
    wait_for_other_item(two, first)  # it goes on by itself
    two.locator(".class[data-name='a'] .count", has_text="1").wait_for()
    answer(two, "2")
    wait_for_labels(one, 2)
    one.locator(".class[data-name='b'] .count", has_text="1").wait_for()
    assert [line["do"] for line in server.lines()] == ["label", "label"]


def test_a_late_answer_is_said_on_the_page(serve, open_page, small):
    from gpgc.labelling.guard import session_id

    server = serve(*small[0])
    page = open_page(server)
    node = item(page)
    page.context.set_offline(True)
    press(page, "1")
    page.locator(".saved", has_text="1 not saved").wait_for()
    cookie = f"gpgc-{server.port}={session_id(server.token, server.port)}"
    body = json.dumps({"do": "label", "item": node, "label": "c", "by": "ben", "was": None})
    sent = Request(f"{server.base}/api/events", body.encode(), {"cookie": cookie})
    sent.add_header("content-type", "application/json")
    assert urlopen(sent).status == 200
    page.context.set_offline(False)
    page.locator(".banner", has_text="was labelled c by ben meanwhile").wait_for()
    shot(page, "25-late")
    wait_for_other_item(page, node)
    (line,) = server.lines()
    assert (line["label"], line["by"]) == ("c", "ben")


def test_a_server_of_another_token_says_to_open_the_new_address(serve, open_page, small):
    arguments, truth = small
    server = serve(*arguments)
    page = open_page(server)
    label_some(page, truth, 1)
    server.stop(signal.SIGKILL)
    page.locator(".banner", has_text="does not answer. All labels are saved").wait_for()
    shot(page, "26-killed")
    server.token = "another-token-for-tests-5678"
    server.start()
    page.locator(".banner", has_text="open the new address").wait_for()
    shot(page, "27-new-address")
    press(page, str(truth[item(page)] + 1))
    page.locator(".banner", has_text="1 label not saved").wait_for()
    assert len(server.lines()) == 1
    fresh = page.context.new_page()  # the same browser, at the new address: both tabs go on
    fresh.goto(server.url)
    wait_for_labels(page, 2)
    page.locator(".banner").wait_for(state="hidden")


def test_a_label_after_the_stop_is_not_said_to_be_saved(serve, open_page, small):
    server = serve(*small[0])
    page = open_page(server)
    answer(page, "1")
    wait_for_labels(page, 1)
    server.stop(signal.SIGINT)
    page.locator(".banner", has_text="Stopped; all labels saved").wait_for()
    press(page, "2")
    page.locator(".banner", has_text="1 label not saved yet").wait_for()
    page.locator(".saved", has_text="1 not saved").wait_for()
    server.start()
    wait_for_labels(page, 2)
    page.locator(".banner").wait_for(state="hidden")
    assert len(server.lines()) == 2


def test_a_key_of_the_page_that_a_class_takes_moves_and_is_in_the_help(serve, open_page, small):
    arguments = [*small[0][:2], "--classes", "spam=s,ham=h", "--by", "Anna Maria"]
    server = serve(*arguments)
    page = open_page(server)
    page.locator("h1", has_text="Anna Maria").wait_for()
    answer(page, "s")
    wait_for_labels(page, 1)
    answer(page, "Shift+S")
    page.locator(".history[data-count='2']").wait_for()
    assert [line["do"] for line in server.lines()] == ["label", "skip"]
    assert [line.get("label") for line in server.lines()] == ["spam", None]
    assert {line["by"] for line in server.lines()} == {"Anna Maria"}
    assert page.get_by_role("button", name="Skip", exact=True).get_attribute("title") == "Shift + S"
    page.keyboard.press("?")
    keys = page.locator("dialog kbd").all_inner_texts()
    assert "Shift + S" in keys
    assert "s" not in keys
    assert "u" in keys
