"""The comparison of two versions: what is listed, drawn, measured once, and judged."""

import ast
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import gpgc
from gpgc.errors import DataError, InputError
from gpgc_lab import package_files
from gpgc_lab.code_digest import syntax_digest
from gpgc_lab.commands import benchmark as command
from gpgc_lab.locations import StudyFolder
from gpgc_lab.package_files import PackageFile
from gpgc_lab.studies.core import core_runs, core_study, worker
from gpgc_lab.studies.core import versions as versions_module
from gpgc_lab.studies.core.core_costs import cost_table
from gpgc_lab.studies.core.core_runs import Cell, chosen_sets
from gpgc_lab.studies.core.core_sets import (
    AGAINST,
    DESIGN_TABLES,
    HELD_OUT_GRAPHS,
    HELD_OUT_TABLES,
    PUBLIC,
    SETS,
)
from gpgc_lab.studies.core.core_targets import target_table
from gpgc_lab.studies.core.draws import draw, draws_of
from gpgc_lab.studies.core.open_sets import open_set
from gpgc_lab.studies.core.package_sets import KEEL, codes, links
from gpgc_lab.studies.core.versions import Version, this_version

DIGITS, IRIS = (next(one for one in DESIGN_TABLES if one.name == n) for n in ("digits", "iris"))


class Stub(Version):
    """A version that answers in this process, as an old one would in its own."""

    def call(self, job, limit=None, **arguments):
        return {**getattr(worker, job)(**arguments), "peak": 0}


def versions():
    home = Path(gpgc.__file__).parent
    return [Stub(name, sys.executable, name, home) for name in ("new", "old")]


def test_enough_sets_are_held_out_and_each_is_listed_once():
    assert len(HELD_OUT_GRAPHS) >= 6
    assert len(HELD_OUT_TABLES) >= 8
    assert len({one.name for one in SETS}) == len(SETS)
    assert {one.name for one in chosen_sets("held-out")} == {
        one.name for one in SETS if one.is_held_out
    }


def test_what_is_designed_on_holds_no_published_division_and_nothing_held_out():
    for section in core_study.USUAL[1:]:
        assert not any(one.is_held_out for one in chosen_sets(section))
    assert "held-out" not in core_study.USUAL
    assert "public" not in core_study.USUAL


def test_the_published_divisions_are_run_only_when_asked_for(monkeypatch, tmp_path):
    cora = next(one for one in SETS if one.name == "cora")
    monkeypatch.setattr(core_runs, "open_set", lambda name, data_dir: open_set("iris"))
    monkeypatch.setattr(core_runs, "draws_of", lambda *arguments: [])
    journal = StudyFolder(tmp_path, tmp_path).journal("runs.jsonl")
    for is_public in (False, True):
        plan = core_runs.CorePlan(versions(), [cora], is_public)
        cells = core_runs.measure_cells(plan, journal, lambda text: None, [])
        assert {cell.budget == PUBLIC for cell in cells} == {is_public}


@pytest.mark.parametrize("budget", DIGITS.budgets)
def test_draws_are_disjoint_and_repeatable(budget):
    opened = open_set("digits")
    one, other = draws_of(DIGITS, opened, budget, 5, 2)
    assert not set(one.given) & set(one.judged)
    assert len(one.given) + len(one.judged) == len(opened.targets)
    assert set(opened.targets[one.given]) == set(range(10))
    np.testing.assert_array_equal(draw("digits", opened.targets, budget, 5).given, one.given)
    assert not np.array_equal(one.given, other.given)


def test_at_most_half_of_the_values_are_given():
    values = np.append(np.arange(99.0), np.nan)
    one = draw("toy", values, "1,000 values", 0)
    assert len(one.given) == 49
    assert 99 not in one.judged


def test_cells_are_measured_once_and_their_tables_are_made(tmp_path, monkeypatch):
    folder = StudyFolder(tmp_path, tmp_path)
    settings = {"sections": ["tables", "values"], "sets": ["iris", "diabetes"], "n_draws": 1}
    tables = core_study.core_study(versions(), folder, lambda text: None, **settings)
    by_name = {table.name: table for table in tables}
    assert [row[1] for row in by_name["core_tables"].rows] == list(IRIS.budgets)
    assert [row[1] for row in by_name["core_values"].rows] == [
        "30 values",
        "100 values",
        "1,000 values",
    ]
    place = list(by_name["core_tables"].columns).index("difference")
    assert {row[place] for row in by_name["core_tables"].rows} == {"+0.0"}
    assert any("values" in row[0] for row in by_name["core_targets"].rows)
    monkeypatch.setattr(Stub, "call", lambda *arguments, **more: 1 / 0)
    monkeypatch.setattr(core_runs, "class_rivals", lambda opened: 1 / 0)
    again = core_study.core_study(versions(), folder, lambda text: None, **settings)
    assert [table.rows for table in again] == [table.rows for table in tables]


def test_a_version_that_fails_is_a_remark_and_is_tried_again(tmp_path, monkeypatch):
    def fails(*arguments, **more):
        raise RuntimeError("no such estimator")

    folder = StudyFolder(tmp_path, tmp_path)
    settings = {"sections": ["tables"], "sets": ["iris"], "n_draws": 1}
    with monkeypatch.context() as patch:
        patch.setattr(Stub, "call", fails)
        table, _ = core_study.core_study(versions()[:1], folder, lambda text: None, **settings)
    assert any("no such estimator" in note for note in table.notes)
    table, _ = core_study.core_study(versions()[:1], folder, lambda text: None, **settings)
    assert all(row[3] is not None for row in table.rows)


def test_a_child_of_this_version_answers_as_this_process(tmp_path):
    opened = open_set("digits")
    drawn = draws_of(DIGITS, opened, "5 a class", 0, 1)
    mine, told = (
        core_runs._of_version(version, DIGITS, opened, 300.0)(drawn)["seed 0"]
        for version in (versions()[0], this_version())
    )
    assert mine["accuracy"] == told["accuracy"]
    assert mine["log_loss"] == pytest.approx(told["log_loss"], rel=1e-9)
    assert mine["fractions_log_loss"] == pytest.approx(np.log(10))


def test_a_process_that_runs_another_gpgc_is_refused(monkeypatch):
    monkeypatch.setattr(versions_module, "in_own_process", lambda *a, **more: {"home": "/other"})
    with pytest.raises(DataError, match="must run gpgc in"):
        this_version().call("count_lines")


def test_a_revision_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="against must be a revision"):
        versions_module.built_version("no-such-revision")


def test_counts_of_functions_and_lines(tmp_path, monkeypatch):
    opened = open_set("iris")
    graph = links(150, [(node, node + 1) for node in range(149)])
    toy = type(opened)(graph, opened.features, opened.targets)
    given = np.array([0, 60, 120])
    monkeypatch.setattr("gpgc_lab.studies.core.core_costs.cost_data", lambda *a: (toy, given))
    journal = StudyFolder(tmp_path, tmp_path).journal("runs.jsonl")
    every = ("count_functions", "count_lines", "time_big", "time_load", "time_join", "time_fit")
    table = cost_table(versions()[:1], journal, lambda text: None, only=every)
    counted = {row[0]: row[2] for row in table.rows}
    big, default = (counted[f"functions in files, {name}, Cora"] for name in ("big", "default"))
    assert 50 < int(big.split()[0]) < int(default.split()[0])
    assert int(counted["lines of the core's rooms"].replace(",", "")) > 5000
    assert all(cell is not None for cell in counted.values())


def test_targets_say_what_was_reached():
    grid = next(one for one in SETS if one.name == "power_grid")
    runs = {"new": {"seed 0": {"accuracy": 0.8, "log_loss": 0.5, "fractions_log_loss": 1.0}}}
    runs["old"] = {"seed 0": {"accuracy": 0.1, "log_loss": 2.0, "fractions_log_loss": 1.0}}
    table = target_table([Cell(grid, "10 % at random", runs)], ["new", "old"])
    rows = {row[0]: row[2:] for row in table.rows}
    assert rows["power_grid, 10 % at random"] == ["80.0 ✓", "10.0 ✗"]
    assert rows["classes: cells with more log loss than class fractions"][0] == "0 of 1 ✓"
    assert rows["classes: cells with more log loss than class fractions"][1].endswith("✗")


def test_files_of_packages_are_believed_by_their_digest(tmp_path, monkeypatch):
    import zipfile

    archive = tmp_path / "toy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(archive, "w") as wheel:
        wheel.writestr("toy/data.csv", "a,b")
    monkeypatch.setattr(package_files, "cache_folder", lambda kind: tmp_path / "cache")
    monkeypatch.setattr(package_files, "_download", lambda *arguments: archive)
    right = hashlib.sha256(b"a,b").hexdigest()
    assert PackageFile("toy", "1.0", "toy/data.csv", right).read() == b"a,b"
    with pytest.raises(DataError, match="expected SHA-256"):
        PackageFile("toy", "1.0", "toy/data.csv", "0" * 64).read()
    with pytest.raises(DataError, match="no such file"):
        PackageFile("toy", "1.0", "toy/lost.csv", "1" * 64).read()
    (tmp_path / "cache" / right).write_bytes(b"altered")
    with pytest.raises(DataError, match="must have the content it is named after"):
        PackageFile("toy", "1.0", "toy/data.csv", right).read()


def test_every_held_out_set_has_a_reader_and_a_digest():
    assert all(len(file.sha256) == 64 for file in KEEL.values())
    assert {one.name for one in HELD_OUT_TABLES} - {"penguins"} == set(KEEL)


def test_rare_classes_count_as_unknown():
    assert codes(["a", "b", "a", None], rarest=2).tolist() == [0, -1, 0, -1]


def test_comments_and_docstrings_change_no_digest(tmp_path):
    one, other, third = (tmp_path / f"{name}.py" for name in "abc")
    one.write_text("def f(x):\n    return x  # as it is\n")
    other.write_text('"""Doc."""\n\ndef f(x):\n    """Give x."""\n    return x\n')
    third.write_text("def f(x):\n    return -x\n")
    assert syntax_digest([one]) == syntax_digest([other]) != syntax_digest([third])


def test_the_worker_names_nothing_of_gpgc_but_what_is_public():
    names = []
    for node in ast.walk(ast.parse(Path(worker.__file__).read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gpgc":
            assert node.module == "gpgc"
            names += [alias.name for alias in node.names]
    assert set(names) <= set(gpgc.__all__)


def test_the_command_writes_tables_with_their_origin(tmp_path):
    arguments = ["core", "--against", "none", "--only", "tables", "--sets", "iris"]
    done = CliRunner().invoke(command.app, [*arguments, "--draws", "1", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "iris" in done.output
    known = json.loads((tmp_path / "core" / "core_tables.origin.json").read_text())
    assert "--draws 1 " in known["command"]
    assert known["command"].endswith("--sets iris")
    assert (tmp_path / "core" / "core_runs.jsonl").exists()


def test_a_section_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="only must be among costs"):
        core_study.chosen_sections("grahps")


def test_a_set_that_is_in_none_of_the_sections_is_refused():
    for name in ("irsi", "texas"):
        with pytest.raises(InputError, match="sets must be among wine; breast cancer"):
            core_study.chosen_names(f"iris; {name}", ["tables"])


@pytest.mark.slow
def test_version_0_2_is_built_and_stands_beside_this_code(tmp_path):
    arguments = ["core", "--only", "tables", "--sets", "iris", "--draws", "1"]
    done = CliRunner().invoke(command.app, [*arguments, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    table = json.loads((tmp_path / "core" / "core_tables.json").read_text())
    assert f"0.2.0 ({AGAINST})" in json.dumps(table)
    assert AGAINST in (tmp_path / "core" / "core_tables.origin.json").read_text()
