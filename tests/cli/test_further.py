"""Prediction sets, novelty and calibration from the command line."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from gpgc import GPGCClassifier
from gpgc.cli.app import app
from gpgc.errors import InputError


@pytest.fixture
def folder(tmp_path, two_moons, monkeypatch):
    features, labels, truth = two_moons
    header = ",".join(["id", *(f"f{column}" for column in range(features.shape[1]))])
    lines = [",".join([f"n{node}", *map(repr, row)]) for node, row in enumerate(features.tolist())]
    (tmp_path / "features.csv").write_text("\n".join([header, *lines]) + "\n")
    names = np.array(["a, or <b>", "c"])
    for name, nodes in (
        ("labels", np.flatnonzero(labels >= 0)),
        ("held_out", np.array([10, 11, 12, 13, 14, 50, 51, 52, 53, 54])),
        ("others", np.array([20, 21, 60, 61])),
    ):
        with open(tmp_path / f"{name}.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "label"])
            writer.writerows((f"n{node}", names[truth[node]]) for node in nodes)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def classify(*more):
    fixed = ["classify", "--features", "features.csv", "--labels", "labels.csv", "--out", "p.csv"]
    return CliRunner().invoke(app, [*fixed, "--json", *map(str, more)])


def rows(folder):
    with open(folder / "p.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_sets_are_a_column_of_lists(folder, two_moons):
    features, labels, truth = two_moons
    held_out = [10, 11, 12, 13, 14, 50, 51, 52, 53, 54]
    assert classify("--sets", 0.8, "--held-out", "held_out.csv").exit_code == 0
    model = GPGCClassifier().fit(features, labels)
    expected = model.prediction_sets(0.8, nodes=held_out, y=truth[held_out])
    names = np.array(["a, or <b>", "c"])
    found = [json.loads(row["set"]) for row in rows(folder)]
    assert found == [names[row].tolist() for row in expected]
    assert classify("--sets", 0.8).exit_code == 0
    found = [json.loads(row["set"]) for row in rows(folder)]
    assert found == [names[row].tolist() for row in model.prediction_sets(0.8)]


def test_novelty_is_a_column(folder, two_moons):
    features, labels, _ = two_moons
    assert classify("--novelty").exit_code == 0
    found = np.array([float(row["novelty"]) for row in rows(folder)])
    expected = GPGCClassifier().fit(features, labels).novelty()
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_calibration_changes_probabilities_alone(folder):
    answer = json.loads(classify().stdout)
    before = rows(folder)
    assert 0 <= answer["loo_calibration_error"] <= 1
    assert classify("--calibrate", "held_out.csv").exit_code == 0
    after = rows(folder)
    assert [row["std"] for row in before] == [row["std"] for row in after]
    assert [row["probability"] for row in before] != [row["probability"] for row in after]


def test_the_report_is_a_page(folder):
    answer = classify("--report", "report.html")
    assert json.loads(answer.stdout)["report"] == "report.html"
    page = (folder / "report.html").read_text()
    assert "a, or &lt;b&gt;" in page
    assert "n10" in page


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--held-out", "held_out.csv"], "--held-out needs --sets"),
        (["--sets", 1.5], "level must lie between 0 and 1"),
        (
            ["--sets", 0.9, "--held-out", "others.csv", "--calibrate", "others.csv"],
            "--held-out must be other labels than --calibrate",
        ),
        (["--calibrate", "labels.csv"], "held out"),
        (["--report", "p.csv"], "must not be one of the files"),
        (["--report", "nowhere/report.html"], "in a folder that exists"),
    ],
)
def test_options_that_make_no_sense_are_said(folder, options, said):
    answer = classify(*options)
    assert isinstance(answer.exception, InputError)
    assert said in str(answer.exception)


def test_large_graphs_have_no_std_unless_asked(folder, monkeypatch):
    monkeypatch.setattr("gpgc.cli.answers.MANY_NODES", 50)
    assert classify().exit_code == 0
    without = rows(folder)
    assert {row["std"] for row in without} == {""}
    done = classify("--std")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["space"] == "function"
    assert all(float(row["std"]) > 0 for row in rows(folder))
    assert [row["label"] for row in rows(folder)] == [row["label"] for row in without]
