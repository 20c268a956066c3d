"""The page in a real browser."""

import csv
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from tests.browser.conftest import (
    OPEN,
    TOKEN,
    answer,
    item,
    press,
    shot,
    wait_for_labels,
    wait_for_other_item,
    wait_until_saved,
)

pytestmark = pytest.mark.browser
DIGITS = load_digits().target


def labels(page):
    return int(page.locator("#labels").inner_text().split()[0].replace(",", ""))


@pytest.fixture
def small(tmp_path):
    """Files of a small graph that starts quickly: features, classes and the truth."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=150)
    np.save(tmp_path / "x.npy", rng.normal(size=(3, 5))[truth] * 2 + rng.normal(size=(150, 5)))
    return ["--features", tmp_path / "x.npy", "--classes", "a,b,c"], truth


def test_sixty_digits_by_keys_alone(serve, open_page, tmp_path):
    server = serve("digits")
    page = open_page(server)
    shot(page, "1-start")
    for step in range(60):
        answer(page, str(DIGITS[item(page)]))
        if step == 8:
            shot(page, "2-nine-labels")
    wait_for_labels(page, 60)
    page.locator(".history[data-count='60']").wait_for()
    page.locator(".figure .big", has_text="of the rest right").wait_for()
    shot(page, "3-sixty-labels")
    lines = server.lines()
    assert [line["do"] for line in lines] == ["label"] * 60
    assert sum(line["role"] == "audit" for line in lines) in (12, 13)
    page.keyboard.press("p")
    page.locator("#prediction[aria-pressed='true']").wait_for()
    shot(page, "4-prediction")
    files = {}
    for name in ("labels.csv", "predictions.csv"):
        page.get_by_role("button", name="Export").click()
        shot(page, "5-export")
        with page.expect_download() as download:
            page.get_by_role("link", name=name).click()
        files[name] = tmp_path / name
        download.value.save_as(files[name])
        page.keyboard.press("Escape")
    rows = list(csv.DictReader(files["predictions.csv"].open()))
    right = np.mean([row["label"] == str(DIGITS[int(row["id"])]) for row in rows])
    print(f"exported predictions of digits after 60 answers: {100 * right:.2f} % right")
    assert right >= 0.95
    np.save(tmp_path / "digits.npy", load_digits().data / 16)
    subprocess.run(
        [sys.executable, "-m", "gpgc", "classify", "--features", tmp_path / "digits.npy",
         "--labels", files["labels.csv"], "--out", tmp_path / "again.csv", "--quiet"],
        check=True,
    )  # fmt: skip
    assert files["predictions.csv"].read_bytes() == (tmp_path / "again.csv").read_bytes()
    before = item(page)
    page.reload()
    page.locator(".item-box[data-item]").wait_for()
    assert item(page) == before
    assert labels(page) == 60
    assert page.problems == []
    assert page.strangers == []


def test_undo_redo_correct_skip_and_search(serve, open_page, small):
    arguments, truth = small
    server = serve(*arguments)
    page = open_page(server)
    seen = []
    for _ in range(8):
        seen.append(item(page))
        answer(page, str(truth[item(page)] + 1))
    wait_for_labels(page, 8)
    for step in range(5):
        page.keyboard.press("Backspace" if step % 2 else "Control+z")
        wait_for_labels(page, 7 - step)
    page.locator(f".item-box[data-item='{seen[3]}']").wait_for()
    for step in range(2):
        page.keyboard.press("Control+y")
        wait_for_labels(page, 4 + step)
    page.locator(f".item-box[data-item='{seen[5]}']").wait_for()
    page.locator(".history[data-count='5']").wait_for()
    page.keyboard.press("ArrowLeft")
    page.locator(f".item-box[data-item='{seen[4]}']").wait_for()
    shot(page, "6-correcting")
    press(page, "3")
    page.locator(f".item-box[data-item='{seen[5]}']").wait_for()
    wait_for_labels(page, 5)
    answer(page, "u")
    wait_until_saved(page)
    other = "149" if item(page) != 149 else "148"
    page.keyboard.press("/")
    page.get_by_role("searchbox").fill(other)
    page.locator(".found button", has_text=other).click()
    page.locator(f".item-box[data-item='{other}']").wait_for()
    page.keyboard.press("Escape")
    wait_for_other_item(page, other)
    done = [line["do"] for line in server.lines()]
    assert done == ["label"] * 8 + ["undo"] * 7 + ["correct", "skip"]
    last = server.lines()[-2:]
    assert last[0]["id"] == str(seen[4])
    assert last[0]["label"] == "c"
    assert last[1]["note"] == "unsure"
    assert page.problems == []


def test_a_held_key_or_one_that_comes_at_once_is_ignored(serve, open_page, small):
    server = serve(*small[0])
    page = open_page(server)
    page.wait_for_function(OPEN)
    for _ in range(6):
        page.keyboard.down("1")
    page.keyboard.up("1")
    wait_for_labels(page, 1)
    page.wait_for_function(OPEN)
    twice = "new KeyboardEvent('keydown', { key: '1', code: 'Digit1', bubbles: true })"
    page.evaluate(f"() => [1, 2].forEach(() => document.body.dispatchEvent({twice}))")
    wait_for_labels(page, 2)
    answer(page, "2")
    wait_for_labels(page, 3)
    assert [line["label"] for line in server.lines()] == ["a", "a", "b"]


def test_new_classes_and_the_closing_audit(serve, open_page, small):
    server = serve(*small[0])
    page = open_page(server)
    truth = small[1]
    page.keyboard.press("n")
    page.get_by_role("textbox").fill('<img src=x onerror="document.title=1">')
    shot(page, "7-new-class")
    page.keyboard.press("Enter")
    page.locator(".class").nth(3).wait_for()
    assert page.locator(".class kbd").all_inner_texts() == ["1", "2", "3", "4"]
    assert "<img" in page.locator(".class-name").nth(3).inner_text()
    colours = page.locator(".class").evaluate_all(
        "chips => chips.map((chip) => getComputedStyle(chip).borderLeftColor)"
    )
    assert len(set(colours)) == 4
    answer(page, "4")
    for _ in range(5):
        answer(page, str(truth[item(page)] + 1))
    wait_for_labels(page, 6)
    page.keyboard.press("Shift+F")
    page.get_by_role("spinbutton").fill("5")
    shot(page, "8-finish")
    page.keyboard.press("Enter")
    page.locator(".figure", has_text="of 5 audited").wait_for()
    for step in range(5):
        press(page, str(truth[item(page)] + 1))
        wait_for_labels(page, 7 + step)
    page.locator(".figure", has_text="Measured").wait_for()
    shot(page, "9-measured")
    assert [line["role"] for line in server.lines() if line["do"] == "label"][-5:] == [
        "closing"
    ] * 5
    assert page.title() == "gpgc label"
    assert page.problems == []


@pytest.mark.parametrize(
    "kills", [3, pytest.param(20, marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_no_label_is_lost_or_doubled_by_kills(serve, open_page, small, kills):
    rng = random.Random(1)
    arguments, truth = small
    server = serve(*arguments)
    page = open_page(server)
    wanted = 100 if kills > 3 else 25
    moments = sorted(rng.sample(range(1, wanted - 2), kills))
    given, acknowledged = {}, set()

    def note(answered):
        if answered.url.endswith("/api/events") and answered.status == 200:
            acknowledged.add(answered.request.post_data_json["event"])

    page.on("response", note)
    for step in range(wanted):
        node = item(page)
        label = "abc"[truth[node]]
        press(page, str(truth[node] + 1))
        given[str(node)] = label
        if moments and step == moments[0]:
            moments.pop(0)
            time.sleep(rng.random() * 0.03)
            server.stop(signal.SIGKILL)
            page.wait_for_timeout(rng.randrange(50, 400))  # answers that came before are told
            stored = {line["event"] for line in server.lines()}
            assert acknowledged <= stored
            server.start()
        wait_for_other_item(page, node)
    wait_for_labels(page, len(given))
    lines = server.lines()
    assert acknowledged <= {line["event"] for line in lines}
    assert len(acknowledged) > wanted - 2 * kills
    assert len({line["event"] for line in lines}) == len(lines)
    stored = {line["id"]: line["label"] for line in lines if line["do"] in ("label", "correct")}
    assert stored == given
    assert sum(line["do"] == "label" for line in lines) == len(given)


def test_the_page_says_not_saved_and_goes_on(serve, open_page, small):
    arguments, truth = small
    server = serve(*arguments)
    page = open_page(server)
    answer(page, str(truth[item(page)] + 1))
    wait_for_labels(page, 1)
    server.stop(signal.SIGKILL)
    page.locator(".banner", has_text="does not answer").wait_for()
    before = page.locator(".item").bounding_box()
    node = item(page)
    press(page, str(truth[node] + 1))
    page.locator(".banner", has_text="Not saved").wait_for()
    page.locator(".saved", has_text="1 not saved").wait_for()
    shot(page, "10-not-saved")
    server.start()
    wait_for_labels(page, 2)
    page.locator(".banner").wait_for(state="hidden")
    assert page.locator(".item").bounding_box() == before  # nothing moved
    assert server.lines()[-1]["id"] == str(node)


def test_ctrl_c_ends_and_the_tab_says_so(serve, open_page, small):
    server = serve(*small[0])
    pages = [open_page(server), open_page(server)]
    answer(pages[0], "1")
    wait_for_labels(pages[0], 1)
    start = time.monotonic()
    assert server.stop(signal.SIGINT) == 0
    print(f"stopped in {time.monotonic() - start:.1f} s")
    for page in pages:
        page.locator(".banner", has_text="Stopped; all labels saved").wait_for()
    shot(pages[0], "11-stopped")


def test_two_people_never_have_the_same_item(serve, open_page, small):
    server = serve(*small[0])
    url, seen = server.url, {}
    pages = {}
    for name in ("anna", "ben"):
        server.url = f"{url}&by={name}"
        pages[name] = open_page(server)
        assert name in pages[name].locator("h1").inner_text()
    for _ in range(6):
        for name, page in pages.items():
            seen.setdefault(name, []).append(item(page))
            answer(page, "1")
    assert not set(seen["anna"]) & set(seen["ben"])
    wait_for_labels(pages["anna"], 12)
    assert {line["by"] for line in server.lines()} == {"anna", "ben"}
    mine = pages["ben"].locator("[data-filter='by ben']")  # what ben labelled stands out on the map
    mine.locator(".count", has_text="6").wait_for()
    mine.click()
    pages["ben"].locator("[data-filter='by ben'][aria-pressed='true']").wait_for()


def test_markup_in_texts_ids_and_labels_is_shown_not_run(serve, open_page, tmp_path):
    evil = "<script>document.title='run'</script><b onclick=1>bold</b>"
    rows = [["id", "text"], *[[f"{evil}{n}", f"{evil} number {n} word{n % 3}"] for n in range(20)]]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    (tmp_path / "t.csv").write_text(text.getvalue())
    server = serve("--texts", tmp_path / "t.csv", "--classes", f"{evil},x")
    page = open_page(server)
    assert evil in page.locator(".item-box").inner_text()
    answer(page, "1")
    wait_for_labels(page, 1)
    page.locator(".history[data-count='1']").wait_for()
    shot(page, "12-texts")
    assert evil in page.locator(".history").inner_text()
    assert page.locator(".item-box b, .history b, .classes b, .near b").count() == 0
    assert page.title() == "gpgc label"
    assert page.problems == []


def test_broken_images_say_so_and_can_be_labelled(serve, open_page, tmp_path):
    from PIL import Image

    folder = tmp_path / "images"
    folder.mkdir()
    for n in range(12):
        Image.new("RGB", (60, 40), (20 * n, 255 - 20 * n, 99)).save(folder / f"{n}.png")
    (folder / "page.png").write_text("<html>no image</html>")
    (folder / "torn.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"x" * 50)
    server = serve("--images", folder, "--classes", "x,y")
    page = open_page(server)
    asked = page.request.get(f"{server.base}/api/next?n=4").json()["items"]
    page.keyboard.press("/")
    page.get_by_role("searchbox").fill("page.png")
    page.locator(".found button").first.click()
    page.locator(".problem", has_text="no PNG").wait_for()
    press(page, "1")
    wait_for_labels(page, 1)
    assert server.lines()[-1]["id"] == "page.png"
    is_asked = "page.png" in [each["id"] for each in asked]  # what was searched for may be
    assert (server.lines()[-1]["role"] != "chosen") == is_asked
    page.keyboard.press("/")
    page.get_by_role("searchbox").fill("torn.png")
    page.locator(".found button").first.click()
    said = page.locator(".problem", has_text="The image is broken")
    said.wait_for()
    assert said.inner_text() == "The image is broken. It can still be labelled."


@pytest.fixture
def small_disk(tmp_path):
    """Return a folder on a disk of 128 kB, where this process may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(folder)]
    try:
        done = subprocess.run(command, check=False, capture_output=True)
    except OSError as error:
        pytest.skip(f"a small disk needs mount: {error}")
    if done.returncode:
        pytest.skip("a small disk needs the right to mount one")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_said_and_the_label_is_kept_until_there_is_room(
    serve, open_page, small, small_disk, tmp_path
):
    arguments, truth = small
    server = serve(*arguments, folder=small_disk)
    page = open_page(server)
    answer(page, str(truth[item(page)] + 1))
    wait_for_labels(page, 1)
    before = server.journal.read_bytes()
    space = os.statvfs(small_disk)
    (small_disk / "filler").write_bytes(bytes(space.f_bavail * space.f_frsize))
    with server.journal.open("ab") as journal:  # 30 bytes are left of its last block
        journal.write(b"\n" * (space.f_frsize - len(before) % space.f_frsize - 30))
    padded, node = server.journal.read_bytes(), item(page)
    press(page, str(truth[node] + 1))
    page.locator(".banner", has_text="Not saved: The disk is full").wait_for()
    shot(page, "13-full-disk")
    assert server.journal.read_bytes() == padded
    (small_disk / "filler").unlink()
    wait_for_labels(page, 2)
    page.locator(".banner").wait_for(state="hidden")
    assert server.lines()[-1]["id"] == str(node)


def test_the_page_works_without_webgl(browser_kind, serve, small):
    server = serve(*small[0])
    browser = browser_kind("--disable-3d-apis")
    try:
        page = browser.new_page()
        page.goto(server.url)
        page.locator(".item-box[data-item]").wait_for(timeout=120_000)
        assert "needs WebGL2" in page.locator(".map-note").inner_text()
        for _ in range(3):
            answer(page, "1")
        wait_for_labels(page, 3)
    finally:
        browser.close()


def test_a_rebound_name_gets_nothing(browser_kind, serve, small):
    server = serve(*small[0])
    browser = browser_kind("--host-resolver-rules=MAP evil.test 127.0.0.1")
    try:
        page = browser.new_page()
        answered = page.goto(f"http://evil.test:{server.port}/?token={TOKEN}")
        assert answered.status == 400
        assert "127.0.0.1 and localhost only" in page.inner_text("body")
    finally:
        browser.close()


def axe_source():
    named = [os.environ.get("GPGC_AXE", ""), "node_modules/axe-core/axe.min.js"]
    found = [Path(name) for name in named if name and Path(name).is_file()]
    if not found:
        pytest.skip("the accessibility check needs axe-core: npm install axe-core, or GPGC_AXE")
    return found[0].read_text()


STILL = "() => document.getAnimations().every(one => one.playState !== 'running')"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_violation_of_accessibility(serve, open_page, small, scheme):
    source = axe_source()
    arguments, truth = small
    page = open_page(serve(*arguments), color_scheme=scheme)
    for _ in range(9):
        answer(page, str(truth[item(page)] + 1))
    wait_for_labels(page, 9)
    page.evaluate(source)
    found = {}

    def check(state):  # a colour that is still fading is no contrast
        page.wait_for_function(STILL)
        result = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
        found[state] = [
            (each["id"], [node["html"][:120] for node in each["nodes"]])
            for each in result["violations"]
            if each["impact"] in ("serious", "critical")
        ]

    check("labelling")
    page.keyboard.press("p")
    page.locator(".note", has_text="once you answered").wait_for()
    check("prediction")
    for key, state in (("?", "help"), ("n", "class"), ("/", "search"), ("Shift+F", "finish")):
        page.keyboard.press(key)
        page.locator("dialog[open]").wait_for()
        check(state)
        if state == "search":
            page.get_by_role("searchbox").fill("14")
            page.get_by_role("button", name="Ask these 12 next").wait_for()
            check("found")
        page.keyboard.press("Escape")
        page.locator("dialog[open]").wait_for(state="hidden")
    assert {state: each for state, each in found.items() if each} == {}


@pytest.mark.parametrize("sight", ["deuteranopia", "protanopia", "achromatopsia"])
def test_classes_are_told_apart_without_colours(serve, open_page, small, sight):
    arguments = [*small[0][:2], "--classes", ",".join("abcdefghijkl")]
    page = open_page(serve(*arguments))
    page.context.new_cdp_session(page).send(
        "Emulation.setEmulatedVisionDeficiency", {"type": sight}
    )
    shot(page, f"14-{sight}")
    keys = page.locator(".class kbd")
    assert len(set(keys.all_inner_texts())) == 12
    pictures = {keys.nth(place).screenshot() for place in range(12)}
    assert len(pictures) == 12
    names = page.locator(".class").evaluate_all("all => all.map((chip) => chip.title)")
    assert names == list("abcdefghijkl")


FOCUS = """() => {
  const focused = document.activeElement;
  const outline = getComputedStyle(focused).outlineStyle;
  if (focused === document.body) return ["", "", "the browser's own"];
  const words = focused.querySelector("span") ?? focused;  // without the key on it
  return [words.textContent.trim().slice(0, 20), focused.className, outline];
}"""


def tab_to(page, wanted):
    """Press Tab until an element with this class or these words has the focus; it is visible."""
    seen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        text, kind, outline = page.evaluate(FOCUS)
        assert outline != "none"
        seen.append(text)
        if wanted in (text, kind):
            return seen
    raise AssertionError((wanted, seen))


def test_everything_is_reached_by_tab(serve, open_page, small):
    page = open_page(serve(*small[0]))
    assert {"?", "Export", "Finish"} <= set(tab_to(page, "class"))
    answer(page, "Enter")  # not at once: what comes within 150 ms of an item is ignored
    wait_for_labels(page, 1)
    tab_to(page, "Skip")
    answer(page, "Enter")
    page.locator(".history[data-count='2']").wait_for()
    tab_to(page, "Undo")
    page.keyboard.press("Enter")
    page.locator(".history[data-count='1']").wait_for()
    tab_to(page, "Finish")
    page.keyboard.press("Enter")
    page.get_by_role("spinbutton").fill("1")
    tab_to(page, "Begin the audit")
    page.keyboard.press("Enter")
    page.locator(".figure", has_text="of 1 audited").wait_for()
    tab_to(page, "class")
    press(page, "Enter")
    page.locator(".figure", has_text="Measured").wait_for()


def test_the_role_of_an_item_is_in_no_answer(serve, open_page, small):
    server = serve(*small[0])
    page = open_page(server)
    bodies = []
    page.on(
        "response",
        lambda answered: "/api/" in answered.url and bodies.append(answered),
    )
    for _ in range(8):
        answer(page, "1")
    wait_for_labels(page, 8)
    texts = [each.text() for each in bodies if "json" in each.headers.get("content-type", "")]
    assert len(texts) > 20
    assert not any('"role"' in text or "suggested" in text for text in texts)
    assert all(json.loads(text) is not None for text in texts)
