"""The same view as a widget in JupyterLab."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.browser.conftest import answer, wait_until_saved

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CODE = """
import numpy as np, gpgc
rng = np.random.default_rng(0)
truth = rng.integers(3, size=150)
X = rng.normal(size=(3, 5))[truth] * 2 + rng.normal(size=(150, 5))
texts = [f"text {n} of class {t}" for n, t in enumerate(truth)]
gpgc.label(X, classes=["a", "b", "c"], items=texts)
""".strip()


def cell(text, kind="code"):
    more = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": text, "id": f"c{abs(hash(text))}", **more}


@pytest.fixture
def lab(tmp_path):
    """Return the address of a JupyterLab with one notebook."""
    pytest.importorskip("jupyterlab", reason="the notebook check needs JupyterLab")
    pytest.importorskip("anywidget", reason="the notebook check needs the extra notebook")
    from jupyter_core.paths import jupyter_path

    if not any((Path(folder) / "anywidget").is_dir() for folder in jupyter_path("labextensions")):
        pytest.skip("JupyterLab has no anywidget: pip install it where JupyterLab is installed")
    cells = [cell("before", "markdown"), cell(CODE), cell("after", "markdown"), cell("1 + 1")]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "label.ipynb").write_text(json.dumps(notebook))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token=t"]
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *options],
        cwd=tmp_path,
        env={**os.environ, "JUPYTER_CONFIG_DIR": str(tmp_path / "config")},
        stdout=(tmp_path / "lab.txt").open("w"),
        stderr=subprocess.STDOUT,
    )
    yield f"http://127.0.0.1:{port}/lab/tree/label.ipynb?token=t"
    process.kill()
    process.wait(20)


def wait_for_kernel(page, lab):
    """Wait until the notebook has a kernel that runs cells; keys before that open a dialog."""
    server, query = lab.split("/lab/tree/")[0], lab.partition("?")[2]
    deadline = time.monotonic() + 120
    ready = []
    while not ready:
        assert time.monotonic() < deadline, "no kernel came"
        page.wait_for_timeout(200)
        kernels = page.request.get(f"{server}/api/kernels?{query}").json()
        ready = [k for k in kernels if k["execution_state"] == "idle" and k["connections"]]
    page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").first.wait_for()


@pytest.fixture
def widget(lab, browser):
    """Return the notebook's page once the widget shows its first item."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(120_000)  # of milliseconds: a slow machine is no failure
    page = context.new_page()
    for _ in range(100):
        try:
            page.goto(lab)
            break
        except Exception:
            time.sleep(0.5)
    page.locator(".jp-Notebook").wait_for()
    wait_for_kernel(page, lab)
    page.locator(".jp-CodeCell").first.click()
    page.keyboard.press("Shift+Enter")
    box = page.locator(".gpgc .item-box[data-item]")
    box.wait_for()
    box.click()
    yield page
    context.close()


def lines(folder):
    """Return the events of the notebook's journal."""
    text = (folder / "labels.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()][1:]


def kinds(page):
    """Return the kind of each cell of the notebook, in their order."""
    names = ["jp-MarkdownCell", "jp-CodeCell", "jp-RawCell"]
    of = "(cells, names) => cells.map(cell => names.find(name => cell.classList.contains(name)))"
    return page.locator(".jp-Cell").evaluate_all(of, names)


def label_one(page):
    """Answer the item on the screen by its key."""
    text = page.locator(".gpgc .item-box[data-item]").inner_text()
    answer(page, str(int(text.strip()[-1]) + 1))


def test_ten_labels_in_jupyterlab(widget, tmp_path):
    n_cells = widget.locator(".jp-Cell").count()
    for _ in range(10):
        label_one(widget)
    widget.locator(".gpgc #labels", has_text="10 labels").wait_for()
    wait_until_saved(widget)
    if folder := os.environ.get("GPGC_SCREENSHOTS"):
        widget.screenshot(path=f"{folder}/13-jupyterlab.png")
    assert [line["do"] for line in lines(tmp_path)] == ["label"] * 10
    assert widget.locator(".jp-Cell").count() == n_cells
    assert widget.locator(".jp-MarkdownCell").count() == 2


def test_a_cell_that_is_run_again_goes_on_with_its_journal(widget):
    label_one(widget)
    wait_until_saved(widget)
    widget.locator(".jp-CodeCell .jp-InputArea").first.click()
    widget.keyboard.press("Shift+Enter")
    widget.locator(".jp-CodeCell .jp-InputPrompt", has_text="[2]").wait_for()
    widget.locator(".gpgc #labels", has_text="1 label").wait_for()
    widget.locator(".gpgc .item-box[data-item]").click()
    label_one(widget)
    widget.locator(".gpgc #labels", has_text="2 labels").wait_for()


def test_no_key_reaches_the_notebook_from_anywhere_inside(widget, tmp_path):
    page, gpgc = widget, widget.locator(".gpgc")
    for _ in range(4):
        label_one(page)
    wait_until_saved(page)
    before = kinds(page)
    inside = "document.querySelector('.gpgc').contains(document.activeElement)"

    # what is clicked on is replaced by what comes then: the focus stays inside nevertheless
    gpgc.locator(".near button").first.click()
    gpgc.locator(".note", has_text="Esc goes back").wait_for()
    page.wait_for_timeout(500)
    assert page.evaluate(inside)
    label_one(page)
    gpgc.locator("#labels", has_text="5 labels").wait_for()
    gpgc.locator(".history button").first.click()
    gpgc.locator(".note", has_text="Esc goes back").wait_for()
    page.wait_for_timeout(500)
    assert page.evaluate(inside)
    page.keyboard.press("Escape")
    gpgc.locator(".note:not(:has-text('Esc goes back'))").wait_for()

    # keys that insert, delete, cut, merge, move or run cells where the notebook hears them
    places = [".item-box", ".note", ".figure", "h1", ".history", "canvas.points", "summary"]
    for place in places:
        gpgc.locator(place).first.click()
        page.wait_for_timeout(300)
        assert page.evaluate(inside), place
        if gpgc.locator(".note", has_text="Esc goes back").count():
            page.keyboard.press("Escape")
        for key in "axcvdzymjkrlo":
            page.keyboard.press(key)
            if key in "cr":  # which open a dialog once the kernel has answered
                gpgc.locator("dialog[open]").wait_for()
            page.keyboard.press("Escape")
            gpgc.locator("dialog:not([open])").wait_for(state="attached")
        page.keyboard.press("d")
        page.keyboard.press("d")
        assert page.evaluate(inside), place
        assert kinds(page) == before, place
    page.keyboard.press("?")
    gpgc.locator("dialog[open]").wait_for()
    for key in ("a", "x", "m", "Shift+M"):
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    gpgc.locator("dialog:not([open])").wait_for(state="attached")
    assert page.evaluate(inside)
    label_one(page)
    gpgc.locator("#labels", has_text="6 labels").wait_for()
    assert kinds(page) == before
    assert [line["do"] for line in lines(tmp_path)] == ["label"] * 6
