"""`gpgc classify --scheduler`: Parquet in, a folder of Parquet out, whole or not at all."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip(
    "distributed", reason="gpgc.dask needs the extra dask: pip install 'gpgc[dask]'"
)

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from typer.testing import CliRunner

from gpgc import GPGCClassifier, encode_table
from gpgc.cli.app import app
from gpgc.dask.cluster import Cluster
from gpgc.dask.parquet import parquet_edges, parquet_features
from gpgc.errors import DataError, InputError
from tests.dask.conftest import make_problem
from tests.problem.test_one_meaning import AWKWARD, awkward_frame, written

MARKED = [1, 2]
"""Nodes that stand in the file of labels as unlabelled."""


@pytest.fixture(scope="module")
def problem():
    found = make_problem(n_nodes=700, n_labels=30)
    assert (found.given[MARKED] < 0).all()
    return found


@pytest.fixture
def files(tmp_path, problem):
    """Write features in two files, edges in one of several row groups, and labels."""
    (tmp_path / "features").mkdir()
    for number, rows in enumerate(np.array_split(np.arange(700), 2)):
        columns = {f"x{column}": problem.X[rows, column] for column in range(8)}
        table = pa.table({"id": rows, **columns})
        pq.write_table(table, tmp_path / "features" / f"part-{number}.parquet")
    edges = pa.table({"source": problem.source, "target": problem.target})
    pq.write_table(edges, tmp_path / "edges.parquet", row_group_size=500)
    known = np.flatnonzero(problem.given >= 0)
    names = [f"class {code}" for code in problem.given[known]]
    marked = pa.table({"id": [*known, *MARKED], "label": [*names, "", "NA"]})
    pq.write_table(marked, tmp_path / "labels.parquet")
    return tmp_path


def order(files, client, *more):
    paths = ["--edges", str(files / "edges.parquet"), "--features", str(files / "features")]
    paths += ["--labels", str(files / "labels.parquet"), "--out", str(files / "out")]
    return ["classify", "--scheduler", client.scheduler.address, "--json", *paths, *more]


def run(files, client, *more):
    return CliRunner().invoke(app, order(files, client, *more), catch_exceptions=False)


def test_the_command_writes_a_folder_of_parquet(threads, files, problem):
    found = run(files, threads, "--standardize", "yes")
    assert found.exit_code == 0, found.output
    assert "this graph fits in memory; without --scheduler it takes about" in found.stderr
    result = json.loads(found.stdout)
    assert (result["nodes"], result["labels"], result["classes"]) == (700, 30, 3)
    assert result["unlabelled"] == len(MARKED)
    assert result["standardized"] == "columns centered and scaled"
    table = pq.read_table(files / "out")
    assert table.column_names == ["id", "label", "probability", "given"]
    assert table.column("id").to_pylist() == list(range(700))
    assert sum(table.column("given").to_pylist()) == 30
    labels = np.array(table.column("label").to_pylist())
    np.testing.assert_array_equal(labels, local_labels(problem))
    assert not list(files.glob(".out*"))


def local_labels(problem):
    local = GPGCClassifier(standardize=True).fit(
        problem.X, problem.given, adjacency=(problem.source, problem.target)
    )
    return np.array([f"class {code}" for code in local.transduction_])


@pytest.mark.parametrize("kind", ["strings", "sparse numbers"])
def test_ids_of_any_kind_give_the_same_labels_in_the_order_of_the_features(
    threads, files, problem, kind
):
    """Features in another order under other ids, which edges and labels use."""
    shuffled = np.random.default_rng(0).permutation(700)
    numbers = 1_000_000 - 37 * np.arange(700)
    name = [f"Knoten {n}" for n in numbers] if kind == "strings" else numbers.tolist()
    columns = {f"x{column}": problem.X[shuffled, column] for column in range(8)}
    for old in (files / "features").glob("*"):
        old.unlink()
    table = pa.table({"id": [name[node] for node in shuffled], **columns})
    pq.write_table(table, files / "features" / "part.parquet", row_group_size=300)
    for file, ends in (("edges", ("source", "target")), ("labels", ("id",))):
        table = pq.read_table(files / f"{file}.parquet")
        for end in ends:
            given = pa.array([name[node] for node in table.column(end).to_pylist()])
            table = table.set_column(table.column_names.index(end), end, given)
        pq.write_table(table, files / f"{file}.parquet")
    found = run(files, threads, "--standardize", "yes")
    assert found.exit_code == 0, found.output
    table = pq.read_table(files / "out")
    assert table.column("id").to_pylist() == [name[node] for node in shuffled]
    labels = np.array(table.column("label").to_pylist())
    np.testing.assert_array_equal(labels, local_labels(problem)[shuffled])
    shutil.rmtree(files / "out")
    kept = pq.read_table(files / "edges.parquet")
    stranger = "nobody" if kind == "strings" else -7
    ends = {"source": [name[0], stranger], "target": [name[1], name[2]]}
    pq.write_table(pa.concat_tables([kept, pa.table(ends)]), files / "edges.parquet")
    said = rf"edges.parquet must name ids of the features as source, got {stranger!r} in row "
    refused(files, threads, said + f"{len(kept) + 1:,}")


def refused(files, client, match, *more):
    with pytest.raises((DataError, InputError), match=match):
        run(files, client, *more)
    assert not list(files.glob("*out*"))


def test_files_that_do_not_fit_are_named_and_nothing_is_written(threads, files, problem):
    labels, edges = files / "labels.parquet", files / "edges.parquet"
    kept = pq.read_table(edges)
    pq.write_table(pa.table({"source": [1], "target": [700]}), edges)
    refused(
        files, threads, r"edges.parquet must name nodes from 0 to 699 as target, got 700 in row"
    )
    pq.write_table(pa.table({"source": ["a"], "target": ["b"]}), edges)
    refused(files, threads, r"edges.parquet must hold whole numbers as source")
    pq.write_table(kept, edges)
    pq.write_table(pa.table({"id": [1, 900], "label": ["a", "b"]}), labels)
    refused(files, threads, r"a label for node '900', which is not in the graph")
    pq.write_table(pa.table({"id": [1, 2], "label": ["NA", ""]}), labels)
    refused(files, threads, r"labels.parquet: expected at least one label, got none")
    pq.write_table(pa.table({"id": [1, 2], "label": ["a", "b"]}), labels)
    part = files / "features" / "part-1.parquet"
    table = pq.read_table(part)
    column = table.column("x3").to_numpy().copy()
    column[7] = np.nan
    pq.write_table(table.set_column(4, "x3", pa.array(column)), part)
    refused(files, threads, r"part-1.parquet, row 7: expected a finite number as x3")
    pq.write_table(pq.read_table(files / "features" / "part-0.parquet"), part)
    refused(files, threads, r"features: expected each id once, got 0 twice")
    pq.write_table(table.set_column(0, "id", pa.array([None] * len(table), pa.int64())), part)
    refused(
        files, threads, r"part-1.parquet, rows 0 to 349: expected ids that are whole numbers or"
    )


def test_files_and_row_groups_without_rows_are_passed_over(files):
    whole = parquet_features(files / "features").compute()
    table = pq.read_table(files / "features" / "part-0.parquet")
    pq.write_table(table[:0], files / "features" / "part-00.parquet")
    with pq.ParquetWriter(files / "features" / "part-1.parquet", table.schema) as file:
        for rows in (table[:0], table[:1], table[:0], table[1:]):
            file.write_table(rows)
    found = parquet_features(files / "features")
    assert found.chunks[0] == (350, 350)
    np.testing.assert_array_equal(found.compute(), np.vstack([whole[:350], whole[:350]]))


def test_a_file_that_goes_while_it_is_read_is_named(threads, files):
    frames = [part.frame for part in parquet_edges(files / "edges.parquet")]
    (files / "edges.parquet").unlink()
    with pytest.raises(DataError, match=r"edges.parquet, rows 0 to .* every worker can read"):
        Cluster(threads).fetch(frames)


def opened(fifo, seconds=300):
    """Return a FIFO that another process reads, once it does."""
    start = time.monotonic()
    while True:
        try:
            return os.fdopen(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK), "w")
        except OSError:
            assert time.monotonic() - start < seconds, f"nobody reads {fifo}"
            time.sleep(0.05)


def test_ctrl_c_ends_the_work_and_leaves_nothing(files):
    """Ctrl-C in a terminal goes to all processes; the labels come when the cluster is there."""
    labels = files / "labels.csv"
    os.mkfifo(labels)
    nobody = SimpleNamespace(scheduler=SimpleNamespace(address="local"))
    job = [sys.executable, "-m", "gpgc", *order(files, nobody, "--labels", str(labels))]
    running = subprocess.Popen(job, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        with opened(labels) as file:
            file.write("id,label\n1,a\n2,b\n")
        workers = psutil.Process(running.pid).children(recursive=True)
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=300)
    finally:
        running.kill()
    assert running.returncode == 130
    assert "Traceback" not in said
    assert workers
    assert not psutil.wait_procs(workers, timeout=300)[1]
    assert not list(files.glob("*out*"))


def test_what_is_known_without_a_cluster_is_refused_before_one_starts(files, monkeypatch):
    def start(*_):
        raise AssertionError("a cluster was started")

    monkeypatch.setattr("gpgc.dask.files.connected", start)

    nobody = SimpleNamespace(scheduler=SimpleNamespace(address="local"))
    (files / "there").mkdir()
    (files / "text").mkdir()
    pq.write_table(pa.table({"id": [0], "a": ["x"]}), files / "text" / "part.parquet")
    for match, *more in (
        ("expected the column source, got id, label", "--edges", str(files / "labels.parquet")),
        ("expected the column id, got source", "--features", str(files / "edges.parquet")),
        ("an id and columns of numbers, got a of string", "--features", str(files / "text")),
        ("--out must be a new folder", "--out", str(files / "there")),
        ("--out must not be -", "--out", "-"),
        ("expected a file or a folder", "--labels", str(files / "nowhere")),
        ("--decision is not available with --scheduler", "--decision", "balanced"),
        ("--learn is not available with --scheduler", "--learn"),
        ("--kernel is not available with --scheduler", "--kernel", "ntk"),
        ("--model must be broad with --scheduler", "--model", "sage"),
    ):
        with pytest.raises((DataError, InputError), match=match):
            CliRunner().invoke(app, order(files, nobody, *more), catch_exceptions=False)


def test_options_that_do_not_go_together_are_refused():
    order = ["classify", "--labels", "l.csv", "--out", "out"]
    runner = CliRunner()

    def message(*more):
        return str(runner.invoke(app, [*order, *more]).exception)

    assert "--workers needs --scheduler local" in message(
        "--workers", "2", "--edges", "e", "--features", "f"
    )
    said = message("--scheduler", "local")
    assert "--edges and --features must both be given with --scheduler: graphs of nearest" in said
    assert re.search(r"on this one up to about \d+\.\d GB of features", said)


@pytest.mark.parametrize("column", AWKWARD)
def test_an_awkward_column_means_what_a_frame_means_or_is_refused_by_its_name(tmp_path, column):
    frame = awkward_frame(column)
    path, made = written(tmp_path, "x.parquet", frame), encode_table(frame)
    if made.encoder is None:
        found = parquet_features(path).compute(scheduler="synchronous")
        np.testing.assert_array_equal(found, made.features)
        return
    with pytest.raises(DataError, match="column"):
        parquet_features(path).compute(scheduler="synchronous")
