"""Every code block of the documentation runs, and the site builds without warnings."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tests.docs.code_blocks import blocks_of, run_page

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "SKILL.md", *sorted((ROOT / "docs").rglob("*.md"))]
REASONS = (
    "installs packages",
    "needs a browser",
    "needs a cluster",
    "needs downloads",
    "needs the laboratory",
)
"""Why a block may stay out."""

pytestmark = pytest.mark.docs


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch):
    blocks = [block for block in blocks_of(page.read_text()) if block.reason is None]
    if not any(block.language not in ("text", "mermaid", "") for block in blocks):
        pytest.skip("no code on this page")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        run_page(page, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_that_do_not_run_say_why(page):
    for block in blocks_of(page.read_text()):
        assert block.reason is None or block.reason.startswith(REASONS), f"{page}:{block.line}"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs", reason="needs the extra docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
    environment = {**os.environ, **nowhere, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_fetches_nothing_from_outside(site):
    loads = re.compile(r"<(?:script|img|iframe|source)[^>]*\ssrc=\"?(?:https?:)?//[^>]*>")
    links = re.compile(r"<link[^>]*rel=\"?(?:stylesheet|preconnect|preload)\"?[^>]*//[^>]*>")
    for page in site.rglob("*.html"):
        text = page.read_text()
        assert not loads.findall(text) + links.findall(text), page


def test_formulas_are_in_the_pages_themselves(site):
    assert "<math" in (site / "theory.html").read_text()
    for page in site.rglob("*.html"):
        assert "arithmatex" not in page.read_text(), page


def test_the_index_for_assistants_leads_to_pages_of_the_site(site):
    links = re.findall(r"\]\(([^)]+)\)", (site / "llms.txt").read_text())
    assert links
    for link in links:
        assert (site / link).read_text() == (ROOT / "docs" / link).read_text()
