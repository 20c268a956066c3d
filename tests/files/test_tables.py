"""Tables as users have them: read where that is simple, else one sentence says what they are."""

import gzip
import os
import sys
import threading

import pytest

from gpgc.errors import InputError
from gpgc.files import read_table

PLAIN = b"id,label\na,red\nb, blue \n"
EXPECTED = [{"id": "a", "label": "red"}, {"id": "b", "label": "blue"}]


def rows(path):
    return [row for _, row in read_table(path).select(["id", "label"])]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", PLAIN),
        ("t.csv", b"\xef\xbb\xbf" + PLAIN),
        ("t.csv", PLAIN.replace(b"\n", b"\r\n")),
        ("t.csv", b"ID,Label\na,red\nb,blue"),
        ("t.csv", b"other,id,label\n1,a,red\n\n2,b,blue\n"),
        ("t.csv", b'"id","label"\n"a","red"\n"b","blue"\n'),
        ("t.tsv", PLAIN.replace(b",", b"\t")),
        ("t.txt", PLAIN.replace(b",", b"\t")),
        ("t.tsv", b"id\tlabel\tfree, text\na\tred\t1,2\nb\tblue\t3\n"),
        ("t.csv.gz", gzip.compress(PLAIN, mtime=0)),
        ("t.csv", gzip.compress(PLAIN, mtime=0)),
        ("t.tsv.gz", gzip.compress(PLAIN.replace(b",", b"\t"), mtime=0)),
    ],
)
def test_what_is_read(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    assert rows(path) == EXPECTED


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "line 1: expected a header, the file is empty"),
        (PLAIN.replace(b",", b";"), "semicolons.*save it as CSV with commas"),
        (PLAIN.replace(b",", b"|"), "vertical bars"),
        (PLAIN.decode().encode("utf-16"), "UTF-16.*UTF-8"),
        (PLAIN.decode().encode("utf-16-le"), "UTF-16.*UTF-8"),
        (b"id,label\na,r\xe9d\n", "UTF-8"),
        (b"PK\x03\x04....", "zip archive.*xlsx"),
        (b"\x93NUMPY...", "binary data"),
        (b"BZh9....", "compressed.*gzip"),
        (gzip.compress(PLAIN, mtime=0)[:20], "gzipped table, got a damaged one"),
        (b"id,id,label\na,b,c\n", "column id once"),
        (b"id,name\na,b\n", "expected the columns id,label, got id,name without label"),
        (b"id,label\na\n", "line 2: expected 2 values, got 1"),
        (b'id,label\na,"open\nb,blue\n', "line 3: unexpected end of data"),
        (b"id,label" + b"x" * 140_000 + b"\n", "field larger than field limit"),
        (b"id,label\na," + b"x" * 140_000 + b"\n", "field larger than field limit"),
    ],
)
def test_what_is_not_says_so(tmp_path, content, words):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        rows(path)
    assert len(str(caught.value)) < 500


def test_endless_lines_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("gpgc.files.tables.LONGEST_LINE", 1000)
    path = tmp_path / "t.csv"
    path.write_bytes(gzip.compress(b"id,label\n" + b"," * 100_000, mtime=0))
    with pytest.raises(InputError, match="without an end"):
        rows(path)


@pytest.mark.skipif(os.name != "posix", reason="FIFOs of POSIX")
@pytest.mark.parametrize("content", [PLAIN, gzip.compress(PLAIN, mtime=0)])
def test_a_fifo_is_read(tmp_path, content):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(content,))
    writer.start()
    assert rows(path) == EXPECTED
    writer.join(10)


def test_parquet_is_read_where_pyarrow_is_installed(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    columns = {"Id": ["a", "b", "c"], "label": ["red", "blue", None]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    assert rows(tmp_path / "t.parquet") == [*EXPECTED, {"id": "c", "label": ""}]
    parquet.write_table(pyarrow.table({"id": [1, 2], "label": [3, 4]}), tmp_path / "n.parquet")
    assert rows(tmp_path / "n.parquet")[0] == {"id": "1", "label": "3"}
    damaged = (tmp_path / "t.parquet").read_bytes()[:-30]
    (tmp_path / "t.parquet").write_bytes(damaged)
    with pytest.raises(InputError, match="Parquet"):
        rows(tmp_path / "t.parquet")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1....")
    with pytest.raises(InputError, match="pip install pyarrow"):
        rows(tmp_path / "t.parquet")
