"""Damaged files end in one sentence: no crash, no hang, no traceback, no claim of all memory.

A few seconds with fixed seeds by default. ``GPGC_FUZZ=5000`` reads so many damaged files with every
reader, from other seeds each time.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fuzz.readers import readers

WANTED = int(os.environ.get("GPGC_FUZZ", "0"))
FIRST = int(time.time()) if WANTED else 0

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")


@pytest.mark.parametrize(("kind", "usual"), [("tables", 50), ("arrays", 50), ("models", 8)])
def test_damaged_files_end_in_a_sentence(tmp_path, kind, usual):
    count = WANTED or usual
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.readers", tmp_path, kind, str(FIRST), str(count)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    cases = done.stdout.splitlines()
    assert done.returncode == 0, f"case {cases[-1:]}:\n{done.stderr[-3000:]}"
    assert len(cases) == len(readers(kind)) * count
