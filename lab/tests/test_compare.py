"""Systems side by side: good ones, bad ones, slow ones, and comparisons that were interrupted."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from typer.testing import CliRunner

from gpgc.cli.app import app
from gpgc.errors import DataError, InputError
from gpgc_lab import published
from gpgc_lab.baselines import Problem
from gpgc_lab.comparison.bar_chart import draw_accuracies
from gpgc_lab.comparison.make_task import known_task, own_task
from gpgc_lab.comparison.runs import FIELDS, RunOptions, latest, made_before, run_file
from gpgc_lab.comparison.summary import compare, compare_table, summarise, wanted_systems
from gpgc_lab.comparison.systems import NAMES, code_of, find_system
from gpgc_lab.journal import StudyJournal
from gpgc_lab.locations import StudyFolder, stored_results
from gpgc_lab.report.section import read_tables
from gpgc_lab.studies.runtime import PROBE_EPOCHS, runtime_tables
from gpgc_lab.task import Task

STUBS = """
import os, time
from pathlib import Path
import numpy as np
from gpgc_lab.baselines import Prediction

def good(problem, seed, epochs=None):
    assert os.environ["OMP_NUM_THREADS"] == "1"
    assert (problem.labels >= 0).sum() == len(problem.train) + len(problem.validation)
    side = np.arange(len(problem.labels)) >= len(problem.labels) // 2
    return Prediction(np.where(side[:, None], [0.1, 0.9], [0.9, 0.1]), 0.5, 0.25, epochs)

def bad(problem, seed):
    raise ValueError("no luck today")

def slow(problem, seed):
    Path(__file__).with_name("slow.pid").write_text(str(os.getpid()))
    time.sleep(900)

def infinite(problem, seed):
    return Prediction(np.full((len(problem.labels), problem.n_classes), np.nan), 0.5, 0.25)

def lacking(problem, seed):
    import torch_geometric.nonsense
"""


@pytest.fixture
def stubs(tmp_path, monkeypatch):
    (tmp_path / "stub_systems.py").write_text(STUBS)
    monkeypatch.syspath_prepend(tmp_path)
    places = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, places)))


@pytest.fixture
def task():
    """A chain of twenty nodes, the first half of one class, the second half of the other."""
    chain = csr_array(np.diag(np.ones(19), 1) + np.diag(np.ones(19), -1))
    truth = np.repeat([0, 1], 10)
    labels = np.full(20, -1)
    train, validation, test = np.array([0, 19]), np.array([2, 17]), np.array([5, 6, 13, 14])
    labels[[0, 19, 2, 17]] = truth[[0, 19, 2, 17]]
    problem = Problem(chain, np.eye(2)[truth] + np.eye(20, 2) / 9, labels, train, validation, 2)
    return Task("chain", problem, test, truth[test])


def folder_of(out):
    return StudyFolder(out, out / "nothing stored")


def run(task, systems, out, seeds=1, **options):
    steps = []
    options = RunOptions("gpgc compare chain", **options)
    return compare(task, systems, seeds, folder_of(out), options, steps.append), steps


def test_one_that_fails_and_one_out_of_time_do_not_stop_the_others(stubs, task, tmp_path):
    systems = [f"stub_systems:{name}" for name in ("bad", "infinite", "lacking", "good")]
    late, _ = run(task, ["stub_systems:slow"], tmp_path, time_limit=1.0)
    runs, _ = run(task, systems, tmp_path, parallel=2)
    slow, bad, infinite, lacking, good = summarise("chain", [*late, *runs])
    assert slow.remark == "over 1 s"
    assert bad.remark == "failed: ValueError: no luck today"
    assert "expected finite probabilities of shape (20, 2)" in infinite.remark
    assert "torch_geometric" in lacking.remark
    assert 'pip install "./lab[baselines]"' in lacking.remark
    assert good.remark == ""
    assert good.accuracies() == [100.0]
    assert good.values("log_loss") == [pytest.approx(-np.log(0.9))]
    assert good.values("train_seconds") == [0.5]
    assert good.values("peak_memory_mb")[0] > 10
    table = compare_table("chain", [slow, good])
    assert table.rows[0][1] is None
    assert table.rows[0][-1] == "over 1 s"
    assert table.rows[1][1] == 100.0
    chart = draw_accuracies("chain", [slow, good], tmp_path)
    assert {path.suffix for path in chart} == {".png", ".svg"}


def test_what_is_done_is_not_done_again(stubs, task, tmp_path):
    systems = ["stub_systems:good", "stub_systems:bad"]
    first, _ = run(task, systems, tmp_path)
    path = run_file(folder_of(tmp_path), "chain").new.path
    assert len(StudyJournal(path, fields=FIELDS).records) == 2
    second, steps = run(task, systems, tmp_path, seeds=2)
    assert "3 of 4 runs to do" in steps[0]  # the other seed of both, and what had failed
    assert second[0] == first[0]
    assert len(StudyJournal(path, fields=FIELDS).records) == 5
    assert len(latest(StudyJournal(path, fields=FIELDS).records)) == 4
    _, steps = run(task, systems[:1], tmp_path, fresh=True)
    assert "1 of 1 runs to do" in steps[0]


def test_another_split_or_an_edited_method_is_another_run(stubs, task, tmp_path, monkeypatch):
    run(task, ["stub_systems:good"], tmp_path)
    other = Task(task.name, task.problem, task.test[:2], task.truth[:2])
    _, steps = run(other, ["stub_systems:good"], tmp_path)
    assert "1 of 1 runs to do" in steps[0]
    code = tmp_path / "stub_systems.py"
    code.write_text(code.read_text() + "\n# edited\n")
    _, steps = run(task, ["stub_systems:good"], tmp_path)
    assert "1 of 1 runs to do" in steps[0]


def test_the_version_alone_makes_no_new_run(stubs, task, tmp_path, monkeypatch):
    run(task, ["stub_systems:good"], tmp_path)
    monkeypatch.setattr("gpgc.__version__", "99")
    _, steps = run(task, ["stub_systems:good"], tmp_path)
    assert "0 of 1 runs to do" in steps[0]


def test_code_that_a_method_imports_from_its_folder_is_its_own(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "my_method.py").write_text("import my_helper\n\nrun = my_helper.run\n")
    (tmp_path / "my_helper.py").write_text("run = 1\n")
    before = code_of("my_method:run")
    (tmp_path / "my_helper.py").write_text("run = 2\n")
    assert code_of("my_method:run") != before
    assert code_of("GCN") == code_of("GCN-64") != code_of("GAT")
    assert code_of("GPGC") == code_of("GPGC-big")


def older(run):
    return {key: value for key, value in run.items() if key != "code"} | {"version": "0.1.0"}


def test_runs_of_version_0_1_stand_for_systems_of_the_paper_and_are_marked(stubs, task, tmp_path):
    systems = ["LP", "stub_systems:good"]
    runs, _ = run(task, systems, tmp_path)
    stored = tmp_path / "stored" / "compare_chain_runs.jsonl"
    stored.parent.mkdir()
    stored.write_text("".join(json.dumps(older(one)) + "\n" for one in runs))
    before = stored.read_bytes()
    steps, new = [], StudyFolder(tmp_path / "new", tmp_path / "stored")
    again = compare(task, systems, 1, new, RunOptions("again"), steps.append)
    assert "1 of 2 runs to do" in steps[0]
    lp, good = summarise("chain", again)
    assert (lp.system, lp.remark) == ("LP", "made before, by gpgc 0.1.0")
    assert (good.system, good.remark) == ("stub_systems:good", "")
    assert stored.read_bytes() == before
    assert len(StudyJournal(new.out / stored.name).records) == 1


def test_runs_that_other_code_made_are_kept_and_ours_made_again(task, tmp_path):
    (before,), _ = run(task, ["GPGC"], tmp_path)
    path = run_file(folder_of(tmp_path), "chain").new.path
    path.write_text(json.dumps({**before, "code": "of before", "version": "0.9"}) + "\n")
    (kept,) = summarise("chain", latest(run_file(folder_of(tmp_path), "chain").records))
    assert kept.remark == "made before, by gpgc 0.9"
    (again,), steps = run(task, ["GPGC"], tmp_path)
    assert "1 of 1 runs to do" in steps[0]
    assert again["accuracy"] == before["accuracy"]
    assert len(run_file(folder_of(tmp_path), "chain").records) == 2


def test_files_of_version_0_1_are_read():
    path = Path(__file__).parents[2] / "tests" / "compatibility" / "v0_1"
    runs = StudyJournal(path / "compare_cora_runs.jsonl", fields=FIELDS).records
    assert latest(runs)
    assert StudyJournal(path / "active_runs.jsonl", fields=("key", "measured")).records
    for stored in (path / "images_runs.jsonl", *stored_results().rglob("*_runs.jsonl")):
        records = StudyJournal(stored).records
        assert len(records) == len(stored.read_text().splitlines())
    records = StudyJournal(path / "images_runs.jsonl").records
    newest = {one["system"]: one for one in records if "system" in one}
    assert newest
    assert all(map(made_before, newest.values()))
    (*_, table) = read_tables(path / "citation.json")
    assert "±" in table.rows[0][1]


def test_out_of_time_is_tried_again_only_with_more_time(stubs, task, tmp_path):
    run(task, ["stub_systems:slow"], tmp_path, time_limit=0.2)
    _, steps = run(task, ["stub_systems:slow"], tmp_path, time_limit=0.1)
    assert "0 of 1 runs to do" in steps[0]
    _, steps = run(task, ["stub_systems:slow"], tmp_path, time_limit=0.3)
    assert "1 of 1 runs to do" in steps[0]


def test_a_line_that_was_cut_off_is_dropped(stubs, task, tmp_path):
    run(task, ["stub_systems:good"], tmp_path)
    path = run_file(folder_of(tmp_path), "chain").new.path
    with path.open("a") as file:
        file.write('{"system": "stub')
    run(task, ["stub_systems:good"], tmp_path, seeds=2)
    assert [json.loads(line)["seed"] for line in path.read_text().splitlines()] == [0, 1]


def test_a_damaged_file_of_runs_is_named(task, tmp_path):
    run_file(folder_of(tmp_path), "chain").new.path.write_text("not JSON\n{}\n")
    with pytest.raises(DataError, match=r"compare_chain_runs\.jsonl"):
        run(task, ["GPGC"], tmp_path)


def test_a_run_says_where_it_was_made(stubs, task, tmp_path):
    (made,), _ = run(task, ["stub_systems:good"], tmp_path)
    assert made["command"] == "gpgc compare chain"
    assert made["date"].endswith("+00:00")
    assert {"processor", "cores", "versions"} == set(made["machine"])
    assert {"python", "numpy"} <= set(made["machine"]["versions"])


@pytest.mark.parametrize("name", ["GPGC", "GPGC-small", "GPGC-big", "GPGC-X"])
def test_our_systems_label_a_chain(task, name):
    prediction = find_system(name, {})(task.problem, seed=0)
    forecast = prediction.probabilities
    np.testing.assert_allclose(forecast.sum(axis=1), 1)
    assert (forecast[task.test].argmax(axis=1) == task.truth).all()


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "accuracy"), [("GPGC-big", 0.811), ("GPGC", 0.846), ("GPGC-X", 0.860)]
)
def test_our_rows_are_those_of_the_stored_tables(data_dir, name, accuracy):
    task = known_task("cora", "pca", data_dir, 0)
    forecast = find_system(name, {})(task.problem, seed=0).probabilities
    right = np.mean(forecast[task.test].argmax(axis=1) == task.truth)
    assert right == pytest.approx(accuracy, abs=0.003)


def test_the_choice_of_settings_can_be_left_out_of_the_seconds(task):
    whole = find_system("GPGC-big", {})(task.problem, seed=0)
    part = find_system("GPGC-big", {"count_choice": False})(task.problem, seed=0)
    np.testing.assert_array_equal(whole.probabilities, part.probabilities)
    assert part.train_seconds < whole.train_seconds


def test_a_task_survives_its_file(task, tmp_path):
    task.save(tmp_path / "task.npz")
    again = Task.load(tmp_path / "task.npz")
    assert again.digest() == task.digest()
    assert (again.problem.adjacency != task.problem.adjacency).nnz == 0


def test_own_labels_are_held_back_class_by_class_and_by_seed():
    labels = np.array(["a"] * 10 + ["b"] * 5 + ["c"] + [None] * 4, dtype=object)
    features = np.random.default_rng(0).normal(size=(20, 3))
    wishes = {"held_back": 0.4, "n_neighbors": 3}
    task = own_task("mine", features, None, labels, **wishes, split_seed=0)
    assert np.bincount(task.truth, minlength=3).tolist() == [4, 2, 0]
    assert (task.problem.labels[task.test] == -1).all()
    assert len(task.problem.train) == 10
    again = own_task("mine", features, None, labels, **wishes, split_seed=0)
    other = own_task("mine", features, None, labels, **wishes, split_seed=1)
    assert again.digest() == task.digest() != other.digest()
    assert wanted_systems("all", task) == [name for name in NAMES if not name.endswith("-X")]


def test_bad_input_is_named(task):
    with pytest.raises(InputError, match="methods must be among LP"):
        wanted_systems("LP,GNC", task)
    with pytest.raises(InputError, match="dataset must be one of"):
        known_task("korra", "pca", None, 0)
    with pytest.raises(InputError, match="held-back must be between 0 and 1"):
        own_task("x", None, ([0], [1]), [0, 1], held_back=1.5, n_neighbors=1, split_seed=0)
    with pytest.raises(InputError, match="labels must leave some to test on"):
        own_task("x", None, ([0], [1]), [0, 1], held_back=0.5, n_neighbors=1, split_seed=0)


def test_published_accuracies_are_found():
    assert published.accuracy("pubmed", "GAT") == 79.0
    assert published.accuracy("cifar10", "GPGC-X") == 72.6
    assert published.accuracy("cora", "GPGC") is None
    assert published.accuracy("mine", "GCN") is None


def timed(system, status="done", **more):
    settings = {"GCN": {"hidden": 16}, "GPGC-big": {"model": "big", "count_choice": False}}
    run = {"system": system, "settings": settings.get(system, {}), "status": status}
    run |= {"version": "0.1.0", "code": code_of(system)}
    return {**run, "train_seconds": 2.0, "predict_seconds": 0.5, "epochs": None, **more}


def test_seconds_and_ratios_stand_beside_the_papers():
    probe = {"settings": {"epochs": PROBE_EPOCHS}, "train_seconds": 15.0, "epochs": 5}
    runs = [
        timed("GCN"),
        timed("GCN", train_seconds=6.0),
        timed("GCN", train_seconds=4.0),
        timed("GAT", "out of time", time_limit=1200.0),
        timed("GAT", **probe),
        timed("GPGC-big", train_seconds=0.1, predict_seconds=0.0, code="of before"),
        timed("GPGC-big", train_seconds=9.9, settings={"model": "big"}),
    ]
    seconds, ratios = runtime_tables({"cora": runs})
    train = dict(zip(seconds.columns, seconds.rows[0], strict=True))
    assert train["GCN"] == "4.0 (4.1)"
    assert train["GAT"] == "> 1,200, 3.0 an epoch (862.4)"
    assert train["GGP"] == "– (99.1)"
    assert train["GPGC-big"] == "0.1 (1)"
    assert seconds.notes[1:] == ["GPGC-big: made before, by gpgc 0.1.0."]
    assert ratios.rows[0][2:] == ["40.0 (4.1)", "– (99.1)", "> 12,000 (862)"]


def gpgc(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "gpgc", "compare", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
    )


def write_chain(folder):
    edges = "".join(f"n{i},n{i + 1}\n" for i in range(19))
    labels = "".join(f"n{i},{'left' if i < 10 else 'right'}\n" for i in range(20))
    (folder / "edges.csv").write_text("source,target\n" + edges)
    (folder / "labels.csv").write_text("id,label\n" + labels)


def test_the_command_on_a_users_files(stubs, tmp_path):
    write_chain(tmp_path)
    files = ["--edges", "edges.csv", "--labels", "labels.csv", "--out", "out"]
    done = gpgc(*files, "--methods", "GPGC,stub_systems:bad", "--seeds", 1, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "no luck today" in done.stdout
    assert "held back" in done.stdout
    stored = json.loads((tmp_path / "out" / "comparison" / "compare_edges.json").read_text())
    rows = stored["compare_edges"]["rows"]
    assert [row["system"] for row in rows] == ["GPGC", "stub_systems:bad"]
    assert rows[0]["accuracy"] > 80
    for suffix in ("csv", "md", "png", "svg"):
        assert (tmp_path / "out" / "comparison" / f"compare_edges.{suffix}").stat().st_size


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "DATASET"),
        (["cora", "--labels", "labels.csv"], "dataset"),
        (["korra"], "dataset"),
        (["digits", "--methods", "GNC"], "methods"),
        (["--labels", "labels.csv"], "--edges"),
        (["--labels", "labels.csv", "--edges", "edges.csv", "--held-back", "2"], "held-back"),
    ],
)
def test_the_command_names_wrong_arguments(tmp_path, monkeypatch, arguments, word):
    write_chain(tmp_path)
    monkeypatch.chdir(tmp_path)
    error = CliRunner().invoke(app, ["compare", *arguments]).exception
    assert isinstance(error, InputError)
    assert word in str(error)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_interrupt_leaves_whole_lines_and_no_children(stubs, tmp_path):
    write_chain(tmp_path)
    command = [sys.executable, "-m", "gpgc", "compare", "--edges", "edges.csv"]
    command += ["--labels", "labels.csv", "--out", "out", "--seeds", "1"]
    command += ["--methods", "stub_systems:good,stub_systems:slow"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    child = tmp_path / "slow.pid"
    for _ in range(3000):
        if child.exists() and child.read_text():
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=300) != 0
    runs = run_file(StudyFolder.of(tmp_path / "out", "comparison"), "edges").records
    assert [run["system"] for run in runs] == ["stub_systems:good"]
    with pytest.raises(ProcessLookupError):
        os.kill(int(child.read_text()), 0)
