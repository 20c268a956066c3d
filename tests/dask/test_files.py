"""`gpgc classify --scheduler`: Parquet in, a folder of Parquet out, whole or not at all."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip(
    "distributed", reason="gpgc.dask needs the extra dask: pip install 'gpgc[dask]'"
)

import pyarrow as pa
import pyarrow.parquet as pq
from typer.testing import CliRunner

from gpgc import GPGCClassifier
from gpgc.cli.app import app
from gpgc.dask.files import classify_parquet
from gpgc.errors import DataError, InputError
from tests.dask.conftest import make_problem


@pytest.fixture(scope="module")
def problem():
    return make_problem(n_nodes=700, n_labels=30)


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
    pq.write_table(pa.table({"id": known, "label": names}), tmp_path / "labels.parquet")
    return tmp_path


def test_the_command_writes_a_folder_of_parquet(client, files, problem):
    order = ["classify", "--scheduler", client.scheduler.address, "--json", "--standardise", "yes"]
    for name in ("edges.parquet", "features", "labels.parquet"):
        order += [f"--{name.removesuffix('.parquet')}", str(files / name)]
    found = CliRunner().invoke(app, [*order, "--out", str(files / "out")], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    result = json.loads(found.stdout)
    assert (result["nodes"], result["labels"], result["classes"]) == (700, 30, 3)
    assert result["standardised"] == "columns centred and scaled: as asked for"
    table = pq.read_table(files / "out")
    assert table.column_names == ["id", "label", "probability", "given"]
    assert table.column("id").to_pylist() == list(range(700))
    local = GPGCClassifier(standardise=True).fit(
        problem.X, problem.given, adjacency=(problem.source, problem.target)
    )
    labels = [f"class {code}" for code in local.transduction_]
    assert np.mean(np.array(labels) == np.array(table.column("label"))) >= 0.999
    assert sum(table.column("given").to_pylist()) == 30
    assert not list(files.glob(".out*"))


def classify(client, files, **changes):
    paths = {
        "edges": files / "edges.parquet",
        "features": files / "features",
        "labels": files / "labels.parquet",
        "out": files / "out",
        **changes,
    }
    return classify_parquet(**paths, settings={}, marks=["NA"], client=client)


def test_a_missing_partition_is_named_and_nothing_is_written(client, files):
    (files / "features" / "part-0.parquet").unlink()
    with pytest.raises(InputError, match=r"labels.parquet .*expected a node from 0 to 349 as id"):
        classify(client, files)
    pq.write_table(pa.table({"id": [1, 2], "label": ["a", "b"]}), files / "labels.parquet")
    pq.write_table(pa.table({"source": [1], "target": [2]}), files / "edges.parquet")
    with pytest.raises(DataError, match=r"part-1.parquet.* ids 0 to 349 in this order, got 350"):
        classify(client, files)
    assert not list(files.glob("*out*"))


def test_what_the_command_refuses(client, files):
    with pytest.raises(DataError, match="expected the column source, got id, label"):
        classify(client, files, edges=files / "labels.parquet")
    with pytest.raises(DataError, match="expected the columns id and features, got source"):
        classify(client, files, features=files / "edges.parquet")
    (files / "there").mkdir()
    with pytest.raises(InputError, match="--out must be a new folder"):
        classify(client, files, out=files / "there")


def test_options_that_do_not_go_together_are_refused():
    order = ["classify", "--labels", "l.csv", "--out", "out"]
    runner = CliRunner()

    def message(*more):
        return str(runner.invoke(app, [*order, *more]).exception)

    assert "--decision is not available with --scheduler" in message(
        "--scheduler", "local", "--decision", "balanced"
    )
    assert "--workers needs --scheduler local" in message(
        "--workers", "2", "--edges", "e", "--features", "f"
    )
    assert "--edges and --features must both be given" in message("--scheduler", "local")
