"""Items that can be read: direction, scrolling, a fade, large images, chosen columns, a guide."""

import numpy as np
import pytest
from PIL import Image

from tests.browser.conftest import answer, item, press, shot, wait_for_labels

pytestmark = pytest.mark.browser


def test_a_long_text_fades_scrolls_by_keys_and_has_its_own_direction(serve, open_page, tmp_path):
    long = " ".join(f"word{n}" for n in range(900))
    rows = [f'{n},"{"שלום עולם " * 3 if n % 2 else long} {n}"' for n in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["id,text", *rows]))
    (tmp_path / "guide.md").write_text(
        "# What is spam\n\n- **offers** that nobody asked for\n- <b>x</b>\n"
    )
    server = serve(
        "--texts", tmp_path / "t.csv", "--classes", "a,b", "--guide", tmp_path / "guide.md"
    )
    page = open_page(server)
    while item(page) % 2:
        answer(page, "s")
    page.locator(".shown.text.below").wait_for()
    shot(page, "90-long-text")
    page.keyboard.press("PageDown")
    page.locator(".shown.text.above").wait_for()
    for _ in range(30):
        page.keyboard.press("j")
    page.locator(".shown.text.above:not(.below)").wait_for()
    assert page.locator(".shown p.text").get_attribute("dir") == "auto"
    page.keyboard.press("g")
    guide = page.locator(".guide")
    guide.locator("h3", has_text="What is spam").wait_for()
    assert guide.locator("b").all_inner_texts() == ["offers"]
    assert "<b>x</b>" in guide.inner_text()
    shot(page, "91-guide")
    page.keyboard.press("g")
    guide.wait_for(state="hidden")
    page.keyboard.press("?")
    page.locator("#features", has_text="TF-IDF").wait_for()
    shot(page, "92-help")
    assert page.problems == []


def test_every_kind_of_image_fits_its_box_and_is_enlarged_by_a_click(serve, open_page, tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    rng = np.random.default_rng(0)
    shapes = {"wide.bmp": (20, 900), "high.tiff": (1500, 30), "tiny.png": (6, 90), "b.ppm": (9, 9)}
    for n in range(8):
        shapes[f"n{n}.png"] = (40, 40)
    for name, shape in shapes.items():
        Image.fromarray(rng.integers(255, size=(*shape, 3), dtype=np.uint8)).save(folder / name)
    (folder / "photo.heic").write_bytes(b"x")
    server = serve("--images", folder, "--classes", "a,b")
    assert (
        "kinds that are not read are left out, 1 of them: photo.heic"
        in (tmp_path / "stderr").read_text()
    )
    page = open_page(server)
    for label in range(len(shapes)):
        page.wait_for_function(
            """() => { const image = document.querySelector('.item-box img');
                return image && image.complete && image.naturalWidth > 0; }"""
        )
        fits = page.locator(".item-box").evaluate(
            """box => { const a = box.getBoundingClientRect();
                const b = box.querySelector('img').getBoundingClientRect();
                const image = box.querySelector('img');
                return [image.naturalWidth > 0, b.left >= a.left, b.right <= a.right + 1,
                        b.top >= a.top, b.bottom <= a.bottom + 1]; }"""
        )
        assert all(fits), (item(page), fits)
        if label == 3:
            page.locator(".item-box img").click()
            page.locator("dialog .enlarged img").wait_for()
            shot(page, "93-enlarged")
            page.keyboard.press("Escape")
        press(page, "1")
        wait_for_labels(page, label + 1)
    assert page.problems == []


def test_the_columns_that_are_wanted_are_shown_as_they_came(serve, open_page, tmp_path):
    rows = [f"n{n},{123456.75 + n},{n % 3},note {n}" for n in range(30)]
    (tmp_path / "x.csv").write_text("\n".join(["id,price,kind,note", *rows]))
    server = serve(
        "--features", tmp_path / "x.csv", "--classes", "a,b", "--show", "note,price",
        "--encode", "note=text",
    )  # fmt: skip
    page = open_page(server)
    cells = page.locator(".shown .table")
    assert cells.locator("th").all_inner_texts() == ["note", "price"]
    assert cells.locator("td").all_inner_texts()[1] == f"{123456.75 + item(page)}"
    shot(page, "94-columns")
    assert page.problems == []
