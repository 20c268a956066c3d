"""Ctrl-C ends a command with exit code 130, without a traceback and without half a file."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest

COMMAND = "import gpgc.compute.progress as p; p.DELAY = 0; from gpgc.cli import main; main()"
MINDED = """
import signal, sys
mind = signal.signal

def say(*arguments):
    signal.signal = mind
    mind(*arguments)
    sys.stdout.write("minded\\n")
    sys.stdout.flush()

signal.signal = say
from gpgc.cli import main
main()
"""
"""The command line, which says when it minds interrupts: before that, Python starts up."""

LINKS = ["--edges", "edges.csv", "--labels", "labels.csv", "--out", "out.csv"]
SECONDS = 120
"""How long an interrupted command may take to end."""

needs_fifos = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")


@contextmanager
def running(folder, *arguments, code=COMMAND):
    """Start a command that takes long, in a folder of its own."""
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_nothing_is_left_behind_in_the_middle_of_the_work(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "features.npy", rng.normal(size=(40_000, 64)))
    (tmp_path / "labels.csv").write_text("id,label\n0,a\n1,b\n")
    (tmp_path / "out.csv").write_text("as it was")
    before = sorted(os.listdir(tmp_path))
    files = ("--features", "features.npy", "--labels", "labels.csv", "--out", "out.csv")
    with running(tmp_path, "classify", *files) as process:
        while "labelling" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, error
    assert "Traceback" not in error
    assert (tmp_path / "out.csv").read_text() == "as it was"
    assert sorted(os.listdir(tmp_path)) == before


@pytest.fixture(scope="module")
def waiting(tmp_path_factory):
    """A folder in which a command never gets its labels, and the seconds until it waits for them.

    It was interrupted there.
    """
    folder = tmp_path_factory.mktemp("waiting")
    os.mkfifo(folder / "labels.csv")
    (folder / "edges.csv").write_text("source,target\na,b\n")
    start = time.perf_counter()
    with running(folder, "classify", *LINKS) as process:
        assert "reading" in process.stderr.readline()
        seconds = time.perf_counter() - start
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=SECONDS)
    assert (process.returncode, "Traceback" in error) == (130, False), error
    return folder, seconds


@needs_fifos
def test_waiting_for_input_may_be_interrupted(waiting):
    folder, _ = waiting
    assert sorted(os.listdir(folder)) == ["edges.csv", "labels.csv"]


def interrupted_at(folder, seconds):
    """Interrupt a command so many seconds after it minds interrupts; it waits for its labels."""
    with running(folder, "classify", *LINKS, code=MINDED) as process:
        assert process.stdout.readline() == "minded\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=SECONDS)
    said = [line for line in error.splitlines() if not line.endswith("so far")]  # how far it is
    assert (process.returncode, out, said) == (130, "", []), (seconds, error)


@needs_fifos
@pytest.mark.parametrize("fraction", [0.0, 0.3, 0.8])
def test_start_up_may_be_interrupted(waiting, fraction):
    folder, seconds = waiting
    interrupted_at(folder, fraction * seconds)


@needs_fifos
@pytest.mark.slow
def test_start_up_may_be_interrupted_at_any_moment(waiting):
    folder, seconds = waiting
    for fraction in np.random.default_rng(0).uniform(0, 1.1, size=30):
        interrupted_at(folder, fraction * seconds)


def test_the_handler_of_interrupts_is_there_before_anything_large_is_imported():
    code = "import sys, gpgc.cli; print({'numpy', 'scipy', 'typer', 'click'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
