"""The map: legend with counts, filters, hover, reset, large, pinch, spread out."""

import io
import time

import numpy as np
import pytest
from PIL import Image

from tests.browser.conftest import answer, item, shot, wait_for_labels, wait_for_model
from tests.browser.test_page import small

pytestmark = pytest.mark.browser
__all__ = ["small"]


def rested(page):
    """Return a picture of the map once the points do not move any more."""
    before, now = None, page.locator("canvas.points").screenshot()
    deadline = time.monotonic() + 120
    while now != before:
        assert time.monotonic() < deadline, "the map did not come to rest"
        page.wait_for_timeout(400)
        before, now = now, page.locator("canvas.points").screenshot()
    return now


def coloured(page):
    """Return how many points of the map are in strong colours, once they are at rest."""
    pixels = np.asarray(Image.open(io.BytesIO(rested(page))).convert("RGB")).astype(int)
    return int((pixels.max(axis=2) - pixels.min(axis=2) > 90).sum())


def test_the_legend_counts_and_filters_and_hover_shows_what_is_there(serve, open_page, small):
    arguments, truth = small
    server = serve(*arguments)
    page = open_page(server)
    for _ in range(15):
        answer(page, str(truth[item(page)] + 1))
    wait_for_labels(page, 15)
    wait_for_model(page, server)
    page.locator("canvas.points[data-points='150']").wait_for()
    entry = page.locator(".legend-entry")
    entry.nth(4).wait_for()
    assert entry.locator(".class-name").all_inner_texts() == [
        "a",
        "b",
        "c",
        "unlabelled",
        "in doubt",
    ]
    page.locator("[data-filter='unlabelled'] .count", has_text="135").wait_for()
    before = coloured(page)
    page.locator("[data-filter='a']").click()
    page.locator("[data-filter='a'][aria-pressed='true']").wait_for()
    assert coloured(page) < 0.7 * before
    shot(page, "70-filtered")
    page.locator("#reset").click()
    page.locator("[data-filter='a'][aria-pressed='false']").wait_for()
    assert coloured(page) > 0.8 * before

    box = page.locator("canvas.points").bounding_box()
    half = 0.86 * min(box["width"], box["height"]) / 2
    tip = page.locator(".map-tip:not([hidden])")
    deadline = time.monotonic() + 120
    while not tip.count():  # points move until the last layout is there
        assert time.monotonic() < deadline, "no tip came"
        page.mouse.move(5, 5)
        sent = page.request.get(f"{server.base}/api/layout").body()
        x, y = 2 * np.frombuffer(sent, dtype=np.uint16).reshape(-1, 2)[7] / 65535 - 1
        left = box["width"] / 2 + (x - 0.12) * half
        top = box["height"] / 2 - (y + 0.07) * half
        page.mouse.move(box["x"] + left, box["y"] + top)
        page.wait_for_timeout(1000)
    shot(page, "71-hover")
    page.mouse.move(5, 5)
    page.locator(".map-tip[hidden]").wait_for(state="attached")

    page.locator("#large").click()
    assert page.locator("canvas.points").bounding_box()["width"] > 1100
    rested(page)
    shot(page, "72-large")
    page.keyboard.press("Escape")
    assert page.locator("canvas.points").bounding_box()["width"] < 600
    assert page.problems == []


def test_two_fingers_zoom(serve, open_page, small):
    page = open_page(serve(*small[0]), has_touch=True, viewport={"width": 390, "height": 844})
    page.locator("canvas.points[data-points='150']").wait_for()
    page.locator("canvas.points").scroll_into_view_if_needed()
    box = page.locator("canvas.points").bounding_box()
    client = page.context.new_cdp_session(page)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = rested(page)

    def touch(kind, apart):
        points = [{"x": x - apart, "y": y}, {"x": x + apart, "y": y}] if apart else []
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 20)
    for apart in (40, 60, 80, 100):
        touch("touchMove", apart)
    touch("touchEnd", 0)
    assert rested(page) != before
    shot(page, "73-pinched")
    assert page.problems == []
