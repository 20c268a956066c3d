"""`gpgc run` of data sets that the laboratory brings."""

import json
import subprocess
import sys

import numpy as np
import pytest

from gpgc.errors import InputError
from gpgc_lab.datasets import image_graphs
from gpgc_lab.datasets.catalogue import NAMES, load_for_run
from gpgc_lab.datasets.feature_files import FeatureSet, save_features


def run(*arguments):
    command = [sys.executable, "-m", "gpgc", "run", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def brought(tmp_path, monkeypatch):
    """A folder with features of two classes by a pretrained network."""
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
    monkeypatch.setattr(image_graphs, "stored_features", lambda: tmp_path)


def test_features_that_came_along(brought):
    data = load_for_run("cifar10", "pretrained", None, 0)
    assert (data.features.shape, len(data.train), len(data.test)) == ((40, 3), 2, 36)


def test_absent_features_are_named(brought):
    with pytest.raises(InputError, match=r"mnist-compact\.npz"):
        load_for_run("mnist", "compact", None, 0)


@pytest.mark.data
def test_run_cora(data_dir):
    done = run("cora", "--data-dir", data_dir, "--json", "--model", "big")
    assert json.loads(done.stdout)["accuracy"] > 0.78, done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("mnist", "--features", "magic"), "features must be pca"),
        (("cora", "--features", "pca"), "--features applies to mnist, svhn and cifar10 only"),
        (("cora", "--seed", "1"), "--seed is not used by cora"),
        (("cora", "--data-dir", "/nowhere/at/all"), "/nowhere/at/all"),
        (("atlantis",), ", ".join(NAMES)),
    ],
)
def test_what_a_data_set_does_not_take_is_refused(arguments, words):
    done = run(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
