"""The study of graphs of all kinds, on toy graphs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from gpgc.errors import DataError, InputError
from gpgc.estimators import GPGCClassifier
from gpgc_lab.baselines import label_propagation, linear_graph_models, logistic_regression
from gpgc_lab.baselines.propagated_features import propagated_features
from gpgc_lab.journal import StudyJournal
from gpgc_lab.locations import StudyFolder
from gpgc_lab.scores import score_classes
from gpgc_lab.speed.growth import block_model
from gpgc_lab.studies.graphs import graph_runs, graph_study
from gpgc_lab.studies.graphs.graph_sources import LabelledGraph, load_graph
from gpgc_lab.studies.graphs.graph_systems import OURS, OURS_X, RIVALS, GraphRuns
from gpgc_lab.studies.graphs.paired import Paired, paired
from gpgc_lab.studies.graphs.regimes import REGIMES, SHARES, TABLE_MASKS, counts, divisions


def toy_graph(n_masks: int = 4) -> LabelledGraph:
    adjacency, rows, labels = block_model(120, seed=1, n_features=16)
    features = np.asarray(rows, dtype=np.float64)

    def mask(index: int):
        return np.arange(index, 120, 3), np.arange(index + 1, 120, 3)

    n_classes = int(labels.max()) + 1
    links = csr_array(adjacency, dtype=np.float64)
    return LabelledGraph("toy", links, features, labels, n_classes, n_masks, mask)


@pytest.fixture
def toy(monkeypatch) -> LabelledGraph:
    graph = toy_graph()

    def load(name, data_dir):
        if name == "toy":
            return graph
        raise DataError(f"{name}.npz: expected in graphs/, got no such file")

    monkeypatch.setattr(graph_runs, "load_graph", load)
    return graph


def test_draws_of_the_table_are_not_those_of_the_design():
    graph = toy_graph()
    for regime in REGIMES:
        table = {one.name for one in divisions(graph, regime, 5)}
        design = {one.name for one in divisions(graph, regime, 5, design=True)}
        assert table
        assert design
        assert not table & design
    assert [one.seed for one in divisions(graph, "own masks", 5)] == list(TABLE_MASKS)


@pytest.mark.parametrize("regime", [one for one in REGIMES if one not in ("own masks", *SHARES)])
def test_draws_are_disjoint_balanced_and_repeatable(regime):
    graph = toy_graph()
    [first, second] = divisions(graph, regime, 2)
    assert not set(first.train) & set(first.test)
    assert len(first.train) + len(first.test) == len(graph.labels)
    wanted = counts(graph.labels, graph.n_classes, regime)
    np.testing.assert_array_equal(np.bincount(graph.labels[first.train]), wanted)
    np.testing.assert_array_equal(divisions(graph, regime, 1)[0].train, first.train)
    assert not np.array_equal(first.train, second.train)


@pytest.mark.parametrize("regime", SHARES)
def test_shares_are_disjoint_parts_of_the_known_nodes(regime):
    graph = toy_graph()
    [first, second] = divisions(graph, regime, 2)
    parts = (first.train, first.validation, first.test)
    assert [len(part) for part in parts[:2]] == [round(s * 120) for s in SHARES[regime]]
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(120))
    assert not np.array_equal(first.train, second.train)


def test_validation_labels_are_given_only_to_what_says_so(monkeypatch):
    graph, given = toy_graph(), []
    runs = GraphRuns(graph)
    label = GraphRuns._label

    def labelled(self, task):
        given.append(int((task.labels >= 0).sum()))
        return label(self, task)

    monkeypatch.setattr(GraphRuns, "_label", labelled)
    [division] = divisions(graph, "50 / 25 / 25", 1)
    for system in (OURS, OURS_X):
        runs.measure(system, division)
    assert given == [60, 90]


def test_labels_are_at_most_half_of_a_class_and_one_at_least():
    labels = np.repeat([0, 1, 2], [200, 6, 1])
    for regime in REGIMES:
        drawn = counts(labels, 3, regime)
        assert (drawn >= 1).all()
        assert drawn[1] <= 3


def test_relabelling_gives_the_answers_of_a_new_fit():
    graph = toy_graph()
    runs = GraphRuns(graph)
    for regime in ("20 a class", "5 a class"):
        [division] = divisions(graph, regime, 1)
        record = runs.measure(OURS, division)
    assert not record["is_new"]
    problem = graph.problem(division.train)
    fresh = GPGCClassifier().fit(problem.features, problem.labels, adjacency=problem.adjacency)
    truth = graph.labels[division.test]
    expected = score_classes(fresh.predict_proba()[division.test], truth)
    assert record["log_loss"] == pytest.approx(expected["log_loss"], rel=1e-9)
    assert record["accuracy"] == expected["accuracy"]


def test_tables_and_what_is_found_again(toy, tmp_path, monkeypatch):
    systems = (OURS, *RIVALS, "five linear models")
    plan = graph_runs.StudyPlan(("toy", "lost"), systems, n_seeds=2, has_values=False)
    folder = StudyFolder(tmp_path, tmp_path)
    tables = {
        table.name: table for table in graph_study.graphs_study(None, plan, folder, lambda _: None)
    }
    rows = tables["graphs_accuracy"].rows
    assert [row[:2] for row in rows] == [["toy", regime] for regime in REGIMES]
    assert all(row[-2] in RIVALS for row in rows)
    assert any("lost left out" in note for note in tables["graphs_accuracy"].notes)
    ranks = np.array([[float(cell) for cell in row[2:]] for row in tables["graphs_ranks"].rows])
    np.testing.assert_allclose(ranks.sum(axis=1), 15, atol=0.3)
    assert len(tables["graphs_views"].rows) == len(REGIMES)
    assert "five linear models" not in tables["graphs_probabilities"].columns
    monkeypatch.setattr(GraphRuns, "measure", lambda *arguments: 1 / 0)
    again = graph_study.graphs_study(None, plan, folder, lambda _: None)
    assert [str(row) for row in again[0].rows] == [str(row) for row in rows]


def test_a_change_of_ours_leaves_the_runs_of_others(toy, tmp_path, monkeypatch):
    plan = graph_runs.StudyPlan(("toy",), (OURS, "LR on X"), ("5 a class",), 1, has_values=False)
    path = tmp_path / "runs.jsonl"
    graph_runs.measure_all(plan, None, StudyJournal(path), lambda _: None)
    codes = {system: graph_runs.code_of(system) for system in plan.systems}
    monkeypatch.setattr(graph_runs, "code_of", {**codes, OURS: "new"}.__getitem__)
    graph_runs.measure_all(plan, None, StudyJournal(path), lambda _: None)
    assert len(path.read_text().splitlines()) == 3


def test_plans_are_said_as_commands_and_checked():
    plan = graph_study.make_plan("texas", "gpgc,LR on X", None, 3, design=True, has_values=False)
    words = "gpgc reproduce graphs --seeds 3 --graphs 'texas' --systems 'gpgc,LR on X'"
    assert plan.command() == f"{words} --no-values --design"
    with pytest.raises(InputError, match=r"graphs must be among .*, got 'oslo'"):
        graph_study.make_plan("oslo")


def test_a_difference_is_paired_and_marked():
    ours = [{"division": str(k), "accuracy": 0.5 + k / 10} for k in range(3)]
    theirs = [{**run, "accuracy": run["accuracy"] + 0.02} for run in ours]
    worse = [{**run, "accuracy": run["accuracy"] - 0.2} for run in ours]
    found = paired({OURS: ours, "LR on X": theirs, "LR on Â²X": worse}, "accuracy")
    assert found is not None
    assert (found.rival, found.mark) == ("LR on X", "▼▼")
    assert found.gap == pytest.approx(-2)
    assert found.error == pytest.approx(0, abs=1e-9)
    assert Paired("LR on X", -0.5, 0.2, 10).mark == "▼"
    assert Paired("LR on X", -0.5, 0.4, 10).mark == ""
    assert paired({OURS: ours}, "accuracy") is None


@pytest.mark.parametrize("steps", [0, 2])
def test_fewer_columns_keep_all_products_with_training_rows(steps):
    graph = toy_graph()
    wide = np.hstack([np.asarray(graph.features), np.eye(120)])
    [division] = divisions(graph, "1 a class", 1)
    problem = replace(graph, features=wide).problem(division.train)
    rows = propagated_features(problem, steps)
    few = logistic_regression.coordinates(rows, division.train)
    assert few.shape == (120, len(division.train))
    np.testing.assert_allclose(few @ few[division.train].T, rows @ rows[division.train].T)


def test_linear_models_are_least_squares_of_five_channels():
    graph = toy_graph()
    [division] = divisions(graph, "5 a class", 1)
    problem = graph.problem(division.train)
    channels = linear_graph_models.channels(problem)
    assert len(channels) == 5
    links = problem.adjacency.toarray()
    mean = links / np.maximum(links.sum(axis=1, keepdims=True), 1)
    features = np.asarray(problem.features)
    unlike = np.eye(len(mean)) - mean
    powers = [np.eye(len(mean)), mean, mean @ mean, unlike, unlike @ unlike]
    targets = np.eye(problem.n_classes)[problem.labels[division.train]]
    answers = []
    for power, channel in zip(powers, channels, strict=True):
        rows = channel.toarray() if issparse(channel) else np.asarray(channel)
        np.testing.assert_allclose(rows, power @ features, atol=1e-9)
        answers.append(rows @ np.linalg.lstsq(rows[division.train], targets, rcond=1e-6)[0])
    found = linear_graph_models.run(problem, seed=0).probabilities
    np.testing.assert_allclose(found, np.mean(answers, axis=0), atol=1e-5)


def test_scores_of_two_classes_and_of_what_is_no_probability():
    truth = np.array([0, 1, 1])
    sure = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    found = score_classes(sure, truth)
    assert found["area_under_curve"] == 1.0
    assert found["accuracy"] == pytest.approx(2 / 3)
    loose = score_classes(sure * 2 - 1, truth)
    assert loose["log_loss"] is None
    assert loose["area_under_curve"] == 1.0
    left_out = score_classes(np.array([[1.0, 0.0]] * 3), truth, learnt=np.array([0]))
    assert left_out["log_loss"] == pytest.approx(0)


def test_label_propagation_from_an_isolated_label():
    links = csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(4, 4))
    labels = np.array([0, -1, 1, -1])
    graph = LabelledGraph("pair", links, np.eye(4), labels, 2, 0, lambda index: None)
    found = label_propagation.run(graph.problem(np.array([0, 2])), seed=0).probabilities
    np.testing.assert_allclose(found, [[1, 0], [1, 0], [0, 1], [0.5, 0.5]])


def test_graphs_with_masks_are_read(data_dir):
    graph = load_graph("texas", data_dir)
    assert graph.n_masks == 10
    train, test = graph.mask(2)
    assert not set(train) & set(test)
    with pytest.raises(DataError, match="expected in graphs/"):
        load_graph("texas-not-there", data_dir)
