"""The memory of this process; needs the standard library alone."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

_STATUS = Path("/proc/self/status")


class ProcessMemory(NamedTuple):
    """Bytes that a process holds, and held at its peak."""

    held: int
    peak: int


def process_memory() -> ProcessMemory | None:
    """Return the memory of this process, None where the system does not tell.

    On Linux not from getrusage, whose peak a child inherits from its parent. Elsewhere the peak
    stands for both.

    Examples
    --------
    >>> memory = process_memory()
    >>> memory is None or memory.peak >= memory.held > 0
    True
    """
    if _STATUS.exists():
        found = dict(re.findall(r"(VmRSS|VmHWM):\s+(\d+)", _STATUS.read_text()))
        if len(found) < 2:
            return None
        return ProcessMemory(int(found["VmRSS"]) * 1024, int(found["VmHWM"]) * 1024)
    if sys.platform == "win32":
        return None
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return ProcessMemory(peak, peak)
