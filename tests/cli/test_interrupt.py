"""Ctrl-C ends a command with exit code 130, without a traceback and without half a file."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

COMMAND = "import gpgc.compute.progress as p; p.DELAY = 0; from gpgc.cli import main; main()"

needs_fifos = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")


@pytest.fixture
def running(tmp_path):
    """Start a command that takes long, in a folder of its own; wait for its first line."""
    processes = []

    def start(*arguments, code=COMMAND):
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()


def test_nothing_is_left_behind_in_the_middle_of_the_work(tmp_path, running):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "features.npy", rng.normal(size=(40_000, 64)))
    (tmp_path / "labels.csv").write_text("id,label\n0,a\n1,b\n")
    (tmp_path / "out.csv").write_text("as it was")
    before = sorted(os.listdir(tmp_path))
    files = ("--features", "features.npy", "--labels", "labels.csv", "--out", "out.csv")
    process = running("classify", *files)
    while "labelling" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert "Traceback" not in error
    assert (tmp_path / "out.csv").read_text() == "as it was"
    assert sorted(os.listdir(tmp_path)) == before


@needs_fifos
def test_waiting_for_input_may_be_interrupted(tmp_path, running):
    os.mkfifo(tmp_path / "labels.csv")
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    process = running(
        "classify", "--edges", "edges.csv", "--labels", "labels.csv", "--out", "out.csv"
    )
    assert "reading" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert "Traceback" not in error
    assert not (tmp_path / "out.csv").exists()


STARTED = (
    "import sys, gpgc; sys.stdout.write('started\\n'); sys.stdout.flush(); "
    "from gpgc.cli import main; sys.argv[0] = 'gpgc'; main()"
)
FIRST_MOMENT = 0.02
"""Seconds until the handler of interrupts is there; before, Python starts up."""


def interrupted_at(running, delay):
    """Interrupt a command so many seconds after its first moment; it waits for its labels."""
    files = ("--edges", "edges.csv", "--labels", "labels.csv", "--out", "out.csv")
    process = running("classify", *files, code=STARTED)
    assert process.stdout.readline() == "started\n"
    time.sleep(FIRST_MOMENT + delay)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out, error) == (130, "", ""), (delay, error)


@pytest.fixture
def waiting(tmp_path, running):
    """Return how to start a command that never gets its labels, and its seconds of start-up."""
    os.mkfifo(tmp_path / "labels.csv")
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    process = running(
        "classify", "--edges", "edges.csv", "--labels", "labels.csv", "--out", "out.csv"
    )
    start = time.perf_counter()
    assert "reading" in process.stderr.readline()
    seconds = time.perf_counter() - start
    process.kill()
    return running, seconds


@needs_fifos
@pytest.mark.parametrize("fraction", [0.0, 0.3, 0.6, 0.9])
def test_start_up_may_be_interrupted(waiting, fraction):
    running, seconds = waiting
    interrupted_at(running, fraction * seconds)


@needs_fifos
@pytest.mark.slow
def test_start_up_may_be_interrupted_at_any_moment(waiting):
    running, seconds = waiting
    for fraction in np.random.default_rng(0).uniform(0, 1.1, size=30):
        interrupted_at(running, fraction * seconds)


def test_the_handler_of_interrupts_is_there_before_anything_large_is_imported():
    code = "import sys, gpgc.cli; print({'numpy', 'scipy', 'typer', 'click'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
