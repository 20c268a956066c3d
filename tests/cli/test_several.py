"""Several rows of a node in the labels, and how much each is to be trusted."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from gpgc import GPGCClassifier, count_votes
from gpgc.cli.app import app
from gpgc.errors import InputError

EDGES = "source,target\n" + "".join(
    f"{side}{i},{side}{j}\n" for side in "lr" for i in range(6) for j in range(i)
)
IDS = [f"{side}{i}" for side in "lr" for i in (1, 0, 2, 3, 4, 5)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text(EDGES)
    return tmp_path


def call(*arguments, command="classify"):
    fixed = ["--edges", "edges.csv", "--labels", "labels.csv", "--out", "out.csv"]
    found = CliRunner().invoke(app, [command, *arguments, *fixed])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


def rows():
    with open("out.csv", newline="") as file:
        return list(csv.DictReader(file))


def adjacency():
    links = np.kron(np.eye(2), np.ones((6, 6)))
    np.fill_diagonal(links, 0)
    return links


def test_votes_are_those_of_the_function(folder):
    (folder / "labels.csv").write_text("id,label\nl0,a\nl0,a\nl0,b\nr0,b\nr1,b\n")
    call("--several", "votes", "--probabilities", "all")
    votes = count_votes([1, 1, 1, 7, 6], list("aabbb"), n_nodes=12)
    expected = GPGCClassifier().fit(None, votes, adjacency(), sample_weight=votes.weight)
    found = rows()
    assert [row["id"] for row in found] == IDS
    said = [float(row["probability of a"]) for row in found]
    np.testing.assert_allclose(said, expected.predict_proba()[:, 0], rtol=1e-4)
    assert call("--several", "votes", "--json", command="check").exit_code == 0


def test_trust_is_sample_weight(folder):
    (folder / "labels.csv").write_text("id,label,sure\nl0,a,5\nl1,b,1\nr0,b,1\nr1,b,1\n")
    call("--column", "trust=sure", "--probabilities", "all")
    y = np.full(12, None, dtype=object)
    y[[1, 0, 7, 6]] = list("abbb")
    trust = np.ones(12)
    trust[1] = 5
    expected = GPGCClassifier().fit(None, y, adjacency(), sample_weight=trust)
    said = [float(row["probability of a"]) for row in rows()]
    np.testing.assert_allclose(said, expected.predict_proba()[:, 0], rtol=1e-4)


def test_several_labels_a_node(folder):
    lines = ["l0,red", "l0,round", "l1,red", "l1,round", "r0,red", "r1,red"]
    (folder / "labels.csv").write_text("\n".join(["id,label", *lines]) + "\n")
    call("--several", "labels", "--probabilities", "all")
    found = {row["id"]: row for row in rows()}
    assert json.loads(found["l4"]["labels"]) == ["red", "round"]
    assert json.loads(found["r4"]["labels"]) == ["red"]
    assert found["l0"]["given"] == "1"
    assert found["l4"]["given"] == "0"
    assert float(found["r4"]["probability of red"]) > float(found["r4"]["probability of round"])


@pytest.mark.parametrize(
    ("labels", "options", "said"),
    [
        ("id,label\nl0,a\nl0,b\nr0,b\n", [], "line 3: 'l0' has a second label; .*--several votes"),
        ("id,label,w\nl0,a,0\nr0,b,1\n", ["--column", "trust=w"], "line 2: expected a trust above"),
        ("id,label,w\nl0,a,x\nr0,b,1\n", ["--column", "trust=w"], "line 2: expected a finite"),
        ("id,label\nl0,a\nr0,b\n", ["--column", "trust=w"], "expected a column w for trust"),
        (
            "id,label\nl0,a\nr0,b\n",
            ["--several", "labels", "--novelty"],
            "--novelty is not available",
        ),
        ("id,label\nl0,a\nr0,b\n", ["--encode", "x=text"], "--encode needs --features"),
    ],
)
def test_what_is_wrong_is_said(folder, labels, options, said):
    (folder / "labels.csv").write_text(labels)
    with pytest.raises(InputError, match=said):
        call(*options)


@pytest.mark.parametrize(
    ("command", "word", "known"),
    [("classify", "opinions", "'votes', 'labels'"), ("check", "labels", "'votes'")],
)
def test_other_words_than_those_of_the_command_are_refused(folder, command, word, known):
    (folder / "labels.csv").write_text("id,label\nl0,a\nr0,b\n")
    order = [command, "--labels", "labels.csv", "--out", "out.csv", "--several", word]
    done = CliRunner().invoke(app, order, env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert "--several" in done.output
    assert f"{word!r} is not" in done.output  # "one of" where there are several
    assert known in done.output


def test_evaluate_hides_each_label_once(folder):
    lines = [f"{side}{i},{side}" for side in "lr" for i in range(4)]
    (folder / "labels.csv").write_text("\n".join(["id,label", *lines]) + "\n")
    found = json.loads(call("--splits", "4", "--json", command="evaluate").output)
    assert found["accuracy"] == 1
    assert found["confused"] == []
    assert {row["id"] for row in rows()} == {line.split(",")[0] for line in lines}
    assert all(row["label"] == row["predicted"] for row in rows())
