"""gpgc regress, gpgc predict, and what classify saves and adds."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from gpgc import GPGCClassifier, GPGCRegressor, load
from gpgc.cli.app import app
from gpgc.errors import InputError


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def call(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments), "--json"])


@pytest.fixture
def folder(tmp_path, two_moons, monkeypatch):
    monkeypatch.chdir(tmp_path)
    features, labels, truth = two_moons
    header = ["id", "f0", "f1", "f2"]
    rows = [(f"n{node}", *map(repr, row)) for node, row in enumerate(features.tolist())]
    write("features.csv", header, rows[:70])
    write("new.csv", header, rows[70:])
    known = np.flatnonzero(labels >= 0)
    write("labels.csv", ["id", "label"], [(f"n{node}", "ab"[truth[node]]) for node in known])
    values = features[:, 0] - 2 * features[:, 1]
    write(
        "values.csv", ["id", "value"], [(f"n{n}", repr(float(values[n]))) for n in range(0, 70, 2)]
    )
    return features, values


def test_regress_writes_intervals(folder):
    features, values = folder
    done = call("regress", "--features", "features.csv", "--labels", "values.csv", "--out", "r.csv")
    assert done.exit_code == 0, done.output
    y = np.where(np.arange(70) % 2 == 0, values[:70], np.nan)
    model = GPGCRegressor().fit(features[:70], y)
    rows = read("r.csv")
    low, high = model.predict_interval(0.9)
    found = np.array([[float(row[c]) for c in ("value", "low", "high")] for row in rows])
    np.testing.assert_allclose(found, np.column_stack([model.predict(), low, high]), rtol=1e-4)
    assert [int(row["given"]) for row in rows] == [1, 0] * 35
    assert json.loads(done.output)["labels"] == 35


def test_regress_takes_other_names_and_refuses_words(folder):
    write("prices.csv", ["id", "price"], [("n0", "1.5"), ("n1", ""), ("n2", "3")])
    fixed = ["regress", "--features", "features.csv", "--out", "r.csv"]
    done = call(*fixed, "--labels", "prices.csv", "--column", "value=price")
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["unlabelled"] == 1
    write("words.csv", ["id", "value"], [("n0", "much"), ("n2", "3")])
    assert "finite number as value" in str(call(*fixed, "--labels", "words.csv").exception)
    assert "level must" in str(call(*fixed, "--labels", "values.csv", "--level", 2).exception)


def test_saved_models_label_nodes_that_join(folder):
    features, _ = folder
    fixed = ["--features", "features.csv", "--labels", "labels.csv", "--out", "p.csv"]
    done = call("classify", *fixed, "--save", "model.gpgc", "--probabilities", "all")
    assert done.exit_code == 0, done.output
    first = read("p.csv")[0]
    both = float(first["probability of a"]) + float(first["probability of b"])
    assert both == pytest.approx(1, abs=1e-5)
    done = call("predict", "model.gpgc", "--features", "new.csv", "--out", "new_labels.csv")
    assert done.exit_code == 0, done.output
    rows = read("new_labels.csv")
    assert [row["id"] for row in rows] == [f"n{node}" for node in range(70, 80)]
    assert {row["label"] for row in rows} == {"b"}
    expected = load("model.gpgc").predict_proba(features[70:])[:, 1]
    found = [float(row["probability"]) for row in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_saved_regressors_predict_with_intervals(folder):
    fixed = ["--features", "features.csv", "--labels", "values.csv", "--out", "r.csv"]
    assert call("regress", *fixed, "--save", "model.gpgc").exit_code == 0
    done = call("predict", "model.gpgc", "--features", "new.csv", "--out", "new_values.csv")
    assert done.exit_code == 0, done.output
    rows = read("new_values.csv")
    assert all(float(row["low"]) < float(row["value"]) < float(row["high"]) for row in rows)


def test_nodes_join_by_links_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("edges.csv", ["source", "target"], [("a", "b"), ("b", "c"), ("x", "y"), ("y", "z")])
    write("labels.csv", ["id", "label"], [("a", "left"), ("x", "right")])
    fixed = ["--edges", "edges.csv", "--labels", "labels.csv", "--out", "p.csv"]
    assert call("classify", *fixed, "--save", "model.gpgc").exit_code == 0
    write("links.csv", ["source", "target"], [("new", "c"), ("z", "other"), ("other", "third")])
    done = call("predict", "model.gpgc", "--edges", "links.csv", "--out", "new.csv")
    assert done.exit_code == 0, done.output
    found = {row["id"]: row["label"] for row in read("new.csv")}
    assert found["new"] == "left"
    assert found["other"] == "right"
    links = np.zeros((3, 9))
    links[0, 2] = links[1, 5] = links[1, 8] = links[2, 7] = 1
    model = GPGCClassifier().fit(
        None, ["left", None, None, "right", None, None], ([0, 1, 3, 4], [1, 2, 4, 5])
    )
    assert model.predict(adjacency=links).tolist()[:2] == ["left", "right"]
    write("links.csv", ["source", "target"], [("a", "c")])
    stopped = call("predict", "model.gpgc", "--edges", "links.csv", "--out", "new.csv").exception
    assert isinstance(stopped, InputError)


def test_links_in_both_directions_and_repeated_ones_count_once(folder):
    edges = [(f"n{node}", f"n{node + 1}") for node in range(69)]
    write("edges.csv", ["source", "target"], edges)
    given = ("--features", "features.csv", "--edges", "edges.csv", "--labels", "labels.csv")
    done = call("classify", *given, "--out", "o.csv", "--save", "m.gpgc")
    assert done.exit_code == 0, done.output
    once = [(f"n{node}", f"n{node - 60}") for node in range(70, 80)] + [("n70", "n71")]
    turned = [(target, source) for source, target in once]
    answers = []
    for links in (once, [*once, *once], [*once, *turned]):
        write("links.csv", ["source", "target"], links)
        done = call(
            *("predict", "m.gpgc", "--features", "new.csv"), "--edges", "links.csv", "--out", "p"
        )
        assert done.exit_code == 0, done.output
        answers.append(read("p"))
    assert answers[0] == answers[1] == answers[2]


def test_bad_options_are_one_sentence(folder):
    fixed = ["classify", "--features", "features.csv", "--labels", "labels.csv", "--out", "p.csv"]
    assert "is not one of 'best', 'all'" in call(*fixed, "--probabilities", "some").output
    assert "--save must" in str(call(*fixed, "--save", "labels.csv").exception)
    assert call(*fixed, "--save", "model.gpgc").exit_code == 0
    again = call("predict", "model.gpgc", "--features", "features.csv", "--out", "x.csv")
    assert "nodes that are new" in str(again.exception)
    assert "got neither" in str(call("predict", "model.gpgc", "--out", "x.csv").exception)


def test_the_table_says_what_was_done_to_the_units_of_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [(f"n{node}", 1e6 * rng.normal(), rng.normal(), node % 2) for node in range(40)]
    write("features.csv", ["id", "a", "b", "c"], rows)
    write("labels.csv", ["id", "label"], [(f"n{node}", "xy"[node % 2]) for node in range(20)])
    given = ["--features", "features.csv", "--labels", "labels.csv", "--out", "o.csv"]
    shown = CliRunner().invoke(app, ["classify", *given]).output
    assert "units of columns" in shown
    assert "and standardized" in " ".join(shown.replace("│", " ").split())
    write("values.csv", ["id", "value"], [(f"n{node}", node) for node in range(20)])
    given[3] = "values.csv"
    assert "units of columns" in CliRunner().invoke(app, ["regress", *given]).output
