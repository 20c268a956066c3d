"""Features that another distribution brings, by the name of the network."""

from importlib.metadata import EntryPoint

import numpy as np
import pytest

from gpgc.cli.jobs import run_dataset
from gpgc.datasets import stored_features
from gpgc.datasets.feature_files import FeatureSet, save_features
from gpgc.errors import DataError


def folder_of_tests():
    return folder_of_tests.path


@pytest.fixture
def brought(tmp_path, monkeypatch):
    """A distribution with features of two data sets by a pretrained network."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 20)
    parts = {"train": [0, 20], "validation": [1, 21], "test": [*range(2, 20), *range(22, 40)]}
    made = FeatureSet(
        (np.array([[-4, 1, 0], [4, 1, 0]])[labels] + rng.normal(size=(40, 3))).astype(np.float32),
        labels,
        **{part: np.array(nodes) for part, nodes in parts.items()},
        provenance={},
    )
    save_features(tmp_path / "cifar10-pretrained.npz", made)
    folder_of_tests.path = tmp_path
    entry = EntryPoint("tests", f"{__name__}:folder_of_tests", stored_features.GROUP)
    monkeypatch.setattr(stored_features, "entry_points", lambda group: [entry])


def test_a_run_on_features_that_came_along(brought):
    said = run_dataset("cifar10", None, 0, "pretrained", {})
    assert (said["nodes"], said["labels"], said["test_nodes"]) == (40, 2, 36)
    assert said["accuracy"] > 0.8


def test_absent_features_say_who_brings_them(brought):
    with pytest.raises(DataError, match="gpgc-lab brings them"):
        run_dataset("mnist", None, 0, "compact", {})
