"""Run a command as a user would: in this process, or in one of its own where that is tested."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import warnings
from typing import NamedTuple

import pytest

from gpgc.cli.app import main
from gpgc.errors import GPGCWarning


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments, cwd=None) -> Done:
    """Run a command in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        pytest.MonkeyPatch.context() as patch,
        warnings.catch_warnings(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.chdir(cwd or ".")
        patch.setattr(sys, "argv", ["gpgc", *map(str, arguments)])
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", GPGCWarning)
        with pytest.raises(SystemExit) as stopped:
            main()
    said = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return Done(stopped.value.code or 0, *said)


def start(*arguments, cwd=None) -> Done:
    """Run a command in a process of its own, from imports to exit code."""
    command = [sys.executable, "-m", "gpgc", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
    return Done(done.returncode, done.stdout, done.stderr)
