"""Seconds as minima of repeats, and peak memory of a process of its own.

This module needs the standard library alone to be imported, so that a process can hold itself to
some cores before NumPy looks at them, and so that it runs in a rival's environment too.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from gpgc_lab.process_memory import process_memory

PAUSE = 0.05
"""Seconds before each piece of timed work."""

ROOT = Path(__file__).parent.parent.parent
_CLEAR = Path("/proc/self/clear_refs")


def fastest(works: Sequence[Callable[[], Any]], repeats: int) -> list[float]:
    """Return the least seconds of each piece of work.

    They run in turns, so that what else the machine does hits all of them alike, with a pause
    before each, because the threads of a BLAS spin on for some 30 ms after a product.
    """
    seconds = [float("inf")] * len(works)
    for _ in range(repeats):
        for place, work in enumerate(works):
            sleep(PAUSE)
            start = perf_counter()
            work()
            seconds[place] = min(seconds[place], perf_counter() - start)
    return seconds


def in_own_process(
    job: str,
    arguments: dict[str, Any],
    *,
    cores: int | None = None,
    python: str = sys.executable,
    limit: float | None = None,
) -> dict[str, Any]:
    """Run a function in a fresh process and return its answer with its peak memory.

    Parameters
    ----------
    job : str
        ``"module:function"``; the function takes and returns what JSON can hold.
    arguments : dict
        Keyword arguments of the function.
    cores : int, optional
        Number of cores that the process may use; all when not given.
    python : str
        The interpreter, where it is that of another environment.
    limit : float, optional
        Seconds after which it is given up, with `TimeoutError`.

    Returns
    -------
    dict
        What the function returned, and ``peak``: bytes at the peak over those after the imports,
        the data included.
    """
    order = json.dumps({"job": job, "arguments": arguments, "cores": cores})
    known = dict(os.environ)
    if python != sys.executable:
        known.pop("PYTHONPATH", None)  # it names the packages of this environment
    try:
        done = subprocess.run(
            [python, "-m", "gpgc_lab.speed.measure"],
            input=order,
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=known,
            timeout=limit,
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"{job} did not finish in {limit:g} seconds") from error
    if done.returncode:
        raise RuntimeError(f"{job} failed in its own process:\n{done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def forget_peak() -> None:
    """Let the peak start anew, where the system can: making the data is not part of the job."""
    if _CLEAR.exists():
        _CLEAR.write_text("5")


def machine() -> str:
    """Return what the numbers were measured on, in a line."""
    import numpy as np
    from threadpoolctl import threadpool_info

    from gpgc_lab.origin import processor

    libraries = {
        f"{pool['internal_api']} {pool['version']}"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }
    blas = ", ".join(sorted(libraries)) or "unknown BLAS"
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return (
        f"{processor()}, {_cores()} cores, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, {blas}; load at the start {load}"
    )


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _serve() -> None:
    """Do the job that standard input names, in this process."""
    order = json.load(sys.stdin)
    if order["cores"] is not None:
        available = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, available[-order["cores"] :])
    module, _, name = order["job"].partition(":")
    function = getattr(import_module(module), name)
    before = process_memory()
    answer = function(**order["arguments"])
    after = process_memory()
    if before is None or after is None:
        raise SystemExit("the system does not tell the memory of a process")
    print(json.dumps({**answer, "peak": after.peak - before.held}))


if __name__ == "__main__":
    _serve()
