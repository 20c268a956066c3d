"""Ctrl-C ends a command with exit code 130, without a traceback and without half a file."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

COMMAND = "import gpgc.compute.progress as p; p.DELAY = 0; from gpgc.cli import main; main()"


@pytest.fixture
def running(tmp_path):
    """Start a command that takes long, in a folder of its own; wait for its first line."""
    processes = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *arguments],
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
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
