"""The same view as a widget in JupyterLab."""

import json
import os
import re
import socket
import subprocess
import sys
import time

import pytest

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


def test_ten_labels_in_jupyterlab(lab, browser, tmp_path):
    page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    for _ in range(100):
        try:
            page.goto(lab)
            break
        except Exception:
            time.sleep(0.5)
    page.locator(".jp-Notebook").wait_for(timeout=120_000)
    ran = page.locator(".jp-CodeCell .jp-InputPrompt", has_text=re.compile(r"\[(\*|1)\]"))
    for _ in range(20):  # until the kernel is there to run it
        page.wait_for_timeout(3000)
        if ran.count():
            break
        page.locator(".jp-CodeCell").first.click()
        page.keyboard.press("Shift+Enter")
    box = page.locator(".gpgc .item-box[data-item]")
    box.wait_for(timeout=120_000)
    box.click()
    n_cells = page.locator(".jp-Cell").count()
    for _ in range(10):
        before = box.get_attribute("data-item")
        page.wait_for_timeout(300)
        label = box.inner_text().strip()[-1]
        page.keyboard.press(str(int(label) + 1))
        page.locator(f".gpgc .item-box:not([data-item='{before}'])").wait_for()
    page.locator(".gpgc #labels", has_text="10 labels").wait_for()
    page.locator(".gpgc .saved", has_text="saved").wait_for()
    page.wait_for_timeout(500)
    if folder := os.environ.get("GPGC_SCREENSHOTS"):
        page.screenshot(path=f"{folder}/13-jupyterlab.png")
    lines = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert [line["do"] for line in lines[1:]] == ["label"] * 10
    assert page.locator(".jp-Cell").count() == n_cells
    assert page.locator(".jp-MarkdownCell").count() == 2
