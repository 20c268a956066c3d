"""A user's files end to end: columns by name, texts and gaps, isolated nodes, standard input."""

import csv
import gzip
import io
import json
import sys
import types

import pytest

from tests.cli.test_own_files import classify, gpgc, one_sentence

__all__ = ["gpgc"]  # a fixture

FEATURES = """id,title,colour,size
a,graphs and words of graphs,red,1
b,more words and more graphs,red,2
c,words of graphs again,blue,
d,trees in the green wood,blue,7
e,a wood of old trees,,8
f,the wood has many trees,blue,9
"""


@pytest.fixture
def nodes(tmp_path, gpgc):
    (tmp_path / "nodes.csv").write_text(FEATURES)
    return gpgc


def table(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_texts_categories_and_gaps_are_encoded_and_said(nodes, tmp_path):
    code, out, err = classify(nodes, "--edges", "edges.csv", "--features", "nodes.csv", "--json")
    assert code == 0, err
    said = json.loads(out)["encoded"]
    assert said[0].startswith("title: text, TF-IDF of ")
    assert said[1:] == [
        "colour: 2 categories, 1 missing flagged",
        "size: number, standardized, 1 missing set to the mean and flagged",
    ]
    assert [row["label"] for row in table(tmp_path / "out.csv")] == ["left"] * 3 + ["right"] * 3
    printed = classify(nodes, "--edges", "edges.csv", "--features", "nodes.csv")[1]
    assert "2 categories, 1 missing flagged" in printed


def test_kinds_of_columns_by_option(nodes):
    features = ("--edges", "edges.csv", "--features", "nodes.csv", "--json")
    kinds = ("--encode", "title=drop", "--encode", "size=category", "--encode", "colour=text")
    said = json.loads(classify(nodes, *features, *kinds)[1])["encoded"]
    assert [phrase.partition(":")[0] for phrase in said] == ["colour", "size"]
    assert "TF-IDF" in said[0]
    wrong = one_sentence(classify(nodes, *features, "--encode", "sise=text"))
    assert "--encode must name columns among title, colour, size, got 'sise'" in wrong
    wrong = one_sentence(classify(nodes, *features, "--encode", "size"))
    assert "--encode must be NAME=VALUE, got 'size'" in wrong
    wrong = one_sentence(classify(nodes, *features, "--encode", "title=number"))
    assert "line 2: expected a finite number as title" in wrong


def test_a_number_gone_wrong_is_named_by_its_line(nodes, tmp_path):
    (tmp_path / "nodes.csv").write_text(FEATURES.replace(",8\n", ",8 kg\n"))
    wrong = one_sentence(classify(nodes, "--features", "nodes.csv"))
    assert "nodes.csv line 6: expected a finite number as size, got '8 kg'" in wrong


def test_columns_have_other_names_by_option(gpgc, tmp_path):
    (tmp_path / "edges.csv").write_text("From,to,w\na,b,1\nb,c,1\nd,e,2\ne,f,2\n")
    (tmp_path / "labels.csv").write_text("node,topic\na,left\nf,right\n")
    names = ("source=from", "target=to", "weight=w", "id=node", "label=topic")
    options = [part for name in names for part in ("--column", name)]
    assert classify(gpgc, "--edges", "edges.csv", *options)[0] == 0
    assert [row["label"] for row in table(tmp_path / "out.csv")] == ["left"] * 3 + ["right"] * 3
    wrong = one_sentence(classify(gpgc, "--edges", "edges.csv", *options[:-1], "label=subject"))
    assert "labels.csv line 1: expected a column subject for label, got node,topic" in wrong
    wrong = one_sentence(classify(gpgc, "--edges", "edges.csv", "--column", "colour=x"))
    assert "--column must be NAME=COLUMN with NAME one of id, label" in wrong


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("label=topc", "labels.csv line 1: expected a column topc for label, got id,label"),
        ("id=paper", "labels.csv line 1: expected a column paper for id, got id,label"),
        ("weight=w", "edges.csv line 1: expected a column w for weight, got source,target,weight"),
    ],
)
def test_a_column_that_is_named_must_be_there_whatever_else_is(gpgc, tmp_path, option, said):
    (tmp_path / "edges.csv").write_text("source,target,weight\na,b,1\nb,c,1\nd,e,2\n")
    (tmp_path / "labels.csv").write_text("id,label\na,left\nd,right\n")
    assert said in one_sentence(classify(gpgc, "--edges", "edges.csv", "--column", option))


def test_labels_may_be_a_column_of_the_features(gpgc, tmp_path):
    lines = FEATURES.splitlines()
    labels = ["topic", "left", "", "", "right", "", ""]
    whole = "\n".join(f"{line},{label}" for line, label in zip(lines, labels, strict=True))
    (tmp_path / "all.csv").write_text(whole + "\n")
    options = ("--features", "all.csv", "--column", "label=Topic", "--json", "--neighbors", 2)
    code, out, err = classify(gpgc, *options, labels="all.csv")
    assert code == 0, err
    assert not any("opic" in phrase for phrase in json.loads(out)["encoded"])
    assert [row["label"] for row in table(tmp_path / "out.csv")] == ["left"] * 3 + ["right"] * 3


def test_nodes_without_links_are_named_by_labels_or_a_list(gpgc, tmp_path):
    (tmp_path / "labels.csv").write_text("id,label\na,left\nd,right\nz,left\n")
    result = json.loads(classify(gpgc, "--edges", "edges.csv", "--json")[1])
    assert (result["nodes"], result["isolated"]) == (7, 1)
    assert [row["id"] for row in table(tmp_path / "out.csv")] == [*"abcdef", "z"]
    (tmp_path / "nodes.csv").write_text("id\nz\nf\ne\nd\nc\nb\na\ny\n")
    nodes = ("--edges", "edges.csv", "--nodes", "nodes.csv", "--json")
    result = json.loads(classify(gpgc, *nodes)[1])
    assert (result["nodes"], result["isolated"]) == (8, 2)
    assert [row["id"] for row in table(tmp_path / "out.csv")] == list("zfedcbay")
    (tmp_path / "labels.csv").write_text("id,label\na,left\nx,right\n")
    assert "line 3: a label for node 'x'" in one_sentence(classify(gpgc, *nodes))
    (tmp_path / "nodes.csv").write_text("id\na\nb\n")
    assert "edges.csv line 3: node 'c' as target" in one_sentence(classify(gpgc, *nodes))
    (tmp_path / "nodes.csv").write_text("id\na\na\n")
    assert "nodes.csv line 3: expected each id once" in one_sentence(classify(gpgc, *nodes))


def test_labels_that_name_no_node_of_the_graph_are_refused(gpgc, tmp_path):
    (tmp_path / "labels.csv").write_text("id,label\n1,left\n2,right\n")
    wrong = one_sentence(classify(gpgc, "--edges", "edges.csv"))
    assert "none of the labels names a node of the graph (first: '1', labels.csv line 2)" in wrong


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_dash_is_standard_input(gpgc, tmp_path, monkeypatch, pack):
    content = pack((tmp_path / "labels.csv").read_bytes())
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(content)))
    assert classify(gpgc, "--edges", "edges.csv", labels="-", out="-")[0] == 0
    wrong = one_sentence(classify(gpgc, "--edges", "-", labels="-"))
    assert "only one input can be read from standard input" in wrong
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(b"")))
    assert "standard input line 1" in one_sentence(
        classify(gpgc, "--edges", "edges.csv", labels="-")
    )


def test_parquet_with_texts_and_gaps(nodes, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    gaps = arrow_csv.ConvertOptions(strings_can_be_null=True)
    read = arrow_csv.read_csv(tmp_path / "nodes.csv", convert_options=gaps)
    assert isinstance(read, pyarrow.Table)
    parquet.write_table(read, tmp_path / "nodes.parquet")
    results = [
        json.loads(classify(nodes, "--features", name, "--json", "--neighbors", 2)[1])["encoded"]
        for name in ("nodes.csv", "nodes.parquet")
    ]
    assert results[0] == results[1]


def test_long_columns_are_numbers_or_text_by_their_first_rows(tmp_path):
    from gpgc.problem.read import read_problem

    rows = [f"n{i},{i % 7},{'uv'[i % 2]}" for i in range(1500)]
    (tmp_path / "x.csv").write_text("id,x,c\n" + "\n".join(rows) + "\n")
    table = read_problem(None, tmp_path / "x.csv", None).X
    assert [column.kind for column in table.encoder.columns] == ["number", "category"]
    assert table.shape == (1500, 3)
