"""Every field of a model file is checked, also where the checksum was made to fit."""

import io
import json
import os
import stat

import numpy as np
import pytest

import gpgc
from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.errors import DataError
from gpgc.estimators.model_file import digest


def classifier():
    y = np.array(["a", None, "b", None, "a", "b"], dtype=object)
    return GPGCClassifier().fit(np.eye(6), y, ([0, 1, 2, 3, 4], [1, 2, 3, 4, 5]))


def regressor():
    y = np.array([0.5, np.nan, 1.5, np.nan, 1.0, 0.0])
    return GPGCRegressor().fit(None, y, ([0, 1, 2, 3, 4], [1, 2, 3, 4, 5]))


def forge(path, change):
    """Change a header or an array and make the checksum fit again."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(arrays.pop("header").tobytes())
    header.pop("sha256")
    change(header, arrays)
    header["sha256"] = digest(header, arrays)
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, header=text, **arrays)
    path.write_bytes(buffer.getvalue())


def in_array(name, value, place=0):
    def change(_, arrays):
        arrays[name] = arrays[name].copy()
        arrays[name].flat[place] = value

    return change


def put(name, value):
    return lambda _, arrays: arrays.update({name: np.asarray(value)})


def head(**values):
    return lambda header, _: header.update(values)


def parameter(**values):
    return lambda header, _: header["parameters"].update(values)


SHARED = {
    "labelled too high": in_array("labelled", 99),
    "labelled negative": in_array("labelled", -1),
    "labelled twice": in_array("labelled", 2),
    "labelled as numbers with fractions": put("labelled", [0.0, 2.0, 4.0, 5.0]),
    "no label": put("labelled", np.empty(0, int)),
    "indices too high": in_array("adjacency/indices", 10**6),
    "indices negative": in_array("adjacency/indices", -3),
    "indptr falls": in_array("adjacency/indptr", 9, 1),
    "weights not a number": in_array("adjacency/data", np.nan),
    "weights negative": in_array("adjacency/data", -1.0),
    "shape of another matrix": put("adjacency/shape", [6, 7]),
    "shape beyond memory": put("adjacency/shape", [6, 2**40]),
    "a graph as an array": put("adjacency", np.eye(6)),
    "version as text": head(version="9"),
    "version zero": head(version=0),
    "version true": head(version=True),
    "unknown estimator": head(estimator="Other"),
    "noise negative": head(noise_levels=[-1.0]),
    "noise not a number": head(noise_levels=[float("nan")]),
    "noise as text": head(noise_levels=["1"]),
    "weight above one": head(view_weights={"graph": 1.5}),
    "built graph as text": head(from_features="yes"),
    "no parameters": head(parameters=None),
    "unknown parameter": parameter(other=1),
    "depth endless": parameter(depth=10**9),
    "depth as text": parameter(depth="2"),
    "unknown model": parameter(model="huge"),
    "unknown kernel": parameter(base_kernel={"name": "other"}),
    "kernel of another kind": parameter(base_kernel={"name": "polynomial", "x": 1}),
    "dtype of another kind": parameter(dtype="int8"),
    "normalization of another kind": parameter(normalization=3),
    "weight variance as text": parameter(weight_variance="x"),
    "memory of nothing": parameter(memory_limit=-4),
}
OF_CLASSIFIER = {
    "codes too high": in_array("state/codes", 9),
    "codes negative": in_array("state/codes", -1),
    "codes too few": put("state/codes", [0, 1]),
    "class without a label": put("state/codes", [0, 0, 0, 0]),
    "bias not a number": in_array("state/bias", np.nan),
    "bias too long": put("state/bias", np.zeros(3)),
    "temperature infinite": put("state/temperature", np.inf),
    "temperature negative": put("state/temperature", -1.0),
    "classes twice": put("state/classes", ["a", "a"]),
    "no bias": lambda _, arrays: arrays.pop("state/bias"),
    "features not a number": in_array("features", np.nan),
    "features of fewer nodes": put("features", np.eye(5)),
    "features flat": put("features", np.ones(6)),
    "features as text": put("features", [["a"]] * 6),
    "names too few": put("feature_names", ["a", "b"]),
}
OF_REGRESSOR = {
    "values not a number": in_array("state/values", np.nan),
    "values too few": put("state/values", np.zeros((2, 1))),
    "values flat": put("state/values", np.zeros(4)),
    "squeeze as numbers": put("state/squeeze", [1, 2]),
}
CASES = [
    *((classifier, change) for change in (SHARED | OF_CLASSIFIER).values()),
    *((regressor, change) for change in OF_REGRESSOR.values()),
]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for make in (classifier, regressor):
        make().save(folder / make.__name__)
    return folder


@pytest.mark.parametrize(("make", "change"), CASES, ids=[*SHARED, *OF_CLASSIFIER, *OF_REGRESSOR])
def test_forged_files_are_refused(models, tmp_path, make, change):
    path = tmp_path / "model"
    path.write_bytes((models / make.__name__).read_bytes())
    forge(path, lambda *_: None)
    gpgc.load(path)
    forge(path, change)
    with pytest.raises(DataError, match="model"):
        gpgc.load(path)


def test_a_file_holds_what_was_saved_and_nothing_else(models):
    """An option of NumPy's writer must not become an array, which no reader knows."""
    with np.load(models / "classifier") as file:
        assert {name.partition("/")[0] for name in file.files} == {
            *("header", "labelled", "adjacency", "features", "state"),
        }


def test_equal_models_are_equal_files(models, tmp_path):
    classifier().save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (models / "classifier").read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
def test_saving_keeps_links_and_modes(tmp_path):
    model, path, link = classifier(), tmp_path / "model", tmp_path / "link"
    path.write_bytes(b"")
    path.chmod(0o600)
    link.symlink_to("model")
    model.save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    np.testing.assert_array_equal(gpgc.load(link).predict(), model.predict())


def test_the_memory_limit_may_be_text():
    y = [0, -1, 1]
    model = GPGCClassifier(memory_limit="1GB").fit(np.eye(3), y)
    assert model.predict().shape == (3,)
    with pytest.raises(ValueError, match=r"memory_limit must be None.*'500MB'.*got 'lots'"):
        GPGCClassifier(memory_limit="lots").fit(np.eye(3), y)
