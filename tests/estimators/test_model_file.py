"""Every field of a model file is checked, also where the checksum was made to fit."""

import io
import json
import os
import stat
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

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
    "shape beyond memory": put("adjacency/shape", [6, 2**30]),
    "a graph as an array": put("adjacency", np.eye(6)),
    "version as text": head(version="9"),
    "version zero": head(version=0),
    "version true": head(version=True),
    "unknown estimator": head(estimator="Other"),
    "noise negative": head(views={"graph": {"weight": [1.0], "noise": [-1.0]}}),
    "noise not a number": head(views={"graph": {"weight": [1.0], "noise": [float("nan")]}}),
    "noise as text": head(views={"graph": {"weight": [1.0], "noise": ["1"]}}),
    "weight negative": head(views={"graph": {"weight": [-0.5], "noise": [0.1]}}),
    "view without noise": head(views={"graph": {"weight": [1.0]}}),
    "view unknown": head(views={"nowhere": {"weight": [1.0], "noise": [0.1]}}),
    "no views": head(views={}),
    "inflation negative": head(inflation=[-1.0]),
    "scalings as text": head(both_scalings="yes"),
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


def add_zeros(path, name, n_bytes):
    """Add an array of zeros to an archive, without ever having it in memory."""
    shape = (n_bytes // 8,)
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(f"{name}.npy", "w", force_zip64=True) as member,
    ):
        header = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(member, header)
        for _ in range(n_bytes // 2**22):
            member.write(bytes(2**22))


LOADING = """
import resource, sys
import gpgc
from gpgc.errors import DataError
gpgc.GPGCClassifier().fit(None, [0, 1, -1], ([0, 1], [1, 2])).predict_proba()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    gpgc.load(sys.argv[1])
except DataError as error:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is in kilobytes on Linux")
def test_a_small_file_that_claims_gigabytes_is_refused_before_they_are_taken(tmp_path):
    path = tmp_path / "model.gpgc"
    classifier().save(path)
    add_zeros(path, "state/more", 5 * 2**28)
    assert path.stat().st_size < 8 * 2**20
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(path)], capture_output=True, text=True, check=True
    )
    kilobytes, said = done.stdout.split(" ", 1)
    assert int(kilobytes) < 50_000
    assert "arrays would take 1,280 MiB, more than memory_limit" in said


def test_the_memory_limit_of_a_file_is_the_callers(tmp_path):
    path = tmp_path / "model.gpgc"
    classifier().save(path)
    with pytest.raises(DataError, match="more than memory_limit"):
        gpgc.load(path, memory_limit=100)
    again = gpgc.load(path, memory_limit="1GB")
    assert (again.predict() == classifier().predict()).all()


def test_columns_that_nothing_fills_take_no_memory(tmp_path):
    path = tmp_path / "model.gpgc"
    fitted = GPGCClassifier().fit(sp.eye_array(6, format="csr"), [0, 1, -1, -1, 0, 1], RING)
    fitted.save(path)
    forge(path, put("features/shape", [6, 2**30]))
    with pytest.raises(DataError, match="only 6 entries for 1,073,741,824 rows or columns"):
        gpgc.load(path)


def test_what_compresses_too_well_is_stored_as_it_is(monkeypatch, tmp_path):
    """Whatever is saved can be loaded."""
    monkeypatch.setattr("gpgc.estimators.model_file.FREE_BYTES", 2**16)
    X = np.zeros((400, 200))
    X[np.arange(400), np.arange(400) % 7] = 1
    y = np.where(np.arange(400) < 20, np.arange(400) % 7 % 2, -1)
    fitted = GPGCClassifier().fit(X, y, (np.arange(399), np.arange(1, 400)))
    fitted.save(tmp_path / "model.gpgc")
    assert (tmp_path / "model.gpgc").stat().st_size > X.nbytes
    again = gpgc.load(tmp_path / "model.gpgc")
    np.testing.assert_allclose(again.predict_proba(), fitted.predict_proba(), atol=1e-6)


RING = ([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0])
