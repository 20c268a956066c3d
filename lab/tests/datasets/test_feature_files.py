"""The file of features, and features without torch."""

from dataclasses import replace

import numpy as np
import pytest

from gpgc.errors import InputError
from gpgc_lab.datasets.feature_files import FeatureSet, load_features, save_features
from gpgc_lab.datasets.pixel_features import pca_features, pixel_features


@pytest.fixture
def made():
    rng = np.random.default_rng(0)
    return FeatureSet(
        features=rng.standard_normal((20, 4)).astype(np.float16),
        labels=np.arange(20) % 3,
        train=np.arange(5),
        validation=np.arange(5, 10),
        test=np.arange(10, 20),
        provenance={"method": "noise", "seed": 0},
        probabilities=rng.dirichlet(np.ones(3), 20).astype(np.float32),
    )


def test_round_trip(made, tmp_path):
    save_features(tmp_path / "a.npz", made)
    back = load_features(tmp_path / "a.npz")
    for name in ("features", "labels", "train", "validation", "test"):
        assert np.array_equal(getattr(back, name), getattr(made, name)), name
    np.testing.assert_allclose(back.probabilities, made.probabilities, atol=1e-3)
    assert back.provenance["method"] == "noise"
    assert back.provenance["network_accuracy"]["test"] == made.network_accuracy("test")
    assert list(tmp_path.iterdir()) == [tmp_path / "a.npz"]


def test_round_trip_without_a_network(made, tmp_path):
    save_features(tmp_path / "a.npz", replace(made, probabilities=None))
    back = load_features(tmp_path / "a.npz")
    assert back.probabilities is None
    assert "network_accuracy" not in back.provenance
    with pytest.raises(InputError, match="probabilities"):
        back.network_accuracy("test")


@pytest.mark.parametrize("keep", [0, 10, 600, -1])
def test_truncated_file_is_refused(made, tmp_path, keep):
    path = tmp_path / "cut.npz"
    save_features(path, made)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError, match=r"cut\.npz"):
        load_features(path)


def test_changed_bytes_are_refused(made, tmp_path):
    path = tmp_path / "bent.npz"
    save_features(path, made)
    content = bytearray(path.read_bytes())
    at = content.index(b"features.npy") + 60
    content[at : at + 20] = bytes(20)
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"bent\.npz"):
        load_features(path)


def test_other_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_features(tmp_path / "absent.npz")
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    with pytest.raises(InputError, match=r"other\.npz must hold"):
        load_features(tmp_path / "other.npz")
    np.savez(tmp_path / "objects.npz", x=np.array([{}], dtype=object))
    with pytest.raises(InputError, match=r"objects\.npz"):
        load_features(tmp_path / "objects.npz")
    np.save(tmp_path / "array.npy", np.ones(3))
    with pytest.raises(InputError, match=r"array\.npy"):
        load_features(tmp_path / "array.npy")


@pytest.mark.parametrize(
    "change",
    [
        {"features": np.ones((19, 4), np.float16)},
        {"features": np.full((20, 4), np.nan, np.float16)},
        {"test": np.array([25])},
        {"validation": np.arange(4, 9)},
        {"probabilities": np.ones((19, 3), np.float32)},
    ],
)
def test_parts_that_do_not_fit_are_refused(made, change):
    with pytest.raises(InputError, match=next(iter(change))):
        replace(made, **change)


def test_pixels_and_components_span_the_same_space():
    images = np.random.default_rng(0).integers(0, 256, (30, 4, 4, 3)).astype(np.uint8)
    pixels = pixel_features(images)
    assert pixels.shape == (30, 48)
    assert pixels.min() >= 0
    assert pixels.max() <= 1
    scores = pca_features(images, components=29)
    distances = np.linalg.norm(pixels[:, None] - pixels[None], axis=2)
    found = np.linalg.norm(scores[:, None] - scores[None], axis=2)
    np.testing.assert_allclose(found, distances, atol=1e-4)
    assert np.array_equal(scores, pca_features(images, components=29))


def test_simple_features_refuse_what_does_not_fit():
    with pytest.raises(InputError, match="images must be uint8"):
        pixel_features(np.zeros((3, 4)))
    with pytest.raises(InputError, match="components"):
        pca_features(np.zeros((3, 4, 4), np.uint8), components=4)
