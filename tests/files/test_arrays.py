"""Arrays and sparse matrices from outside: no size is believed, no index trusted."""

import io
import struct
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc.errors import DataError, InputError
from gpgc.files import (
    canonical_csr,
    checked_csr,
    pack_npz,
    pack_sparse,
    parse_bytes,
    read_npy,
    read_npz,
    read_sparse,
    unpack_sparse,
)


def npy_bytes(header, content=b""):
    text = (header + " " * 20).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content


CLAIM = "{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,), }"


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6, dtype=np.int8).reshape(2, 3)),
        np.array("text"),
        np.array(["a", "bc"]),
        np.zeros((0, 3)),
        np.array(3.5, dtype=">f4"),
        np.array([True, False]),
    ],
)
def test_arrays_come_back(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "a.npz", a=array)
    (tmp_path / "b.npz").write_bytes(pack_npz({"a": array}))
    for back in (
        read_npy(tmp_path / "a.npy"),
        read_npz(tmp_path / "a.npz")["a"],
        read_npz(tmp_path / "b.npz", ["a"])["a"],
        np.load(tmp_path / "b.npz")["a"],
    ):
        assert back.dtype == array.dtype
        np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no array",
        npy_bytes(CLAIM),
        npy_bytes(CLAIM.replace("100000000000,", "-2, -1"), b"x" * 16),
        npy_bytes(CLAIM.replace("<f8", "|O").replace("100000000000", "1"), b"x" * 8),
        npy_bytes(CLAIM.replace("<f8", "<U0")),
        npy_bytes("{" * 3000),
        npy_bytes("(" * 3000),
        npy_bytes("{'descr': [], 'fortran_order': 1, 'shape': 3}"),
        npy_bytes(CLAIM.replace("100000000000", "2"), b"x" * 15),
        npy_bytes(CLAIM.replace("100000000000", "2"), b"x" * 17),
    ],
)
def test_wrong_arrays_are_refused(tmp_path, content):
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.npy: expected a NumPy array"):
        read_npy(tmp_path / "a.npy")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.npy", content)
    with pytest.raises(DataError, match="the array a cannot be read"):
        read_npz(tmp_path / "a.npz")


def test_an_archive_that_claims_more_than_it_holds_is_refused(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", npy_bytes(CLAIM.replace("100000000000", "4000"), bytes(32000)))
    size = struct.pack("<I", len(npy_bytes(CLAIM.replace("100000000000", "4000"))) + 32000)
    (tmp_path / "a.npz").write_bytes(buffer.getvalue().replace(size, struct.pack("<I", 2**31)))
    with pytest.raises(DataError, match="claimed"):
        read_npz(tmp_path / "a.npz")


def test_objects_are_never_packed():
    with pytest.raises(InputError, match="Python objects"):
        pack_npz({"a": np.array([None])})


GOOD = {
    "data": np.ones(3),
    "indices": np.array([0, 2, 1]),
    "indptr": np.array([0, 2, 3]),
    "shape": np.array([2, 3]),
}
WRONG = [
    ("indices", np.array([0, 3, 1])),
    ("indices", np.array([0, -1, 1])),
    ("indices", np.array([0, 2**40, 1])),
    ("indices", np.array([0.0, 1.0, 1.0])),
    ("indices", np.array([[0, 2, 1]])),
    ("indptr", np.array([0, 4, 3])),
    ("indptr", np.array([1, 2, 3])),
    ("indptr", np.array([0, 2, 2**40])),
    ("indptr", np.array([0, 3])),
    ("indptr", np.array([], dtype=np.int64)),
    ("data", np.ones(2)),
    ("data", np.array([1.0, np.nan, 1.0])),
    ("data", np.array([1.0, np.inf, 1.0])),
    ("data", np.array(["a", "b", "c"])),
    ("shape", np.array([2, 2**40])),
    ("shape", np.array([2.0, 3.0])),
    ("shape", np.array([-2, 3])),
    ("shape", np.array([2])),
]


@pytest.mark.parametrize(("part", "value"), WRONG)
def test_wrong_sparse_matrices_are_refused(tmp_path, part, value):
    arrays = GOOD | {part: value}
    with pytest.raises(DataError, match=r"somewhere"):
        unpack_sparse({f"x/{name}": array for name, array in arrays.items()}, "x/", "somewhere")
    for kind in ("csr", "csc"):
        flipped = arrays | {"shape": arrays["shape"][::-1]} if kind == "csc" else arrays
        np.savez(tmp_path / "x.npz", format=np.array(kind), **flipped)
        with pytest.raises(DataError, match=r"x\.npz"):
            read_sparse(tmp_path / "x.npz")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_sparse_matrices_come_back(tmp_path, kind):
    matrix = sp.random_array((5, 7), density=0.4, rng=0)
    sp.save_npz(tmp_path / "x.npz", matrix.asformat(kind))
    np.testing.assert_array_equal(read_sparse(tmp_path / "x.npz").toarray(), matrix.toarray())
    packed = pack_sparse(matrix.asformat(kind), "m_")
    np.testing.assert_array_equal(unpack_sparse(packed, "m_", "s").toarray(), matrix.toarray())


def test_a_missing_part_is_named():
    with pytest.raises(DataError, match="no array x/indptr"):
        unpack_sparse({"x/data": np.ones(1), "x/indices": np.zeros(1, int)}, "x/", "s")


def test_other_formats_are_named(tmp_path):
    sp.save_npz(tmp_path / "x.npz", sp.eye_array(3, format="dia"))
    with pytest.raises(DataError, match="csr, csc or coo, got 'dia'"):
        read_sparse(tmp_path / "x.npz")


def test_small_numbers_add_up_without_overflow():
    part = np.array([100, 100], dtype=np.int8)
    twice = sp.coo_array((part, ([0, 0], [0, 0])), shape=(1, 1))
    assert canonical_csr(twice, "X", np.float64)[0, 0] == 200
    matrix = checked_csr(part, np.array([0, 0]), np.array([0, 2]), (1, 1), "s")
    assert matrix[0, 0] == 200


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_the_object_of_a_user_is_checked_and_not_changed(kind):
    twice = sp.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2)).asformat(kind)
    if kind != "coo":
        arrays = (np.array([1.0, 2, 4]), np.array([1, 1, 0]), np.array([0, 2, 3]))
        twice = (sp.csr_array if kind == "csr" else sp.csc_array)(arrays, shape=(2, 2))
    dense, nnz = twice.toarray(), twice.nnz
    assert canonical_csr(twice, "X").nnz == 2
    assert twice.nnz == nnz == 3
    np.testing.assert_array_equal(canonical_csr(twice, "X").toarray(), dense)
    (twice.row if kind == "coo" else twice.indices)[0] = 9
    with pytest.raises(InputError, match="X must be a valid sparse matrix, got indices"):
        canonical_csr(twice, "X")


@pytest.mark.parametrize(
    "value", ["", "many", "1 XB", "-1GB", 0, -5, True, float("nan"), float("inf"), [1], "0"]
)
def test_wrong_amounts_of_memory_say_what_is_taken(value):
    with pytest.raises(InputError, match=r"memory_limit must be None.*'500MB'"):
        parse_bytes(value)


def test_amounts_of_memory():
    assert parse_bytes("1gb") == 10**9
    assert parse_bytes("1.5 GiB") == 1.5 * 2**30
    assert parse_bytes(None) is None
    assert parse_bytes(" 2 MiB ") == 2**21
    assert parse_bytes(np.int64(7)) == 7
    assert parse_bytes("123") == 123
