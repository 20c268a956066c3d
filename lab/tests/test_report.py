"""The report: whole without anything else, honest about what is stored, and sound in a browser."""

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from typer.testing import CliRunner

from gpgc.cli.app import app
from gpgc.errors import DataError, InputError
from gpgc_lab.cells import Measured, from_json, to_json
from gpgc_lab.locations import StudyFolder, stored_results
from gpgc_lab.report import report as reporting
from gpgc_lab.report.contents import STUDIES
from gpgc_lab.report.report import write_report
from gpgc_lab.report.significance import difference, marked
from gpgc_lab.report.study_sections import CompareStudy, ReportOptions, TableStudy, keep_origin
from gpgc_lab.tables import Table, write_tables

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1200,900",
)
VOID = {"meta", "link", "img", "br"}
NOW = "2030-01-01T00:00:00+00:00"


def compare_run(system, seed, accuracy, **more):
    machine = {"processor": "A <fast> one", "cores": 2, "versions": {"python": "3.12"}}
    return {
        "dataset": "cora",
        "task": "0",
        "system": system,
        "seed": seed,
        "settings": {"hidden": 16} if system == "GCN" else {},
        "version": "0",
        "status": "done",
        "accuracy": accuracy,
        "log_loss": 0.5,
        "calibration_error": 0.02,
        "train_seconds": 1.0,
        "predict_seconds": 0.1,
        "epochs": None,
        "peak_memory_mb": 100.0,
        "time_limit": 1200.0,
        "command": "gpgc compare cora --seeds 2",
        "date": "2029-05-01T00:00:00+00:00",
        "machine": machine,
        **more,
    }


@pytest.fixture
def nothing_stored(tmp_path, monkeypatch):
    """A laboratory that was installed without results."""
    for module in ("locations", "report.report"):
        monkeypatch.setattr(f"gpgc_lab.{module}.stored_results", lambda: tmp_path / "none")


@pytest.fixture
def results(tmp_path, nothing_stored):
    """Return a folder with stored tables, a picture of another study, and runs."""
    out = tmp_path / "results"
    table = Table(
        "citation_accuracy",
        "Test accuracy, per cent: ours (paper's)",
        ["model", "cora", "citeseer"],
        [
            ["GPGC-big", Measured(81.1, published=83.6), Measured(71.8, published=72.1)],
            ["<script>", Measured(84.3), None],
        ],
        ["A note with `code` & more."],
    )
    (out / "citation").mkdir(parents=True)
    write_tables([table], out / "citation", "citation")
    runs = [compare_run("GCN", 0, 0.81), compare_run("GCN", 1, 0.812)]
    runs += [compare_run("LP", 0, 0.70, date="2031-01-01T00:00:00+00:00")]
    runs += [compare_run("GAT", 0, None, status="failed", error="no luck")]
    lines = "".join(json.dumps(run) + "\n" for run in runs)
    (out / "comparison").mkdir()
    (out / "comparison" / "compare_cora_runs.jsonl").write_text(lines)
    return out


def options(out, **more):
    standard = {"data_dir": None, "fresh": False, "stored_only": True, "n_seeds": 2}
    return ReportOptions(out=out, since=NOW, **{**standard, **more})


@pytest.fixture
def page(results):
    write_report(options(results), lambda step: None)
    return (results / "report.html").read_text()


class Reader(HTMLParser):
    """Follows what is open, and keeps what is referred to."""

    def __init__(self):
        super().__init__()
        self.open, self.links, self.ids, self.tags = [], [], set(), []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.tags.append(tag)
        self.links += [values[name] for name in ("href", "src") if name in values]
        self.ids |= {values["id"]} if "id" in values else set()
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_sound_and_needs_nothing_else(page):
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    assert not re.search(r"(https?:)?//\w", re.sub(r"base64,[^\"]+", "", page))
    inner = [link[1:] for link in reader.links if link.startswith("#")]
    assert len(inner) == len(reporting.STUDIES) + 1
    assert set(inner) <= reader.ids
    assert all(link.startswith(("#", "data:")) for link in reader.links)
    assert "script" not in reader.tags
    assert {"caption", "thead", "tbody", "nav", "main"} <= set(reader.tags)


def test_numbers_that_differ_are_marked_and_gathered(page, results):
    assert "<mark>81.1 (83.6) ▼</mark>" in page
    assert "71.8 (72.1)</td>" in page
    gathered = page[page.index('id="differences"') : page.index('id="framework"')]
    assert "81.1 (83.6) ▼" in gathered
    assert "70.0 against 68.0: +2.0 ▲" in gathered
    assert "settings are chosen by validation accuracy" in gathered
    text = (results / "report.md").read_text()
    assert "| LP | 70.0 | – | 68.0 | +2.0 ▲ |" in text
    assert "![compare cora](comparison/compare_cora.png)" in text


def test_it_says_which_rows_are_stored_and_which_fresh(page):
    assert "Stored: GCN, GAT. <code>gpgc compare cora --seeds 2</code>, 2029-05-01" in page
    assert "Fresh: LP. " in page
    assert "A &lt;fast&gt; one, 2 cores" in page
    assert "failed: no luck" in page
    assert "Not run yet: <code>gpgc reproduce width</code>" in page


@pytest.mark.parametrize(
    ("values", "paper", "expected"),
    [
        ([81.0, 81.2, 81.1], 81.1, "+0.0"),
        ([81.0, 81.2, 81.1], 81.5, "-0.4 ▼"),
        ([80.0, 82.0, 81.0], 82.0, "-1.0"),
        ([82.0], 81.1, "+0.9"),
        ([82.2], 81.1, "+1.1 ▲"),
        ([68.0, 68.0], 68.5, "-0.5"),
        ([], 81.1, None),
    ],
)
def test_two_standard_errors_or_one_point(values, paper, expected):
    found = difference(values, paper)
    assert (None if found is None else str(found)) == expected


def test_the_number_of_runs_counts():
    four, nine = (Measured(80.0, 1.0, n_runs, 81.0) for n_runs in (4, 9))
    assert str(marked(four)) == "80.0 ± 1.0 (81.0)"
    assert str(marked(nine)) == "80.0 ± 1.0 (81.0) ▼"
    assert marked("1.0 (9.0)") == "1.0 (9.0)"
    assert from_json(json.loads(json.dumps(to_json(marked(nine))))) == nine


def test_a_file_of_another_study_is_not_taken(tmp_path, nothing_stored):
    table = Table("toy", "A toy", ["a"], [[1]])
    write_tables([table], tmp_path / "citation", "toy")
    section = study(None).section(options(tmp_path), lambda step: None)
    assert section.missing == "Not run yet: `gpgc reproduce toy`."


def test_commands_name_the_splits_that_are_run(monkeypatch, tmp_path):
    (calibration,) = (one for one in STUDIES if getattr(one, "name", "") == "calibration")
    asked = []
    target = "gpgc_lab.studies.calibration.calibration_study.calibration_study"
    monkeypatch.setattr(target, lambda *arguments: asked.append(arguments))
    calibration.make(options(tmp_path), StudyFolder(tmp_path, tmp_path), None)
    assert calibration.command.endswith(f"--random-splits {asked[0][1]}")


def test_stored_results_of_the_clone_are_reported_and_stay_as_they_are(tmp_path):
    kept = {path: path.stat().st_mtime_ns for path in stored_results().rglob("*")}
    write_report(options(tmp_path / "out"), lambda step: None)
    text = (tmp_path / "out" / "report.md").read_text()
    assert "Not run yet" not in text
    assert "made before, by gpgc 0.1.0" in text
    assert "81.1 (83.6) ▼" in text
    assert kept == {path: path.stat().st_mtime_ns for path in stored_results().rglob("*")}


def test_where_no_results_are_stored_it_says_so(tmp_path, nothing_stored):
    with pytest.raises(DataError, match=r"stored results.*pip install \./lab"):
        write_report(options(tmp_path / "out"), lambda step: None)


def study(make):
    return TableStudy("toy", "Toy", "A toy.", "gpgc reproduce toy", (), make)


def test_a_study_is_made_once_and_then_stored(tmp_path, nothing_stored):
    calls = []

    def make(asked, folder, progress):
        calls.append(asked)
        return [Table("toy", "A toy", ["a"], [[1]])], []

    live = options(tmp_path, stored_only=False)
    fresh = study(make).section(live, lambda step: None)
    assert fresh.origins[0].startswith("Fresh: `gpgc reproduce toy`")
    stored = study(make).section(live, lambda step: None)
    assert stored.origins[0].startswith("Stored: `gpgc reproduce toy`")
    assert stored.tables[0].rows == fresh.tables[0].rows
    study(make).section(options(tmp_path, stored_only=False, fresh=True), lambda step: None)
    assert len(calls) == 2


def test_a_study_that_fails_says_so(tmp_path):
    def make(asked, folder, progress):
        raise ImportError("needs torch")

    section = study(make).section(options(tmp_path, stored_only=False), lambda step: None)
    assert section.missing == "`gpgc reproduce toy` failed: needs torch"


def test_the_newest_run_of_a_seed_counts(results):
    with (results / "comparison" / "compare_cora_runs.jsonl").open("a") as file:
        for settings in ({}, {"epochs": 5}):
            file.write(json.dumps(compare_run("LP", 0, 0.69, settings=settings)) + "\n")
    section = CompareStudy("cora").section(options(results), lambda step: None)
    row = section.tables[0].rows[0]
    assert (row[0], round(row[1], 3), row[-2]) == ("LP", 69.0, 1)


def test_the_command_builds_the_report_from_stored_results(results):
    keep_origin(results / "citation", "citation", "gpgc reproduce citation --random-splits 20")
    command = [sys.executable, "-m", "gpgc", "reproduce", "all", "--out", str(results)]
    done = subprocess.run([*command, "--stored-only"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "report.html" in done.stdout
    wrong = CliRunner().invoke(app, ["reproduce", "all", "--stored-only", "--fresh"]).exception
    assert isinstance(wrong, InputError)
    assert "--fresh" in str(wrong)


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_the_page_in_a_browser(page, tmp_path):
    """Scripts that stand in the page only for this test write what the browser made of it."""
    probe = """<script>addEventListener("load", () => {
      const images = [...document.images];
      document.body.dataset.seen = JSON.stringify({
        images: images.length, drawn: images.filter(image => image.naturalWidth > 0).length,
        wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
        width: innerWidth, marks: document.querySelectorAll("mark").length });
    });</script></body>"""
    path = tmp_path / "probe.html"
    path.write_text(page.replace("</body>", probe))
    done = subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    found = re.search(r'data-seen="([^"]+)"', done.stdout)
    assert found is not None
    seen = json.loads(found[1].replace("&quot;", '"'))
    assert seen["images"] == seen["drawn"] >= 1
    assert not seen["wide"]
    assert seen["width"] == 1200
    assert seen["marks"] >= 2
