"""Every state of the page, at four sizes, light and dark: nothing is cut off or covered."""

import csv
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from tests.browser.conftest import answer, item, press, shot, wait_for_labels

pytestmark = pytest.mark.browser
SIZES = [(1280, 800), (800, 800), (390, 844), (2560, 1440)]
SCHEMES = ["light", "dark"]

PAINTED = (
    """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"""
)

CROSSING = """() => {
  // words that are wider than the screen, and parts of the page that lie over one another
  const wide = document.documentElement.scrollWidth - innerWidth;
  const parts = [...document.querySelectorAll(
    'header, .item, .classes, .actions, .near, .map, .estimate, .history'
  )].filter((e) => e.offsetParent && !e.closest('dialog'));
  const boxes = parts.map((e) => [e.className || e.tagName, e.getBoundingClientRect()]);
  const over = [];
  boxes.forEach(([one, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
    const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (x > 1 && y > 1) over.push([one, other]);
  }));
  const outside = [...document.querySelectorAll('button, .big, h1, h2')].filter((e) => {
    const box = e.getBoundingClientRect();
    return e.offsetParent && box.width && (box.left < 0 || box.right > innerWidth + 1);
  }).map((e) => e.textContent);
  return { wide, over, outside };
}"""


def write_kinds(folder):
    """Files to label of each kind, and the command's arguments for them."""
    from PIL import Image

    digits, rng = load_digits(), np.random.default_rng(0)
    (folder / "images").mkdir()
    for n in range(60):
        pixels = (255 - 15.9375 * digits.images[n]).astype(np.uint8)
        picture = Image.fromarray(pixels).resize((240, 240), Image.Resampling.BICUBIC)
        picture.save(folder / "images" / f"{digits.target[n]}-{n:02d}.png")
    (folder / "images" / "broken.png").write_text("no image")
    words = ("goal match team player season", "bank market shares profit", "film actor scene story")
    with (folder / "texts.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "text"])
        for n in range(60):
            said = " ".join(rng.choice(words[n % 3].split(), 3 + 12 * (n % 5)))
            table.writerow([f"message {n}", f"{said.capitalize()}."])
    with (folder / "table.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "kind", "length of the upper leaf", "width", "height", "weight"])
        for n in range(60):
            numbers = [round(float(x), 2) for x in rng.normal(n % 3, 0.4, size=4)]
            table.writerow([f"plant {n}", "abc"[n % 3], *numbers])
    with (folder / "links.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["source", "target"])
        table.writerows(
            [f"person {n}", f"person {(n + 3 * k) % 60}"] for n in range(60) for k in (1, 2)
        )
    return {
        "image": ["--images", folder / "images"],
        "text": ["--texts", folder / "texts.csv"],
        "table": ["--features", folder / "table.csv"],
        "node": ["--edges", folder / "links.csv"],
    }


class Look:
    """Checks each state of a page at every size; keeps pictures, where wanted, in both colours."""

    def __init__(self, page):
        self.page, self.found = page, {}

    def __call__(self, state):
        wanted = SCHEMES if os.environ.get("GPGC_SCREENSHOTS") else SCHEMES[:1]
        for width, height in SIZES:
            self.page.set_viewport_size({"width": width, "height": height})
            for scheme in wanted:
                self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                self.page.evaluate(PAINTED)
                shot(self.page, f"{state}-{scheme}-{width}")
            crossing = self.page.evaluate(CROSSING)
            if crossing["wide"] > 0 or crossing["over"] or crossing["outside"]:
                self.found[f"{state}-{width}"] = crossing
        self.page.set_viewport_size({"width": 1280, "height": 800})
        self.page.evaluate(PAINTED)


def test_states_of_a_session(serve, open_page):
    server = serve("digits", "--goal", "90+-5")
    digits = load_digits().target
    page = open_page(server)
    look = Look(page)
    page.locator("canvas.points[data-points]").wait_for()
    look("a-first")
    for _ in range(8):
        answer(page, str(digits[item(page)]))
    look("b-too-early")
    for _ in range(32):
        answer(page, str(digits[item(page)]))
    wait_for_labels(page, 40)
    page.locator(".figure .big", has_text="of the rest right").wait_for()
    page.locator(".per-class summary").click()
    look("c-estimate")
    answer(page, str(digits[item(page)]))
    wait_for_labels(page, 41)
    page.locator(".history[data-count='41']").wait_for()
    assert page.locator(".per-class details[open]").count() == 1  # news do not fold it
    page.keyboard.press("p")
    look("d-prediction")
    page.keyboard.press("p")
    for key, state in (("n", "new-class"), ("?", "help"), ("/", "search"), ("Shift+F", "finish")):
        page.keyboard.press(key)
        page.locator("dialog[open]").wait_for()
        if state == "search":
            page.get_by_role("searchbox").fill("17")
            page.locator(".found button").nth(3).wait_for()
        look(f"e-{state}")
        page.keyboard.press("Escape")
        page.locator("dialog[open]").wait_for(state="hidden")
    page.get_by_role("button", name="Export").click()
    look("e-export")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowLeft")
    page.locator(".gpgc.visiting").wait_for()
    look("f-correct")
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+F")
    page.get_by_role("spinbutton").fill("3")
    page.keyboard.press("Enter")
    page.locator(".figure", has_text="of 3 audited").wait_for()
    look("g-audit")
    for step in range(3):
        press(page, str(digits[item(page)]))
        wait_for_labels(page, 42 + step)
    page.locator(".figure", has_text="Measured").wait_for()
    look("h-certificate")
    server.stop(signal.SIGINT)
    page.locator(".banner", has_text="Stopped").wait_for()
    look("i-stopped")
    assert look.found == {}


def test_items_of_every_kind(serve, open_page, tmp_path):
    found = {}
    for kind, arguments in write_kinds(tmp_path).items():
        folder = tmp_path / kind
        folder.mkdir()
        classes = "first,second,one with quite a long name that does not fit"
        server = serve(*arguments, "--classes", classes, folder=folder)
        page = open_page(server)
        look = Look(page)
        for step in range(5):
            answer(page, str(1 + step % 3))
        wait_for_labels(page, 5)
        look(f"j-{kind}")
        if kind == "image":
            page.keyboard.press("/")
            page.get_by_role("searchbox").fill("broken")
            page.locator(".found button").first.click()
            page.locator(".problem", has_text="still be labelled").wait_for()
            look("k-broken-image")
        found |= look.found
        server.stop()
    assert found == {}
    assert Path(tmp_path / "image" / "labels.jsonl").is_file()


def test_item_and_classes_are_in_sight_and_fingers_have_room(serve, open_page):
    server = serve("digits")
    screen = open_page(server, viewport={"width": 1280, "height": 800})
    for part in (".item-box", ".class:nth-of-type(10)", ".actions", ".map"):
        box = screen.locator(part).bounding_box()
        assert box["y"] + box["height"] <= 800, part
    phone = {"width": 390, "height": 844}
    page = open_page(server, has_touch=True, is_mobile=True, viewport=phone)
    answer(page, "1")
    wait_for_labels(page, 1)
    last = page.locator(".class").last.bounding_box()
    assert last["y"] + last["height"] <= 844
    small = page.locator("button, summary").evaluate_all(
        """all => all.filter((one) => one.offsetParent && one.getBoundingClientRect().height < 43.5)
            .map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert small == []
    assert page.problems == []
