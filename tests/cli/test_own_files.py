"""Files as users have them, and where results go: no traceback, nothing replaced."""

import csv
import gzip
import io
import json
import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp

from tests.cli.commands import run

EDGES = "source,target\na,b\nb,c\nd,e\ne,f\n"
LABELS = "id,label\na,left\nc,left\nd,right\nf,right\nb,\n"


@pytest.fixture
def gpgc(tmp_path, monkeypatch):
    """Run a command in a folder with a small graph; return exit code, output and errors."""
    (tmp_path / "edges.csv").write_text(EDGES)
    (tmp_path / "labels.csv").write_text(LABELS)
    monkeypatch.chdir(tmp_path)

    def run_here(*arguments):
        done = run(*arguments)
        assert "Traceback" not in done.stderr
        return done

    return run_here


def classify(gpgc, *more, labels="labels.csv", out="out.csv"):
    return gpgc("classify", "--labels", labels, "--out", out, *more)


def one_sentence(answer):
    code, out, err = answer
    assert (code, out, err.count("\n")) == (2, "", 1), answer
    return err


# --- where results go


def test_a_dash_is_standard_output(gpgc, tmp_path):
    code, out, err = classify(gpgc, "--edges", "edges.csv", out="-")
    assert code == 0
    assert [row["id"] for row in csv.DictReader(io.StringIO(out))] == list("abcdef")
    assert "labels given" in err
    assert not (tmp_path / "-").exists()
    code, out, err = classify(gpgc, "--edges", "edges.csv", "--json", out="-")
    assert (json.loads(err)["nodes"], out.splitlines()[0]) == (6, "id,label,probability,std,given")
    code, out, _ = gpgc("suggest", "--edges", "edges.csv", "--out", "-", "-n", 2, "--quiet")
    assert (code, len(out.splitlines())) == (0, 3)


def test_links_modes_devices_and_fifos_stay_what_they_are(gpgc, tmp_path):
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to("target.csv")
    assert classify(gpgc, "--edges", "edges.csv", out="link.csv")[0] == 0
    assert link.is_symlink()
    assert target.read_text().startswith("id,label")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert classify(gpgc, "--edges", "edges.csv", out="/dev/null")[0] == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    fifo, got = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: got.append(fifo.read_text()))
    reader.start()
    assert classify(gpgc, "--edges", "edges.csv", out="fifo")[0] == 0
    reader.join(10)
    assert got[0].startswith("id,label")
    assert stat.S_ISFIFO(fifo.stat().st_mode)


# --- marks of the unlabelled


@pytest.mark.parametrize("mark", ["", "-1", "nan", "NaN", "NA", "None"])
def test_marks_of_the_unlabelled_are_counted(gpgc, tmp_path, mark):
    (tmp_path / "labels.csv").write_text(f"id,label\na,left\nd,right\nb,{mark}\ne,{mark}\n")
    code, out, _ = classify(gpgc, "--edges", "edges.csv", "--json")
    result = json.loads(out)
    assert (code, result["classes"], result["labels"], result["unlabelled"]) == (0, 2, 2, 2)
    assert "marked as unlabelled" in classify(gpgc, "--edges", "edges.csv")[1]


def test_marks_may_be_replaced(gpgc, tmp_path):
    (tmp_path / "labels.csv").write_text("id,label\na,-1\nd,NA\nb,?\ne,x\n")
    marks = ("--unlabelled", "?", "--unlabelled", "x")
    code, out, _ = classify(gpgc, "--edges", "edges.csv", "--json", *marks)
    assert (code, json.loads(out)["classes"], json.loads(out)["unlabelled"]) == (0, 2, 2)
    with (tmp_path / "out.csv").open() as file:
        assert {row["label"] for row in csv.DictReader(file)} == {"-1", "NA"}
    (tmp_path / "labels.csv").write_text("id,label\na,1\nd,\n")
    answer = classify(gpgc, "--edges", "edges.csv", *marks)
    assert "line 3: expected a label or one of" in one_sentence(answer)


def test_one_class_is_a_warning_in_one_sentence(gpgc, tmp_path):
    (tmp_path / "labels.csv").write_text("id,label\na,left\n")
    code, _, err = classify(gpgc, "--edges", "edges.csv", "--quiet")
    assert (code, err.count("\n")) == (0, 1)
    assert err.startswith("gpgc: warning: y names one class only, 'left'")


# --- tables of other kinds


def test_tsv_gzip_and_headers_in_any_case(gpgc, tmp_path):
    (tmp_path / "edges.tsv").write_text(EDGES.replace(",", "\t").upper())
    (tmp_path / "labels.csv.gz").write_bytes(
        gzip.compress(LABELS.upper().replace("ID,LABEL", "ID,Label").encode())
    )
    code, out, err = classify(gpgc, "--edges", "edges.tsv", "--json", labels="labels.csv.gz")
    assert code == 0, err
    assert json.loads(out)["labels"] == 4


def test_semicolons_say_what_to_do(gpgc, tmp_path):
    (tmp_path / "edges.csv").write_text(EDGES.replace(",", ";"))
    assert "semicolons" in one_sentence(classify(gpgc, "--edges", "edges.csv"))


def test_a_fifo_is_read(gpgc, tmp_path):
    fifo = tmp_path / "edges.fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_text, args=(EDGES,))
    writer.start()
    assert classify(gpgc, "--edges", fifo)[0] == 0
    writer.join(10)


def test_fewer_suggestions_than_asked_for_are_said(gpgc):
    edges = ("--edges", "edges.csv", "--labels", "labels.csv")
    code, out, err = gpgc("suggest", *edges, "-n", 100, "--out", "o.csv", "--json")
    assert (code, len(json.loads(out)["suggested"])) == (0, 2)
    assert err == "gpgc: 100 nodes were asked for, 2 are left to suggest\n"


# --- what gave tracebacks


@pytest.mark.parametrize("name", ["[/b]", "[bold", "[link=x]y[/link]", "a]", "[/]"])
def test_ids_and_files_with_brackets(gpgc, tmp_path, name):
    (tmp_path / "[b].csv").write_text(EDGES.replace("a,", f"{name},"))
    code, out, err = gpgc("suggest", "--edges", "[b].csv", "-n", 6, "--out", "[red].csv")
    assert (code, err) == (0, "")
    assert "gpgc · [b].csv" in out
    assert "[red].csv" in out
    assert name in "".join(line.strip("│ ") for line in out.splitlines())


def test_long_headers_and_cells(gpgc, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target," + "x" * 200_000 + "\na,b,c\n")
    assert "line 1" in one_sentence(classify(gpgc, "--edges", "edges.csv"))
    (tmp_path / "x.csv").write_text("id," + "x" * 200_000 + "\na,1\n")
    assert "line 1" in one_sentence(classify(gpgc, "--features", "x.csv"))


def arrays():
    yield "nan", np.array([[1.0, np.nan]] * 4), "finite numbers"
    yield "inf", np.array([[1.0, np.inf]] * 4), "finite numbers"
    yield "no columns", np.ones((4, 0)), "one row and one column"
    yield "no rows", np.ones((0, 4)), "one row and one column"
    yield "large", np.full((4, 2), 1e300), "at most 1e\\+150"
    yield "complex", np.ones((4, 2), dtype=complex), "matrix of numbers"
    yield "text", np.array([["a", "b"]] * 4), "matrix of numbers"


@pytest.mark.parametrize(("matrix", "words"), [case[1:] for case in arrays()])
def test_wrong_arrays_end_with_one_sentence(gpgc, tmp_path, matrix, words):
    np.save(tmp_path / "x.npy", matrix)
    (tmp_path / "labels.csv").write_text("id,label\n0,x\n3,y\n")
    err = one_sentence(classify(gpgc, "--features", "x.npy"))
    assert words.replace("\\", "") in err


def test_a_header_that_claims_too_much(gpgc, tmp_path):
    from tests.files.test_arrays import CLAIM, npy_bytes

    (tmp_path / "x.npy").write_bytes(npy_bytes(CLAIM))
    assert "800,000,000,000 bytes" in one_sentence(classify(gpgc, "--features", "x.npy"))


def test_large_numbers_in_tables(gpgc, tmp_path):
    (tmp_path / "x.csv").write_text("id,x\na,1e300\nb,1\n")
    assert "at most 1e+150" in one_sentence(classify(gpgc, "--features", "x.csv"))
    (tmp_path / "edges.csv").write_text("source,target,weight\na,b,1e300\n")
    assert "at most 1e+150" in one_sentence(classify(gpgc, "--edges", "edges.csv"))


def test_a_sparse_shape_beyond_all_memory(gpgc, tmp_path):
    parts = {"data": np.ones(1), "indices": np.zeros(1, int), "indptr": np.array([0, 1, 1, 1, 1])}
    for columns in (2**40, 2**31 - 1):
        np.savez(tmp_path / "x.npz", **parts, shape=np.array([4, columns]), format=b"csr")
        code, _, err = classify(gpgc, "--features", "x.npz")
        assert (code, err.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"indices": np.array([0, 10**8, 2, 3])},
        {"indices": np.array([0, -5, 2, 3])},
        {"indptr": np.array([0, 3, 1, 3, 4])},
    ],
)
def test_wrong_indices_do_not_crash_the_process(tmp_path, change):
    good = sp.csr_array(np.eye(4))
    parts = {"data": good.data, "indices": good.indices, "indptr": good.indptr}
    np.savez(tmp_path / "x.npz", **parts | change, shape=np.array([4, 4]), format=b"csr")
    (tmp_path / "labels.csv").write_text("id,label\n0,x\n3,y\n")
    command = ["classify", "--features", "x.npz", "--labels", "labels.csv", "--out", "out.csv"]
    done = subprocess.run(
        [sys.executable, "-m", "gpgc", *command], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "x.npz" in done.stderr
