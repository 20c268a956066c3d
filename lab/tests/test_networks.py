"""The study of all networks, on a toy graph."""

import pytest

from gpgc.datasets import Dataset
from gpgc.kernels import ACTIVATIONS
from gpgc_lab.datasets import random_split
from gpgc_lab.locations import StudyFolder
from gpgc_lab.speed.growth import block_model
from gpgc_lab.studies import networks


@pytest.fixture
def toy(monkeypatch) -> Dataset:
    adjacency, features, labels = block_model(120, seed=1)
    train, validation, test = random_split(labels, 4, 30, 50, seed=0)
    data = Dataset("toy", adjacency, features, labels, tuple("abcde"), train, validation, test)
    monkeypatch.setattr(networks.published, "CITATION", ("toy",))
    monkeypatch.setattr(networks, "load_planetoid", lambda name, data_dir: data)
    monkeypatch.setattr(networks, "NETWORKS", networks.NETWORKS[:3])
    monkeypatch.setattr(networks, "WIDTHS", (8, 32))
    return data


def test_tables_and_what_is_found_again(toy, tmp_path, monkeypatch):
    folder = StudyFolder(tmp_path, tmp_path)
    tables = networks.networks_study(None, 2, 2, folder, lambda step: None)
    names = ["networks_accuracy", "networks_seconds", "networks_width"]
    assert [table.name for table in tables] == names
    assert [row[0] for row in tables[0].rows] == ["broad", "big", "big"]
    assert "At or above the default" in tables[0].notes[-1]
    assert len(tables[2].rows) == 5 * len(ACTIVATIONS) + 1  # sgc has no activation
    monkeypatch.setattr(networks, "measure", lambda *arguments: 1 / 0)
    again = networks.networks_study(None, 2, 2, folder, lambda step: None)
    assert [str(row) for row in again[0].rows] == [str(row) for row in tables[0].rows]
