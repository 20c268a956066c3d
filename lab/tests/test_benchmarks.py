"""Each benchmark on a toy size, and that the rivals do the job that they are compared in."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import gpgc
from gpgc.compute import Context
from gpgc.compute.primitives import LARGE, CompiledPrimitives
from gpgc.datasets import Dataset
from gpgc.graph import as_adjacency, normalize
from gpgc_lab.commands import benchmark as command
from gpgc_lab.datasets import random_split
from gpgc_lab.speed import growth, measure, rivals
from gpgc_lab.speed.formulations import exact, nystrom, nystrom_map, square, square_formulation
from gpgc_lab.speed.growth import block_model, draw_growth, growth_tables
from gpgc_lab.speed.label_rivals import SYSTEMS
from gpgc_lab.speed.limit import limit_tables
from gpgc_lab.speed.many_labels import PUBMED, Row, label_tables, run
from gpgc_lab.speed.propagation import propagation
from gpgc_lab.speed.start import start_tables
from gpgc_lab.speed.variants import loops
from gpgc_lab.tables import Table
from gpgc_lab.task import Task


@pytest.fixture(scope="module")
def toy() -> Dataset:
    adjacency, features, labels = block_model(150, seed=3)
    kept = sp.csr_array(np.where(np.abs(features[:, :20]) > 0.8, features[:, :20], 0))
    train, validation, test = random_split(labels, 4, 40, 60, seed=0)
    return Dataset(
        "toy", adjacency, kept.astype(float), labels, tuple("abcde"), train, validation, test
    )


@pytest.fixture(scope="module")
def task(toy) -> Task:
    return Task.of(toy)


def finite(table, *columns) -> bool:
    places = [list(table.columns).index(column) for column in columns]
    return all(np.isfinite(row[place]) and row[place] > 0 for row in table.rows for place in places)


def test_the_square_formulation_is_the_exact_covariance(task):
    wanted = gpgc.covariance(task.problem.adjacency, task.problem.features).block()
    sparse = propagation(task.problem.adjacency, np.float64)
    for aggregate in (sparse, sparse.toarray()):
        gamma = square_formulation(aggregate, task.problem.features)
        np.testing.assert_allclose(gamma, wanted, atol=1e-5 * wanted.max())


def test_nystrom_with_all_nodes_as_landmarks_is_exact(task):
    wanted = gpgc.covariance(task.problem.adjacency, task.problem.features).block()
    every = np.arange(len(task.problem.labels))
    features = nystrom_map(task.problem.adjacency, task.problem.features, every, np.float64)
    np.testing.assert_allclose(features @ features.T, wanted, atol=1e-5 * wanted.max())
    few = nystrom_map(task.problem.adjacency, task.problem.features, task.problem.train, np.float64)
    assert np.abs(few @ few.T - wanted).max() > 1e-3 * wanted.max()


def test_systems_agree_on_labels(task):
    labels = exact(task, 0.1)
    assert np.mean(square(task, 0.1, sparse=False) == labels) > 0.99
    assert np.mean(square(task, 0.1, sparse=True) == labels) > 0.99
    assert np.mean(nystrom(task, 0.1) == labels) > 0.7


def test_propagation_is_the_packages_own(task):
    wanted = normalize(as_adjacency(task.problem.adjacency))
    np.testing.assert_allclose(
        propagation(task.problem.adjacency, float).toarray(), wanted.toarray()
    )


def test_loops_are_compiled_only_where_they_are_wanted():
    pytest.importorskip("numba")
    context = Context.of("float32")
    with loops(True):
        assert isinstance(context.primitives(LARGE), CompiledPrimitives)
    with loops(False):
        assert not isinstance(context.primitives(LARGE), CompiledPrimitives)


def test_limit(toy):
    products, jobs = limit_tables([toy], quick=True)
    assert finite(products, "seconds", "product, seconds", "ratio", "κ alone, seconds")
    assert [row[1] for row in products.rows] == ["big", "broad", "broad, defaults"]
    assert finite(jobs, "seconds", "ratio")


def test_rivals(toy, monkeypatch):
    monkeypatch.setattr(rivals, "find_spec", lambda name: None)
    monkeypatch.setattr(rivals, "LARGE", 100)
    monkeypatch.setattr(rivals, "QUICK_ROWS", 50)
    (table,) = rivals.rival_tables([toy], quick=True)
    measured = [row for row in table.rows if row[3] is not None]
    assert all(row[3] > 0 for row in measured)
    assert all(row[5] > 0 for row in measured[:3])
    assert [row[1] for row in measured][:3] == ["gpgc", "Nyström per layer", "gpgc"]
    assert "estimated from 50 rows" in measured[3][1]
    assert "not installed" in table.rows[-1][1]


def test_growth(monkeypatch, tmp_path):
    monkeypatch.setattr(growth, "LINEAR_FROM", 1000)
    monkeypatch.delitem(growth.JOBS, "broad, means")
    table, exponents = growth_tables([1000, 2000], repeats=1)
    assert len(table.rows) == 2 * len(growth.JOBS)
    assert finite(table, "seconds", "over its product", "peak MB")
    assert [row[0] for row in exponents.rows] == list(growth.JOBS)
    assert all(path.stat().st_size > 1000 for path in draw_growth(table, tmp_path))


def test_sizes_double_to_a_million():
    assert growth.sizes(quick=False, huge=False) == [62500, 125000, 250000, 500000, 1000000]
    assert growth.sizes(quick=False, huge=True)[-1] == 4000000


def test_block_models_have_the_degree_and_classes_asked_for():
    adjacency, features, labels = block_model(5000, seed=0)
    assert adjacency.nnz / 5000 == pytest.approx(growth.MEAN_DEGREE, rel=0.02)
    assert (adjacency != adjacency.T).nnz == 0
    assert not adjacency.diagonal().any()
    rows, cols = adjacency.nonzero()
    assert np.mean(labels[rows] == labels[cols]) == pytest.approx(0.76, abs=0.02)
    assert features.dtype == np.float32


def test_many_labels_are_measured_once_and_those_that_do_not_finish_are_said(tmp_path, monkeypatch):
    rows = [Row("block model", n, system, 300, 8) for n in (10, 150) for system in SYSTEMS]
    rows.append(Row("vectors", 150, "gpgc, default", 300, 8))
    asked = []

    def here(job, arguments, limit):
        asked.append(arguments["row"]["system"])
        if asked[-1] == "GCN":
            raise TimeoutError("slow")
        return {**run(**arguments), "peak": 10**7}

    monkeypatch.setattr("gpgc_lab.speed.many_labels.in_own_process", here)
    for _ in range(2):
        table, targets = label_tables(None, tmp_path, rows)
        assert len(asked) == len(rows)
    assert all(row[1] is None for row in targets.rows)  # rows of the targets were not asked for
    by_system = {row[3]: row for row in table.rows[:-1]}
    assert table.rows[-1][0] == "vectors, 8 features"
    assert table.rows[-1][4] > 0
    assert by_system["GCN (did not finish)"][4:] == [None] * 7
    assert by_system["gpgc, default"][8] > 60
    assert by_system["kernel ridge"][9] is None
    assert by_system["logistic regression"][10] < 100


def test_targets_are_ratios_and_numbers_of_what_was_measured(tmp_path, monkeypatch):
    seconds = {60: 2.0, 10_000: 10.0}

    def told(job, arguments, limit):
        assert limit == 30
        used = seconds[arguments["row"]["n_labels"]]
        return {"seconds": used, "processor_seconds": 2 * used, "peak": 3e9, "feature_bytes": 1e9}

    monkeypatch.setattr("gpgc_lab.speed.many_labels.in_own_process", told)
    _, targets = label_tables(None, tmp_path, PUBMED[:4], limit=30)
    by_name = {row[0]: row[1:] for row in targets.rows}
    assert by_name["Pubmed, 10,000 labels over 60: default"] == [5.0, 5.0, 8]
    assert by_name["WordNet: GB"] == [None, None, 4]
    assert (tmp_path / "many_labels_30s.jsonl").exists()


def test_a_process_that_takes_too_long_is_given_up():
    with pytest.raises(TimeoutError, match=r"did not finish in 0.01 seconds"):
        measure.in_own_process("time:sleep", {}, limit=0.01)


def test_start():
    (table,) = start_tables(repeats=1)
    assert finite(table, "number")
    assert sum(row[3] is not None for row in table.rows) == 5


def test_memory_is_that_of_the_job(monkeypatch):
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    monkeypatch.setenv("PYTHONPATH", path)
    with pytest.raises(RuntimeError, match="numpy:missing failed in its own process"):
        measure.in_own_process("numpy:missing", {})
    answer = measure.in_own_process("held:hold", {"megabytes": 40}, cores=1)
    assert answer["cores"] == 1
    assert 38e6 < answer["peak"] < 60e6


def test_the_command_writes_tables_and_names_the_machine(tmp_path, monkeypatch):
    table = Table("start", "Start", ["what", "seconds"], [["nothing", 0.1]])
    monkeypatch.setattr("gpgc_lab.speed.start.start_tables", lambda repeats: [table])

    done = CliRunner().invoke(command.app, ["start", "--quick", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    stored = json.loads((tmp_path / "speed" / "start.json").read_text())
    assert "NumPy" in stored["start"]["notes"][-1]
    assert (tmp_path / "speed" / "start.md").exists()
    assert (tmp_path / "speed" / "start.csv").exists()
    assert sys.version.split()[0] in stored["start"]["notes"][-1]
