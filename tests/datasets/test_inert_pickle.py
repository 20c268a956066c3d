from __future__ import annotations

import os
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, random_array

from gpgc.datasets.inert_pickle import as_array, as_csr, load_pickle
from gpgc.errors import DataError


class Calls:
    """Pickles to a call of any function."""

    def __init__(self, function: object, *arguments: object) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> object:
        return self.call


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<i4", "u1", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_come_back_as_they_were(protocol: int, dtype: str, order: str) -> None:
    array = np.asarray(np.arange(6).reshape(2, 3), dtype=dtype, order=order)  # type: ignore[call-overload]
    back = as_array(load_pickle(pickle.dumps(array, protocol), "file"), "file")
    np.testing.assert_array_equal(back, array)
    assert back.dtype.isnative
    assert back.dtype.kind == array.dtype.kind


def test_sparse_matrices_come_back_as_they_were() -> None:
    matrix = csr_matrix(random_array((5, 7), density=0.4, rng=0))
    back = as_csr(load_pickle(pickle.dumps(matrix, 2), "file"), "file")
    np.testing.assert_array_equal(back.toarray(), matrix.toarray())


def test_what_numpy_wrote_under_python_2_is_read() -> None:
    written = (
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85"
        b"U\x01b\x87Rq\x03(K\x01K\x02\x85cnumpy\ndtype\nq\x04U\x02i4K\x00K\x01\x87Rq\x05(K\x03U"
        b"\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U\x08\x01\x00\x00\x00\xff\xff\xff\xfftb."
    )
    np.testing.assert_array_equal(as_array(load_pickle(written, "file"), "file"), [1, -1])


@pytest.mark.parametrize(
    ("function", "named"),
    [(os.system, r"(posix|nt)\.system"), (eval, "eval"), (Path, "Path")],
)
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_foreign_global_is_refused_and_never_called(
    function: object, named: str, protocol: int, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    argument = {os.system: f"touch {trace}", eval: f"open({str(trace)!r}, 'w')"}.get(function, "x")  # type: ignore[call-overload]
    hostile = pickle.dumps({0: [Calls(function, argument)]}, protocol)
    with pytest.raises(DataError, match=rf"ind\.cora\.x.*{named}; refused"):
        load_pickle(hostile, "ind.cora.x")
    assert not trace.exists()
    pickle.loads(hostile)
    assert trace.exists() == (argument != "x")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a pickle",
        b"\x80\x02.",
        b"\x80\x02Nr" + struct.pack("<I", 2**31) + b".",  # memo of 2**31 entries
        b"\x80\x02})" + b"\x85" * 1_000_000 + b"K\x01s.",  # key of a million nested tuples
        b"\x80\x02cnumpy\nndarray\n}b.",  # a state for the class itself
        b"\x80\x02c_codecs\nencode\nN}X\x01\x00\x00\x00aK\x01s\x86b.",
        b"\x80\x02ccollections\ndefaultdict\nN}X\x01\x00\x00\x00aK\x01s\x86b.",
        b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x05\x00\x00\x00utf-7\x86R.",
    ],
    ids=[
        "empty",
        "text",
        "no value",
        "memo",
        "nesting",
        "class state",
        "codec state",
        "defaultdict",
        "codec",
    ],
)
def test_malformed_pickles_are_refused(data: bytes) -> None:
    with pytest.raises(DataError, match="file"):
        load_pickle(data, "file")


@pytest.mark.parametrize(
    "value",
    [
        np.array([1, "a", None], dtype=object),
        np.array(["text"]),
        np.zeros(2, dtype=[("a", "f4")]),
        np.array([1 + 2j]),
        np.array([np.nan]),
        np.array([np.inf], dtype=np.float32),
        [1, 2],
        None,
        {"data": 1},
    ],
    ids=lambda value: str(getattr(value, "dtype", type(value).__name__)),
)
def test_what_is_no_array_of_finite_numbers_is_refused(value: object) -> None:
    with pytest.raises(DataError, match="file"):
        as_array(load_pickle(pickle.dumps(value, 2), "file"), "file")


@pytest.mark.parametrize("shape", [b"K\x03", b"K\x01", b"J\xff\xff\xff\xff"])
def test_a_shape_that_does_not_fit_the_bytes_is_refused(shape: bytes) -> None:
    data = pickle.dumps(np.array([5, 6], dtype=np.uint8), 2)
    assert data.count(b"K\x02\x85") == 1
    with pytest.raises(DataError, match="shape"):
        as_array(load_pickle(data.replace(b"K\x02\x85", shape + b"\x85"), "file"), "file")


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("indices", np.array([0, 9], dtype=np.int32)),
        ("indices", np.array([0, -1], dtype=np.int32)),
        ("indices", np.array([0.0, 1.0])),
        ("indptr", np.array([0, 2, 1], dtype=np.int32)),
        ("indptr", np.array([1, 1, 2], dtype=np.int32)),
        ("indptr", np.array([0, 2], dtype=np.int32)),
        ("data", np.array([1.0])),
        ("data", np.array([[1.0, 2.0]])),
        ("data", np.array([1.0, np.nan])),
        ("data", "text"),
        ("_shape", (2, 1)),
        ("_shape", (2, -3)),
        ("_shape", (2.0, 3.0)),
        ("_shape", (2, 2**70)),
        ("_shape", None),
    ],
)
def test_a_sparse_matrix_whose_parts_do_not_fit_is_refused(part: str, value: object) -> None:
    matrix = csr_matrix(np.array([[1.0, 0, 0], [0, 0, 2.0]]))
    matrix.__dict__[part] = value
    with pytest.raises(DataError, match="file"):
        as_csr(load_pickle(pickle.dumps(matrix, 2), "file"), "file")


@pytest.mark.filterwarnings("ignore:invalid escape sequence")
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damage_anywhere_is_an_error_or_an_array_but_nothing_else(data: st.DataObject) -> None:
    intact = pickle.dumps(csr_matrix(np.array([[1.0, 0, 0], [0, 0, 2.0]])), 2)
    damaged = bytearray(intact)
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(intact) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(intact)))
    try:
        matrix = as_csr(load_pickle(bytes(damaged[:end]), "file"), "file")
    except DataError:
        return
    assert np.isfinite(matrix.toarray()).all() if max(matrix.shape) < 1000 else matrix.nnz < 1000
