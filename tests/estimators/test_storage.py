"""Save and load: the same answers, one file, nothing half-written, nothing foreign accepted."""

import json
import pickle
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import gpgc
from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.errors import DataError, InputError
from gpgc.kernels import Polynomial


@pytest.fixture
def fitted(two_moons):
    features, labels, _ = two_moons
    names = np.array(["a", "b"], dtype=object)
    y = [names[label] if label >= 0 else None for label in labels]
    return GPGCClassifier(base_kernel=Polynomial(0.3, 3), depth=3).fit(features, y)


@pytest.fixture
def saved(fitted, tmp_path):
    path = tmp_path / "model.gpgc"
    fitted.save(path)
    return path


def test_the_same_answers_come_back(fitted, saved, two_moons):
    back = gpgc.load(saved)
    assert back.get_params() == fitted.get_params()
    assert back.classes_.tolist() == ["a", "b"]
    assert back.noise_variance_ == fitted.noise_variance_
    np.testing.assert_allclose(back.predict_proba(), fitted.predict_proba(), rtol=1e-10)
    np.testing.assert_array_equal(back.transduction_, fitted.transduction_)
    new = two_moons[0][:4] + 0.1
    np.testing.assert_allclose(back.predict_proba(new), fitted.predict_proba(new), rtol=1e-10)


@pytest.mark.parametrize("features", [None, "sparse", "dense"])
def test_regressor_with_any_features(tmp_path, features):
    X = {"sparse": sp.csr_array(np.eye(4)), "dense": np.eye(4), None: None}[features]
    y = np.array([[0.0, 1.0], [np.nan, np.nan], [1.0, 2.0], [np.nan, np.nan]])
    regressor = GPGCRegressor(noise_variance=0.1).fit(X, y, adjacency=([0, 1, 2], [1, 2, 3]))
    regressor.save(tmp_path / "r")
    back = gpgc.load(tmp_path / "r")
    np.testing.assert_allclose(back.predict(), regressor.predict(), rtol=1e-10)
    assert back.predict().shape == (4, 2)


def test_saving_needs_a_fit(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        GPGCClassifier().save(tmp_path / "x")


def test_unknown_objects_and_folders_are_refused_before_anything_is_written(fitted, tmp_path):
    class Own:
        def evaluate(self, cosine, left, right):
            return cosine

        def variance(self, cosine, norms):
            return cosine

    own = GPGCClassifier(base_kernel=Own()).fit(np.eye(3), [0, 1, -1])
    with pytest.raises(InputError, match="base_kernel cannot be saved"):
        own.save(tmp_path / "own")
    with pytest.raises(InputError, match="folder that exists"):
        fitted.save(tmp_path / "nowhere" / "model")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_save_leaves_the_old_file(fitted, saved, monkeypatch):
    before = saved.read_bytes()

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(KeyboardInterrupt):
        fitted.save(saved)
    assert saved.read_bytes() == before
    assert [file.name for file in saved.parent.iterdir()] == [saved.name]


def rewrite(path, change):
    """Rewrite the archive with a changed header or array, so that its own checksums fit."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(arrays["header"].tobytes())
    change(header, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def test_truncated_files_are_refused(saved):
    content = saved.read_bytes()
    for length in (0, 10, len(content) // 2, len(content) - 5):
        saved.write_bytes(content[:length])
        with pytest.raises(DataError, match="truncated or was not written"):
            gpgc.load(saved)


def test_altered_files_are_refused(saved):
    def change(header, arrays):
        arrays["features"] = arrays["features"] + 1.0

    rewrite(saved, change)
    with pytest.raises(DataError, match="altered"):
        gpgc.load(saved)


def test_flipped_bytes_are_refused(saved):
    content = bytearray(saved.read_bytes())
    content[len(content) // 2] ^= 0xFF
    saved.write_bytes(bytes(content))
    with pytest.raises(DataError):
        gpgc.load(saved)


def test_newer_files_are_refused(saved):
    rewrite(saved, lambda header, arrays: header.update(version=99))
    with pytest.raises(DataError, match=r"version 99.*newer gpgc"):
        gpgc.load(saved)


def test_files_of_older_versions_are_refused(saved):
    rewrite(saved, lambda header, arrays: header.update(version=3))
    with pytest.raises(DataError, match=r"version 3, .*reads version 4: .*or fit again"):
        gpgc.load(saved)


def test_foreign_files_are_refused(tmp_path):
    other = tmp_path / "other.npz"
    np.savez(other, a=np.ones(3))
    with pytest.raises(DataError, match="not written by gpgc"):
        gpgc.load(other)
    with zipfile.ZipFile(tmp_path / "plain.zip", "w") as archive:
        archive.writestr("hello", "world")
    with pytest.raises(DataError, match="not written by gpgc"):
        gpgc.load(tmp_path / "plain.zip")
    with pytest.raises(DataError, match="does not exist"):
        gpgc.load(tmp_path / "nothing")


@pytest.mark.parametrize("model", ["small", "big", "broad"])
def test_a_pickle_holds_no_caches(model):
    rng = np.random.default_rng(0)
    features, y = rng.normal(size=(400, 6)), np.arange(400) % 2
    y[20:] = -1
    fitted = GPGCClassifier(model).fit(features, y)
    small = len(pickle.dumps(fitted))
    fitted.predict_latent(return_std=True, return_cov=True)
    packed = pickle.dumps(fitted)
    assert len(packed) == small < 2 * (features.nbytes + 12 * fitted.adjacency_.nnz)
    again = pickle.loads(packed)
    np.testing.assert_array_equal(again.predict_proba(), fitted.predict_proba())
    new = features[:3] + 0.1
    np.testing.assert_allclose(again.predict_proba(new), fitted.predict_proba(new), rtol=1e-12)


def test_pickles_are_never_opened(tmp_path):
    hostile = tmp_path / "hostile"
    np.savez(hostile.with_suffix(".npz"), header=np.array([print], dtype=object))
    with pytest.raises(DataError):
        gpgc.load(hostile.with_suffix(".npz"))
