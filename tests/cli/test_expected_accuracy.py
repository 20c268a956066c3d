"""The accuracy to expect, from the command line."""

import json
from dataclasses import fields
from importlib import import_module

import numpy as np
import pytest
from typer.testing import CliRunner

from gpgc import GPGCClassifier
from gpgc.cli.app import app
from gpgc.cli.command import REQUIRED
from gpgc.uncertainty.expected_accuracy import UNKNOWN

CLASSES = ("run", "classify", "check", "explain", "evaluate", "suggest")


@pytest.fixture
def model(tmp_path, two_moons, monkeypatch):
    """The model of the files features.npy and labels.csv, of every fourth node."""
    features, _, truth = two_moons
    monkeypatch.chdir(tmp_path)
    np.save("features.npy", features)
    y = np.where(np.arange(80) % 4 == 0, np.array(["no", "yes"])[truth], None)
    y[8] = "yes"
    write(y)
    return GPGCClassifier().fit(features, y)


def write(y, roles=None):
    rows = [[str(node), label] for node, label in enumerate(y) if label is not None]
    header = ["id", "label"]
    if roles is not None:
        rows = [[*row, role] for row, role in zip(rows, roles, strict=True)]
        header.append("role")
    with open("labels.csv", "w") as file:
        file.writelines(",".join(row) + "\n" for row in [header, *rows])


def labels_of(model):
    y = np.full(80, None, dtype=object)
    y[model.labelled_nodes_] = model.classes_[model.codes_]
    return y


def classify(*more):
    fixed = ["classify", "--features", "features.npy", "--labels", "labels.csv", "--out", "p.csv"]
    return CliRunner().invoke(app, [*fixed, *more])


def expected(*more):
    return json.loads(classify("--json", *more).stdout)["expected_accuracy"]


def test_it_is_known_where_labels_were_drawn_at_random(model):
    told = GPGCClassifier(labels_drawn="random")
    found = told.fit(model.prior_.nodes.features, labels_of(model)).expected_accuracy()
    assert expected("--labels-drawn", "random") == {
        "estimate": found.estimate,
        "low": found.low,
        "high": found.high,
        "level": 0.9,
        "counted": 20,
        "right": found.right,
        "reason": None,
    }
    assert "interval" in classify("--labels-drawn", "random").stdout


def test_it_is_unknown_otherwise(model):
    assert expected()["reason"] == UNKNOWN["unknown"]
    assert expected("--labels-drawn", "chosen")["reason"] == UNKNOWN["chosen"]
    assert expected("--labels-drawn", "chosen")["estimate"] is None
    assert "unknown" in classify().stdout


def test_the_roles_of_an_export_say_which_labels_count(model):
    y = model.transduction_.astype(object)
    y[np.setdiff1d(np.arange(80), model.labelled_nodes_)] = None
    roles = ["audit", "closing", "Random", "suggested", "chosen"] * 4
    write(y, roles)
    drawn = model.labelled_nodes_[np.arange(20) % 5 < 3]
    found = expected()
    assert found["counted"] == 12
    assert found["right"] == model.expected_accuracy(drawn).right
    assert expected("--labels-drawn", "random")["counted"] == 20  # the option counts before roles
    write(y, ["suggested"] * 20)
    assert expected()["reason"] == UNKNOWN["chosen"]
    write(y, ["teacher"] * 20)  # a column that is none of ours
    assert expected()["reason"] == UNKNOWN["unknown"]
    write(y, ["audit", "", "imported", *["suggested"] * 17])
    assert "too few, 1 in place" in expected()["reason"]


def test_another_word_is_refused(model):
    answer = classify("--labels-drawn", "luck")
    assert answer.exit_code == 2
    assert "'luck' is not one of 'unknown', 'random', 'balanced', 'chosen'" in answer.output


def test_the_help_names_it():
    shown = CliRunner().invoke(app, ["classify", "--help"], env={"COLUMNS": "200"}).stdout
    assert "--labels-drawn" in shown
    assert "unknown|random|balanced|chosen" in shown


@pytest.mark.parametrize("drawn", ["random", "balanced", "chosen"])
def test_every_command_fits_the_model_that_it_says(drawn):
    for name in (*CLASSES, "label"):
        told = import_module(f"gpgc.cli.{name}{'_options' * (name == 'label')}")
        kind = getattr(told, "LabelOptions" if name == "label" else name.title())
        needed = {part.name: None for part in fields(kind) if part.default is REQUIRED}
        assert kind(**needed, drawn=drawn).settings()["labels_drawn"] == drawn
        assert "labels_drawn" not in kind(**needed).settings()


def test_labels_as_many_of_each_class_are_said(model):
    assert "class by class" in expected("--labels-drawn", "balanced")["reason"]
