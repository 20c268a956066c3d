"""A file is written whole, where it leads to, with the mode it had."""

import os
import stat
import subprocess
import sys
import threading

import pytest

from gpgc.errors import InputError
from gpgc.files import write_file

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_an_existing_file_keeps_its_mode(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_file(path, b"new")
    assert (path.read_bytes(), mode(path)) == (b"new", 0o600)


@pytest.mark.parametrize(("umask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_gets_what_the_umask_leaves(tmp_path, umask, expected):
    before = os.umask(umask)
    try:
        write_file(tmp_path / "new", b"x")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == expected


def test_a_link_stays_and_its_target_is_written(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "target", tmp_path / "link"
    link.symlink_to("there/target")
    for content in (b"first", b"second"):  # a link to nothing, then to a file
        write_file(link, content, sync=True)
        assert link.is_symlink()
        assert target.read_bytes() == content
    assert [path.name for path in target.parent.iterdir()] == ["target"]


def test_a_fifo_is_written_into(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    got = []
    reader = threading.Thread(target=lambda: got.append(fifo.read_bytes()))
    reader.start()
    write_file(fifo, b"through")
    reader.join(10)
    assert got == [b"through"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_a_device_stays_a_device():
    write_file("/dev/null", b"nothing")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_an_open_descriptor_is_written_into(tmp_path):
    code = "from gpgc.files import write_file; write_file('/dev/stdout', b'second')"
    with (tmp_path / "log").open("ab") as log:
        log.write(b"first ")
        log.flush()
        subprocess.run([sys.executable, "-c", code], stdout=log, check=True)
    assert (tmp_path / "log").read_bytes() == b"first second"


def test_folders_are_refused(tmp_path):
    with pytest.raises(InputError, match="folder that exists"):
        write_file(tmp_path / "no" / "file", b"")
    with pytest.raises(InputError, match="must be a file"):
        write_file(tmp_path, b"")


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="full"):
        write_file(tmp_path / "file", b"x")
    assert list(tmp_path.iterdir()) == []
