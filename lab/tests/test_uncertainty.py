"""The studies of calibration and of what to label, on one small data set each."""

import numpy as np
import pytest

from gpgc.errors import DataError
from gpgc.files import Journal
from gpgc_lab.journal import Measurements, StudyJournal, recall
from gpgc_lab.locations import StudyFolder
from gpgc_lab.studies import active
from gpgc_lab.studies.calibration import calibration_study as calibration


def quiet(step):
    pass


def test_a_journal_measures_once_and_forgets_what_was_cut_off(tmp_path):
    path, measured = tmp_path / "runs.jsonl", []

    def measure():
        measured.append(1)
        return {"accuracy": 0.5}

    for _ in range(2):
        assert Measurements(StudyJournal(path), "code").recall(measure, dataset="cora", run=1) == {
            "accuracy": 0.5
        }
    assert len(measured) == 1
    Measurements(StudyJournal(path), "code").recall(measure, dataset="cora", run=2)
    path.write_text(path.read_text()[:-5])
    Measurements(StudyJournal(path), "code").recall(measure, run=1, dataset="cora")
    assert len(measured) == 2
    Measurements(StudyJournal(path), "code").recall(measure, dataset="cora", run=2)
    assert len(measured) == 3
    assert len(path.read_text().splitlines()) == 2


def test_what_was_measured_is_recalled_by_its_key(tmp_path):
    journal = Journal(tmp_path / "runs.jsonl")
    assert recall(journal, {"b": 2, "a": [1]}, lambda: {"accuracy": 0.5}) == {"accuracy": 0.5}
    again = Journal(journal.path)
    assert recall(again, {"a": (1,), "b": 2}, lambda: 1 / 0) == {"accuracy": 0.5}
    assert recall(again, {"a": [1]}, lambda: {"accuracy": 0.7}) == {"accuracy": 0.7}


def test_measurements_of_version_0_1_stay_valid_and_are_counted(tmp_path):
    stored, path = tmp_path / "stored.jsonl", tmp_path / "new.jsonl"
    stored.write_text('{"key": {"run": 1, "version": "0.1.0"}, "measured": {"a": 1}}\n')
    known = Measurements(StudyJournal(path, stored), "code")
    assert known.recall(lambda: {"a": 2}, run=1) == {"a": 1}
    assert known.recall(lambda: {"a": 3}, run=2) == {"a": 3}
    assert known.notes() == ["Made before, by gpgc 0.1.0: 1 of the measurements."]
    assert len(stored.read_text().splitlines()) == len(path.read_text().splitlines()) == 1
    other = Measurements(StudyJournal(path, stored), "edited")
    assert other.recall(lambda: {"a": 4}, run=2) == {"a": 4}


def test_a_damaged_journal_is_named(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"key": {}}\n')
    with pytest.raises(DataError, match=r"runs\.jsonl record 1"):
        StudyJournal(path, fields=("key", "measured"))


@pytest.mark.data
def test_calibration_study_of_cora(data_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(calibration.published, "CITATION", ("cora",))
    monkeypatch.setattr(calibration, "find_spec", lambda name: None)
    tables, pictures = calibration.calibration_study(
        data_dir, 2, StudyFolder(tmp_path, tmp_path), quiet
    )
    assert [table.name for table in tables] == [
        "calibration_public",
        "calibration_random",
        "prediction_sets",
        "novel_nodes",
    ]
    rows = {row[0]: [float(cell) for cell in row[2:]] for row in tables[1].rows}
    errors = {method: cells[1] for method, cells in rows.items()}
    assert errors["GPGC, no validation labels"] < 6
    assert min(errors, key=errors.get) in (
        "GPGC, no validation labels",
        "GPGC, 500 validation labels",
        "logistic regression, 500 validation labels",
    )
    assert {cells[-1] for cells in rows.values()} == {2}
    assert len(pictures) == 6
    assert all(path.stat().st_size > 1000 for path in pictures)
    again, _ = calibration.calibration_study(data_dir, 2, StudyFolder(tmp_path, tmp_path), quiet)
    assert [table.rows for table in again] == [table.rows for table in tables]


@pytest.mark.data
def test_active_study_of_cora(data_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(active.published, "CITATION", ("cora",))
    monkeypatch.setitem(active.BUDGETS, "cora", (7, 12))
    tables, pictures = active.active_study(data_dir, 1, StudyFolder(tmp_path, tmp_path), quiet)
    for table in tables:
        assert [row[1] for row in table.rows] == list(active.STRATEGIES)
    assert all(path.exists() for path in pictures)
    again, _ = active.active_study(data_dir, 1, StudyFolder(tmp_path, tmp_path), quiet)
    assert [table.rows for table in again] == [table.rows for table in tables]


@pytest.mark.data
def test_chosen_labels_beat_random_ones(data_dir, tmp_path, monkeypatch):
    from gpgc_lab.datasets import load_planetoid

    monkeypatch.setitem(active.BUDGETS, "cora", (7,))
    monkeypatch.setattr(active, "STRATEGIES", ("variance", "random"))
    journal = Measurements(StudyJournal(tmp_path / "runs.jsonl"), "code")
    curves = active.labelling_curves(load_planetoid("cora", data_dir), 2, journal, quiet)
    mean = {name: np.mean([run["accuracy"] for run in runs]) for name, runs in curves.items()}
    assert mean["variance"] > mean["random"] + 0.1
