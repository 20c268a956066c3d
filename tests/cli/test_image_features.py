"""From a folder of images to labels, by two commands."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

torch = pytest.importorskip("torch")
image_module = pytest.importorskip("PIL.Image")

from gpgc.cli.app import app  # noqa: E402
from gpgc.errors import DataError, InputError  # noqa: E402
from gpgc.image_features import FrozenNetwork  # noqa: E402


def run(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=True)


@pytest.fixture
def pictures(tmp_path, monkeypatch):
    """Twelve reddish and twelve bluish images, and a broken one."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "pictures"
    for colour, place in (("red", 0), ("blue", 2)):
        (folder / colour).mkdir(parents=True)
        for number in range(12):
            pixels = rng.integers(0, 120, (10, 14, 3))
            pixels[..., place] += 120
            image_module.fromarray(pixels.astype(np.uint8)).save(folder / colour / f"{number}.png")
    (folder / "broken.jpg").write_bytes(b"nothing")
    layers = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    tiny = FrozenNetwork("tiny", layers, 8, (0.5,) * 3, (0.25,) * 3, "1234")
    monkeypatch.setattr("gpgc.image_features.network._lite", lambda name, side: tiny)
    return folder


def test_features_then_classify(pictures, tmp_path):
    out = tmp_path / "features.npz"
    done = run("features", pictures, "--network", "efficientnet-lite0", "--out", out, "--json")
    assert done.exit_code == 0, done.exception
    said = json.loads(done.stdout)
    assert (said["images"], said["features"]) == (24, 3)
    assert len(said["skipped"]) == 1
    assert "broken.jpg" in said["skipped"][0]
    labels = tmp_path / "labels.csv"
    labels.write_text("id,label\nred/0.png,red\nred/1.png,red\nblue/0.png,blue\nblue/1.png,blue\n")
    answer = tmp_path / "answer.csv"
    arguments = ["--labels", labels, "--features", out, "--out", answer, "--neighbors", 3]
    done = run("classify", *arguments)
    assert done.exit_code == 0, done.exception
    with answer.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 24
    assert all(row["label"] == row["id"].partition("/")[0] for row in rows)


def test_wrong_input_gets_one_sentence(pictures, tmp_path):
    network = ("--network", "efficientnet-lite0", "--out", tmp_path / "out.npz")
    (tmp_path / "empty").mkdir()
    error = run("features", tmp_path / "empty", *network).exception
    assert isinstance(error, DataError)
    assert "must hold images" in str(error)
    nowhere = tmp_path / "nowhere" / "out.npz"
    error = run("features", pictures, "--network", "efficientnet-lite0", "--out", nowhere).exception
    assert isinstance(error, InputError)
    assert "--out" in str(error)
