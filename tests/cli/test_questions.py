"""gpgc check and gpgc explain on a user's files."""

import csv
import inspect
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gpgc import GPGCClassifier
from gpgc.cli.app import COMMANDS, app
from gpgc.errors import InputError


@pytest.fixture
def folder(tmp_path, two_moons, monkeypatch):
    features, _, truth = two_moons
    header = ",".join(["id", *(f"f{column}" for column in range(features.shape[1]))])
    lines = [",".join([f"n{node}", *map(repr, row)]) for node, row in enumerate(features.tolist())]
    (tmp_path / "features.csv").write_text("\n".join([header, *lines]) + "\n")
    labels = np.array(["no", "yes"])[truth]
    labels[8] = "yes"
    rows = [f"n{node},{label}" for node, label in enumerate(labels) if node % 8 != 7]
    (tmp_path / "labels.csv").write_text("\n".join(["id,label", *rows]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments):
    fixed = ["--features", "features.csv", "--labels", "labels.csv"]
    return CliRunner().invoke(app, [*map(str, arguments), *fixed])


def fitted(two_moons):
    features, _, truth = two_moons
    y = np.array(["no", "yes"])[truth].astype(object)
    y[7::8] = None
    y[8] = "yes"
    return GPGCClassifier().fit(features, y)


def test_check_names_the_wrong_label(folder, two_moons):
    found = call("check", "--out", "check.csv", "--json")
    assert found.exit_code == 0, found.output
    result = json.loads(found.stdout)
    assert result["suspicious"] == ["n8: yes → no"]
    with open("check.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = fitted(two_moons).check_labels()
    assert [row["id"] for row in rows] == [f"n{node}" for node in expected.nodes]
    assert float(rows[0]["probability"]) == pytest.approx(expected.probability[0], rel=1e-4)
    assert result["expected_errors"] == pytest.approx(expected.expected_errors, abs=0.01)
    assert "n8: yes → no" in call("check", "--out", "check.csv").output


def test_explain_lists_what_decided(folder, two_moons):
    found = call("explain", "n9", "--out", "why.csv", "--json")
    assert found.exit_code == 0, found.output
    result = json.loads(found.stdout)
    with open("why.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = fitted(two_moons).explain(9)
    assert result["label"] == expected.predicted == "no"
    assert rows[0]["id"] == f"n{expected.nodes[0]}"
    added = sum(float(row["contribution"]) for row in rows if row["class"] == "no")
    assert expected.offset[0] + added == pytest.approx(result["score"], rel=1e-4)
    assert "labels that decided" in call("explain", "n9").output


def test_bad_input_is_one_sentence(folder):
    assert isinstance(call("explain", "n999").exception, InputError)
    assert "node must be in the graph" in str(call("explain", "n999").exception)
    assert "--out must" in str(call("check", "--out", "labels.csv").exception)


def test_the_page_of_commands_lists_the_options_that_there_are():
    from tests.docs.options import PAGE, written

    page = PAGE.read_text()
    assert page == written(page), "run python -m tests.docs.options"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_a_short_file(command):
    assert len(Path(inspect.getsourcefile(command)).read_text().splitlines()) <= 60
