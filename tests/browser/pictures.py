"""The pictures of the page in the documentation, made anew.

python -m tests.browser.pictures docs/pictures
"""

import io
import re
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_digits

import gpgc.labelling
from tests.browser.conftest import Running, answer, item, wait_for_labels

DIGITS = load_digits().target
ANIMATED, STILL = 20, 60
"""Labels that are given in the animated picture, and before the two others are taken."""

SIZE = {"width": 1120, "height": 700}


def frame(page):
    """Return the page as it looks now, three quarters as wide."""
    taken = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    return taken.resize((SIZE["width"] * 3 // 4, SIZE["height"] * 3 // 4), Image.Resampling.LANCZOS)


def animate(page):
    """Return a picture before the first label and one after each."""
    frames = [frame(page)]
    for given in range(1, ANIMATED + 1):
        answer(page, str(DIGITS[item(page)]))
        wait_for_labels(page, given)
        page.wait_for_timeout(700)  # the map has its new colours
        frames.append(frame(page))
    return frames


def page_palette():
    """Return a palette of greys, and of the page's colours in five strengths each."""
    source = (Path(gpgc.labelling.__file__).parent / "page" / "palette.js").read_text()
    named = [*re.findall("#[0-9a-f]{6}", source), "#1f5fa8"]
    colours = [np.array([int(name[i : i + 2], 16) for i in (1, 3, 5)]) for name in named]
    greys = [np.full(3, level) for level in np.linspace(0, 255, 96)]
    shades = [255 - part * (255 - colour) for colour in colours for part in (1, 0.8, 0.6, 0.4, 0.2)]
    rows = np.rint([*greys, *shades, [251, 250, 248]]).astype(np.uint8)
    palette = Image.new("P", (1, 1))
    palette.putpalette(rows.ravel().tolist())
    return palette


def save_animation(frames, path):
    """Write frames in the page's colours."""
    palette = page_palette()
    few = [each.quantize(palette=palette, dither=Image.Dither.NONE) for each in frames]
    durations = [1200, *[420] * (len(few) - 2), 3000]
    few[0].save(path, save_all=True, append_images=few[1:], duration=durations, loop=0)


def main(folder):
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        server = Running(["digits"], Path(place)).start()
        options = ["--enable-unsafe-swiftshader", "--no-sandbox"]
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(server.url)
        page.locator(".item-box[data-item]").wait_for(timeout=60_000)
        page.wait_for_timeout(6000)  # the points have come to rest
        save_animation(animate(page), folder / "label.gif")
        for _ in range(STILL - ANIMATED):
            answer(page, str(DIGITS[item(page)]))
        wait_for_labels(page, STILL)
        page.locator(".big", has_text=re.compile("of the rest right")).wait_for()
        page.set_viewport_size({"width": 1280, "height": 780})
        page.wait_for_timeout(2500)
        page.screenshot(path=folder / "label-light.png")
        page.emulate_media(color_scheme="dark")
        page.keyboard.press("p")
        page.wait_for_timeout(1500)
        page.screenshot(path=folder / "label-dark.png")
        browser.close()
        server.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
