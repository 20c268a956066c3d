"""The study of numbers at nodes, on small made-up targets."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from gpgc_lab.journal import StudyJournal
from gpgc_lab.studies.graphs import value_sources, value_study
from gpgc_lab.studies.graphs.value_sources import MADE_UP, ValuedGraph, draw_values, made_up
from gpgc_lab.studies.graphs.value_systems import SYSTEMS, measure_values


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(value_sources, "MADE_UP_NODES", 200)


@pytest.mark.parametrize("name", MADE_UP)
def test_made_up_targets_are_standardised_and_drawn_anew(small, name):
    first, again, other = (made_up(name, seed) for seed in (0, 0, 1))
    assert first.values.std() == pytest.approx(1)
    np.testing.assert_array_equal(first.values, again.values)
    assert not np.array_equal(first.values, other.values)


def test_each_signal_is_found_by_the_ridge_that_sees_it(small):
    scores = {}
    for name in MADE_UP:
        graph = made_up(name, seed=3)
        given, judged = draw_values(graph, 100, seed=3)
        for steps, system in enumerate(("ridge on X", "ridge on Â²X")):
            scores[name, steps] = measure_values(system, graph, given, judged, seed=3)["r2"]
    assert scores["own features", 0] > 0.5 > scores["neighbours' mean", 0]
    assert scores["neighbours' mean", 1] > 0.15
    assert max(scores["no signal", 0], scores["no signal", 1]) < 0.1


def test_unknown_values_are_neither_given_nor_judged():
    values = np.where(np.arange(40) % 2, np.nan, 1.0)
    graph = ValuedGraph(csr_array((40, 40)), np.eye(40), values)
    given, judged = draw_values(graph, 1000, seed=0)
    assert len(given) == len(judged) == 10
    assert np.isfinite(values[np.concatenate([given, judged])]).all()


def test_intervals_of_ridge_hold_what_they_say(small):
    graph = made_up("own features", seed=5)
    given, judged = draw_values(graph, 100, seed=5)
    record = measure_values("ridge on X", graph, given, judged, seed=5)
    assert 0.85 <= record["coverage"] <= 1.0
    assert record["log_density"] > -1.4
    forest = measure_values("random forest", graph, given, judged, seed=5)
    assert set(forest) == {"r2", "seconds"}


def test_the_table_has_every_system_and_is_found_again(small, tmp_path, monkeypatch):
    monkeypatch.setattr(value_study, "TARGETS", ("own features",))
    monkeypatch.setattr(value_study, "GIVEN", (40,))
    path = tmp_path / "runs.jsonl"
    table = value_study.values_table(None, 2, True, StudyJournal(path), lambda _: None)
    assert [row[2] for row in table.rows] == list(SYSTEMS)
    assert table.rows[0][-1]
    monkeypatch.setattr(value_study, "measure_values", lambda *arguments: 1 / 0)
    again = value_study.values_table(None, 2, True, StudyJournal(path), lambda _: None)
    assert again.rows == table.rows
