"""``gpgc train``: networks by name, on made-up images."""

import numpy as np
import pytest
from typer.testing import CliRunner

torch = pytest.importorskip("torch")
pytest.importorskip("PIL")

from gpgc.errors import InputError  # noqa: E402
from gpgc.image_features import FrozenNetwork  # noqa: E402
from gpgc_lab import image_networks  # noqa: E402
from gpgc_lab.commands.train import app  # noqa: E402
from gpgc_lab.datasets.feature_files import load_features  # noqa: E402
from gpgc_lab.datasets.images import ImageDataset, divide_per_class  # noqa: E402
from gpgc_lab.image_networks import PseudoLabelSchedule  # noqa: E402
from gpgc_lab.image_networks.frozen import frozen_features  # noqa: E402


def made_up(name="mnist", **_):
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    images = (rng.integers(0, 60, (60, 12, 12)) + 60 * labels[:, None, None]).astype(np.uint8)
    parts = divide_per_class(labels, 4, 4, seed=0)
    return ImageDataset(name, images, labels, ("a", "b", "c"), *parts)


@pytest.fixture
def train(monkeypatch):
    plan = PseudoLabelSchedule(
        steps=4, warm_up=2, decay=2, labelled_batch=6, unlabelled_batch=6, validate_every=2
    )
    monkeypatch.setattr("gpgc_lab.datasets.load_images", made_up)
    monkeypatch.setitem(image_networks.PLANS, "compact", {"mnist": plan})

    def run(*arguments):
        done = CliRunner().invoke(app, ["mnist", *map(str, arguments)])
        if done.exception is not None:
            raise done.exception
        return done

    return run


def test_the_compact_network_is_trained_and_prolonged(train, tmp_path):
    out = tmp_path / "mnist-compact.npz"
    train("--out", out, "--steps", 4)
    made = load_features(out)
    assert made.provenance["method"] == "compact network, pseudo-labels"
    assert made.provenance["steps"] == 4
    assert made.features.shape == (60, 60)
    assert made.provenance["components"] == 60
    train("--out", out, "--steps", 6)
    assert load_features(out).provenance["steps"] == 6
    with pytest.raises(InputError, match="network must be that of"):
        train("--out", out, "--steps", 6, "--network", "conv-large")


def test_wrong_arguments_are_named(train, tmp_path):
    with pytest.raises(InputError, match="network must be one of conv-large, compact, efficient"):
        train("--out", tmp_path / "a.npz", "--steps", 4, "--network", "x")
    with pytest.raises(InputError, match="--minutes and --steps"):
        train("--out", tmp_path / "a.npz")


def test_a_frozen_network_gives_features_without_labels():
    layers = torch.nn.Sequential(torch.nn.AvgPool2d(8), torch.nn.Flatten())
    network = FrozenNetwork("tiny", layers, 24, (0.5,) * 3, (0.25,) * 3, "1234")
    seen = []
    made = frozen_features(made_up(), network, 5, progress=lambda *now: seen.append(now))
    assert made.features.shape == (60, 5)
    assert made.probabilities is None
    assert made.provenance["pretrained"] is True
    assert made.provenance["image_side"] == 24
    assert seen == [(50, 60), (60, 60)]
    brightness = made_up().images.mean(axis=(1, 2))
    assert abs(np.corrcoef(made.features[:, 0], brightness)[0, 1]) > 0.99
