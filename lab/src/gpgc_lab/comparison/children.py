"""Workers as child processes: on one core each, so many at a time, none beyond its time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

POLL_SECONDS = 0.05
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def run_children(
    jobs: Sequence[dict[str, Any]], folder: Path, time_limit: float, parallel: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Run each job in a process of its own and give what came of it, the first to end first.

    Parameters
    ----------
    jobs : sequence of dict
        What `worker.run_job` takes.
    folder : Path
        For the files that pass between the processes.
    time_limit : float
        Seconds that a process may take.
    parallel : int
        Processes at a time.

    Yields
    ------
    place, answer : int, dict
        Place of the job, and its scores with ``status`` "done"; or ``status`` "failed" with an
        ``error``, or "out of time".
    """
    running: dict[int, _Child] = {}
    waiting = list(range(len(jobs)))
    try:
        while waiting or running:
            while waiting and len(running) < parallel:
                place = waiting.pop(0)
                running[place] = _Child(jobs[place], folder / str(place))
            for place, child in list(running.items()):
                answer = child.answer(time_limit)
                if answer is not None:
                    del running[place]
                    yield place, answer
            time.sleep(POLL_SECONDS)
    finally:
        for child in running.values():
            child.end()


class _Child:
    def __init__(self, job: dict[str, Any], files: Path) -> None:
        self._answer = files.with_suffix(".answer")
        self._complaint = files.with_suffix(".stderr")
        order = files.with_suffix(".job")
        order.write_text(json.dumps(job))
        module = "gpgc_lab.comparison.worker"
        with self._complaint.open("wb") as complaint:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, str(order), str(self._answer)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaint,
                env={**os.environ, **dict.fromkeys(THREADS, "1")},
                start_new_session=True,  # an interrupt from the keyboard is ours to handle
            )
        self._start = time.monotonic()

    def answer(self, time_limit: float) -> dict[str, Any] | None:
        """Return what came of the job, None while it runs."""
        code = self._process.poll()
        if code is None and time.monotonic() - self._start <= time_limit:
            return None
        if code is None:
            self.end()
            return {"status": "out of time"}
        if code == 0:
            return {"status": "done", **json.loads(self._answer.read_text())}
        lines = self._complaint.read_text(errors="replace").strip().splitlines()
        reason = f"killed by signal {-code}" if code < 0 else (lines or [f"exit code {code}"])[-1]
        return {"status": "failed", "error": reason[:300]}

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
