"""A journal keeps every line that was written whole, and passes over one that was not."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpgc.errors import DataError
from gpgc.files import Journal

STORED = Path(__file__).parents[1] / "compatibility" / "v0_1"


def test_records_come_back_in_order(tmp_path):
    journal = Journal(tmp_path / "new" / "runs.jsonl", sync=True)
    assert journal.records == []
    for seed in range(3):
        journal.append({"seed": seed, "text": "é\n"})
    again = Journal(journal.path)
    assert again.records == journal.records == [{"seed": s, "text": "é\n"} for s in range(3)]


@pytest.mark.parametrize("torn", [b'{"seed": 1', b"\0\0\0", b"{", b'{"seed": "\xc3', b"17"])
def test_a_torn_last_line_is_passed_over_and_removed_by_the_next(tmp_path, torn):
    path = tmp_path / "runs.jsonl"
    path.write_bytes(b'{"seed": 0}\n' + torn)
    journal = Journal(path)
    assert journal.records == [{"seed": 0}]
    assert path.read_bytes().endswith(torn)  # reading changes nothing
    journal.append({"seed": 2})
    assert path.read_bytes() == b'{"seed": 0}\n{"seed": 2}\n'


def test_a_whole_last_line_without_a_break_is_kept(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_bytes(b'{"seed": 0}')
    journal = Journal(path)
    journal.append({"seed": 1})
    assert Journal(path).records == [{"seed": 0}, {"seed": 1}]


@pytest.mark.parametrize("line", [b"no json", b"[1]", b"17", b"\xff\xfe", b"[" * 100_000])
def test_a_wrong_line_is_named(tmp_path, line):
    path = tmp_path / "runs.jsonl"
    path.write_bytes(b'{"seed": 0}\n\n' + line + b"\n")
    with pytest.raises(DataError, match=r"runs\.jsonl line 3: expected a JSON object"):
        Journal(path)


@pytest.mark.parametrize("name", ["active_runs", "compare_cora_runs", "images_runs"])
def test_journals_of_version_0_1_are_read(name):
    path = STORED / f"{name}.jsonl"
    lines = path.read_text().splitlines()
    assert Journal(path).records == [json.loads(line) for line in lines]


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_processes_that_write_at_once_lose_nothing(tmp_path):
    code = (
        "import sys; from gpgc.files import Journal; j = Journal(sys.argv[1])\n"
        "for i in range(50): j.append({'writer': sys.argv[2], 'i': i, 'text': 'x' * 5000})"
    )
    path = tmp_path / "runs.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(path), str(name)]) for name in range(3)
    ]
    assert [writer.wait(300) for writer in writers] == [0, 0, 0]
    assert len(Journal(path).records) == 150


@pytest.mark.parametrize("sync", [False, True])
def test_a_line_that_a_full_disk_cuts_off_is_taken_back(tmp_path, monkeypatch, sync):
    journal = Journal(tmp_path / "runs.jsonl", sync=sync)
    journal.append({"seed": 0})
    before, write = journal.path.read_bytes(), os.write
    left = [5]

    def nearly_full(handle, data):
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = write(handle, data[: left[0]])
        left[0] -= written
        return written

    with monkeypatch.context() as patched:
        patched.setattr("gpgc.files.journal.os.write", nearly_full)
        with pytest.raises(OSError, match="No space"):
            journal.append({"seed": 1})
    assert journal.path.read_bytes() == before
    assert journal.records == [{"seed": 0}]
    journal.append({"seed": 2})
    assert Journal(journal.path).records == [{"seed": 0}, {"seed": 2}]


def test_a_line_that_did_not_reach_the_disk_is_taken_back(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "runs.jsonl", sync=True)
    journal.append({"seed": 0})

    def fails(handle):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr("gpgc.files.journal.os.fsync", fails)
        with pytest.raises(OSError, match="Input"):
            journal.append({"seed": 1})
    assert journal.path.read_bytes() == b'{"seed": 0}\n'
