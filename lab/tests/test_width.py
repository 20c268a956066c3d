"""The study of width, on a toy graph."""

import numpy as np
import pytest

pytest.importorskip("torch")

from gpgc.datasets import Dataset
from gpgc_lab.datasets import random_split
from gpgc_lab.journal import Measurements, StudyJournal
from gpgc_lab.locations import StudyFolder
from gpgc_lab.speed.growth import block_model
from gpgc_lab.studies import width


@pytest.fixture
def toy(monkeypatch) -> Dataset:
    adjacency, features, labels = block_model(120, seed=1)
    train, validation, test = random_split(labels, 4, 30, 50, seed=0)
    data = Dataset("toy", adjacency, features, labels, tuple("abcde"), train, validation, test)
    monkeypatch.setattr(width.published, "CITATION", ("toy",))
    monkeypatch.setattr(width, "load_planetoid", lambda name, data_dir: data)
    monkeypatch.setattr(width, "TRAINED", (4, 8))
    monkeypatch.setattr(width, "DRAWN", (16, 64, 256))
    return data


def silent(step: str) -> None:
    pass


def test_tables_and_pictures(toy, tmp_path):
    tables, pictures = width.width_study(None, 2, StudyFolder(tmp_path, tmp_path), silent)
    assert [table.name for table in tables] == ["width_accuracy", "width_distance"]
    assert tables[0].columns == ["data set", "4", "8", "+∞"]
    assert [row[0] for row in tables[1].rows] == [16, 64, 256]
    assert {path.name for path in pictures} == {"width.png", "width.svg"}
    assert all(path.stat().st_size > 1000 for path in pictures)


def test_what_was_trained_is_found_again(toy, tmp_path, monkeypatch):
    path = tmp_path / "width_runs.jsonl"
    trained: list[tuple[int, int]] = []

    def interrupted(data, units, seed):
        if len(trained) == 3:
            raise KeyboardInterrupt
        trained.append((units, seed))
        return {"accuracy": units + seed / 10}

    monkeypatch.setattr(width, "_train", interrupted)
    with pytest.raises(KeyboardInterrupt):
        width.trained_accuracy(toy, 2, Measurements(StudyJournal(path), "code"), silent)
    trained.clear()
    again = width.trained_accuracy(toy, 2, Measurements(StudyJournal(path), "code"), silent)
    np.testing.assert_array_equal(again, [[4.0, 4.1], [8.0, 8.1]])
    assert trained == [(8, 1)]


def test_covariances_of_random_networks_approach_the_limit_by_the_root_of_the_width(toy, tmp_path):
    distance = width.distances(
        toy, 8, Measurements(StudyJournal(tmp_path / "runs.jsonl"), "code"), silent
    )
    assert distance.shape == (3, 8)
    assert (np.diff(distance.mean(axis=1)) < 0).all()
    assert width.slope(distance) == pytest.approx(-0.5, abs=0.12)
