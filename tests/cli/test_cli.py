"""The command line as a user meets it: by its output and exit code."""

import csv
import json
import re

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc import GPGCClassifier
from gpgc.cli.output import check_out
from gpgc.errors import InputError
from tests.cli.commands import run as gpgc
from tests.cli.commands import start

EDGES = "source,target\na,b\nb,c\nd,e\ne,f\n"
LABELS = "id,label\na,left\nc,left\nd,right\nf,right\nb,\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "labels.csv").write_text(LABELS)
    return tmp_path


def classify(folder, *more):
    return gpgc("classify", "--labels", "labels.csv", "--out", "out.csv", *more, cwd=folder)


def read(folder):
    with (folder / "out.csv").open() as file:
        return list(csv.DictReader(file))


def test_run_digits_needs_nothing_and_is_accurate():
    done = start("run", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["dataset"] == "digits"
    assert result["accuracy"] >= 0.93
    assert result["labels"] == 100
    assert {"log_loss", "seconds", "peak_memory_mb", "nodes", "edges"} <= set(result)
    assert all(line.startswith("gpgc: labelling digits") for line in done.stderr.splitlines())


def test_run_prints_one_table():
    done = gpgc("run")
    assert done.returncode == 0
    assert re.search("weights of the views *│ *graph ", done.stdout)
    for word in ("nodes", "edges", "labels", "model", "accuracy", "log loss", "seconds", "memory"):
        assert word in done.stdout
    assert gpgc("run", "--quiet").stdout == ""


def test_features_of_what_is_no_image_are_refused():
    done = gpgc("run", "digits", "--features", "pixels")
    assert done.returncode != 0
    assert "--features applies to mnist, svhn and cifar10 only" in done.stderr


def test_version_and_help():
    assert gpgc("--version").stdout.startswith("gpgc ")
    for command in ((), ("run",), ("classify",)):
        assert gpgc(*command, "--help").returncode == 0
    assert gpgc("--help").stdout.count("classify") == 1


def test_classify_by_edges_alone(files):
    arguments = ("--edges", "edges.csv", "--labels", "labels.csv", "--out", "out.csv")
    done = start("classify", *arguments, cwd=files)
    assert done.returncode == 0, done.stderr
    rows = read(files)
    assert list(rows[0]) == ["id", "label", "probability", "std", "given"]
    assert [row["id"] for row in rows] == list("abcdef")
    assert [row["label"] for row in rows] == ["left"] * 3 + ["right"] * 3
    assert [row["given"] for row in rows] == ["1", "0", "1", "1", "0", "1"]
    assert all(0 < float(row["probability"]) <= 1 and float(row["std"]) >= 0 for row in rows)


def test_classify_by_features_alone(files):
    (files / "x.csv").write_text(
        "id,h,v\n"
        + "".join(
            f"{name},{9 * (i // 3) + 1},{i % 3 + 9 * (i < 3)}\n" for i, name in enumerate("abcdef")
        )
    )
    done = classify(files, "--features", "x.csv", "--neighbors", 2, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["nodes"] == 6
    assert [row["label"] for row in read(files)] == ["left"] * 3 + ["right"] * 3


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_classify_by_arrays_whose_rows_are_ids(tmp_path, kind):
    matrix = np.eye(4)
    if kind == "npy":
        np.save(tmp_path / "x.npy", matrix)
    else:
        sp.save_npz(tmp_path / "x.npz", sp.csr_array(matrix))
    (tmp_path / "edges.csv").write_text("source,target,weight\n0,1,2.5\n2,3,1\n")
    (tmp_path / "labels.csv").write_text("id,label\n0,x\n3,y\n")
    done = classify(tmp_path, "--edges", "edges.csv", "--features", f"x.{kind}", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [row["label"] for row in read(tmp_path)] == ["x", "x", "y", "y"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("edges.csv", "", "edges.csv line 1: expected a header, the file is empty"),
        ("edges.csv", "source,target\n", "edges.csv line 2: expected at least one edge"),
        ("edges.csv", "from,to\na,b\n", "edges.csv line 1: expected the columns source,target"),
        ("edges.csv", "source,target\na\n", "edges.csv line 2: expected 2 values, got 1"),
        ("edges.csv", "source,target\na,\n", "edges.csv line 2: expected a node id as target"),
        ("edges.csv", "source,target,weight\na,b,-1\n", "line 2: expected a weight of at least 0"),
        ("edges.csv", "source,target,weight\na,b,nan\n", "line 2: expected a finite number"),
        ("edges.csv", "source,target,weight\na,b,x\n", "line 2: expected a finite number.*'x'"),
        ("labels.csv", "id\na\n", "labels.csv line 1.*without label"),
        ("labels.csv", "id,label\nz,left\n", "none of the labels.*'z', .*labels.csv line 2"),
        ("labels.csv", "id,label\na,l\na,r\n", "labels.csv line 3: 'a' has a second label"),
        ("labels.csv", "id,label\na,\n", "labels.csv: expected at least one label"),
    ],
)
def test_wrong_files_end_with_one_sentence(files, name, content, words):
    import re

    (files / name).write_text(content)
    done = classify(files, "--edges", "edges.csv")
    assert done.returncode == 2
    assert re.search(words, done.stderr), done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert not (files / "out.csv").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("name,x\na,1\n", "expected a header with a column id"),
        ("id\na\n", "at least one feature"),
        ("id,x\n", "at least one node"),
        ("id,x\na,1\na,2\n", "line 3: expected each id once"),
        ("id,x\na,1\nb,2\nc,one\n", "line 4: expected a finite number as x, got 'one'"),
        ("id,x\na,inf\n", "finite number"),
        ("id,x\na,1,2\n", "expected 2 values, got 3"),
        ("id,x\na,1\nb,2\n", "edges.csv line 3: node 'c' as target has no row in the features"),
    ],
)
def test_wrong_features_end_with_one_sentence(files, content, words):
    (files / "x.csv").write_text(content)
    done = classify(files, "--edges", "edges.csv", "--features", "x.csv")
    assert done.returncode == 2
    assert words in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "atlantis"), "digits, cora, citeseer, pubmed, mnist, svhn, cifar10"),
        (("run", "--model", "huge"), "'huge' is not one of 'broad', 'big'"),
        (("run", "--base-kernel", "cubic"), "'cubic' is not one of 'inner_product', 'arc_cosine'"),
        (("run", "--noise", "some"), "noise_variance must be"),
        (("run", "--depth", "0"), "depth must be"),
        (("run", "--data-dir", "/nowhere/at/all"), "--data-dir is not used by digits"),
        (("classify", "--labels", "none.csv", "--out", "o.csv"), "--edges and --features"),
        (("classify", "--edges", "none.csv", "--labels", "l", "--out", "o"), "none.csv: expected"),
        (("classify",), "Missing option"),
    ],
)
def test_wrong_arguments_exit_with_2(arguments, words, tmp_path):
    done = gpgc(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_wrong_arrays_are_named(files):
    np.save(files / "x.npy", np.ones(3))
    assert "expected a 2-D matrix" in classify(files, "--features", "x.npy").stderr
    (files / "x.npy").write_bytes(b"not an array")
    done = classify(files, "--features", "x.npy")
    assert done.returncode == 2
    assert "expected a NumPy array" in done.stderr


def test_other_bytes_and_odd_outputs_are_sentences_too(files):
    (files / "edges.csv").write_bytes(b"source,target\na,b\n\xff\xfe,c\n")
    done = classify(files, "--edges", "edges.csv")
    assert (done.returncode, "UTF-8" in done.stderr) == (2, True)
    (files / "edges.csv").write_text(EDGES)
    (files / "out.csv").mkdir()
    done = classify(files, "--edges", "edges.csv")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


def test_output_folder_must_exist(files):
    done = start(
        "classify", "--edges", "edges.csv", "--labels", "labels.csv", "--out", "no/out.csv",
        cwd=files,
    )  # fmt: skip
    assert done.returncode == 2
    assert "folder that exists" in done.stderr


def test_suggest_from_nothing_and_from_labels(files):
    (files / "candidates.csv").write_text("id\nb\ne\na\n")
    (files / "costs.csv").write_text("id,cost\nb,1000\n")
    done = gpgc(
        *("suggest", "--edges", "edges.csv", "--n", 2, "--out", "out.csv", "--json"), cwd=files
    )
    assert done.returncode == 0, done.stderr
    rows = read(files)
    assert list(rows[0]) == ["rank", "id", "gain"]
    assert [row["rank"] for row in rows] == ["1", "2"]
    assert json.loads(done.stdout)["suggested"] == [row["id"] for row in rows]
    done = gpgc(
        *("suggest", "--edges", "edges.csv", "--labels", "labels.csv", "--out", "out.csv"),
        *("--candidates", "candidates.csv", "--costs", "costs.csv"),
        cwd=files,
    )
    assert done.returncode == 0, done.stderr
    assert [row["id"] for row in read(files)] == ["e", "b"]


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("candidates", "id\nz\n", "'z' is not in the graph"),
        ("candidates", "id\n", "at least one candidate"),
        ("costs", "id,cost\na,-1\n", "above 0"),
    ],
)
def test_suggest_refuses_wrong_files(files, name, content, word):
    (files / "wrong.csv").write_text(content)
    done = gpgc(
        *("suggest", "--edges", "edges.csv", "--out", "out.csv", f"--{name}", "wrong.csv"),
        cwd=files,
    )
    assert done.returncode == 2
    assert word in done.stderr
    assert not (files / "out.csv").exists()


def test_out_is_no_input_and_in_a_folder(tmp_path):
    inside, outside = tmp_path / "a.csv", tmp_path / "no" / "b.csv"
    for out in (inside, outside):
        with pytest.raises(InputError, match="--out"):
            check_out(out, [inside, None])


@pytest.mark.parametrize("model", ["small", "big", "broad"])
def test_a_node_of_which_nothing_is_known_is_least_certain(model):
    features = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1], [0, 0]])
    estimator = GPGCClassifier(model=model)
    estimator.fit(features, [0, -1, 1, -1, -1], adjacency=([0, 2], [1, 3]))
    _, std = estimator.predict_latent(return_std=True)
    assert std.argmax() == 4


def test_leaving_the_one_label_of_each_class_out_is_a_dash(files):
    (files / "labels.csv").write_text("id,label\na,left\nd,right\n")
    done = classify(files, "--edges", "edges.csv")
    assert re.search(r"accuracy, leave-one-out\W+–", done.stdout)
    done = classify(files, "--edges", "edges.csv", "--json")
    assert json.loads(done.stdout)["loo_accuracy"] is None


def test_error_bars_of_the_file_are_those_of_predict_latent(files):
    (files / "features.csv").write_text("id,x,y\na,1,0\nb,1,0\nc,0,1\nd,0,1\ne,0,0\nf,0,0\n")
    (files / "edges.csv").write_text("source,target\na,b\nc,d\n")
    (files / "labels.csv").write_text("id,label\na,left\nc,right\n")
    done = classify(files, "--edges", "edges.csv", "--features", "features.csv")
    assert done.returncode == 0, done.stderr
    with (files / "out.csv").open() as file:
        written = [float(row["std"]) for row in csv.DictReader(file)]
    X = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1], [0, 0], [0, 0]])
    fitted = GPGCClassifier().fit(X, [0, -1, 1, -1, -1, -1], adjacency=([0, 2], [1, 3]))
    _, std = fitted.predict_latent(return_std=True)
    np.testing.assert_allclose(written, std, rtol=1e-4)
    np.testing.assert_allclose(std[4:], 1, atol=1e-6)


def test_a_choice_that_there_is_not_is_said_in_our_words(files):
    done = classify(files, "--edges", "edges.csv", "--model", "gat")
    assert done.returncode == 2
    assert "'--model': 'gat' is not one of 'broad', 'big'" in done.stderr
