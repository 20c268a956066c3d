"""Where numbers come from: the command, the date, the machine and the versions."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import gpgc
from gpgc_lab.code_digest import core_digest

LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch", "torch_geometric", "gensim")


def origin(command: str) -> dict[str, Any]:
    """Return what is kept beside a result, with a digest of the core rooms that made it.

    Examples
    --------
    >>> sorted(origin("gpgc compare cora"))
    ['command', 'commit', 'core', 'date', 'machine', 'version']
    """
    return {
        "command": command,
        "core": core_digest(),
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "version": gpgc.__version__,
    }


@cache
def commit() -> str | None:
    """Return the commit of the clone that gpgc is run from, None where it is no clone."""
    try:
        asked = ["git", "rev-parse", "--short", "HEAD"]
        told = subprocess.run(asked, cwd=Path(gpgc.__file__).parent, capture_output=True, text=True)
    except OSError:
        return None
    return told.stdout.strip() if told.returncode == 0 else None


@cache
def machine() -> dict[str, Any]:
    """Return the processor, its cores, and the versions of Python and of the libraries."""
    versions = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            versions[library] = version(library)
        except PackageNotFoundError:
            continue
    return {"processor": processor(), "cores": os.cpu_count(), "versions": versions}


def describe(known: dict[str, Any]) -> str:
    """Return command, day, version, machine and libraries in a line of Markdown.

    Examples
    --------
    >>> describe({"command": "gpgc compare cora", "date": "2030-01-31T12:00:00+00:00",
    ...           "machine": {"processor": "Xeon", "cores": 2, "versions": {"python": "3.12"}}})
    '`gpgc compare cora`, 2030-01-31, Xeon, 2 cores (python 3.12)'
    """
    where = known["machine"]
    versions = ", ".join(f"{library} {number}" for library, number in where["versions"].items())
    place = f"{where['processor']}, {where['cores']} cores ({versions})"
    maker = f", gpgc {known['version']}" if "version" in known else ""
    return f"`{known['command']}`, {known['date'][:10]}{maker}, {place}"


def processor() -> str:
    """Return the name of the processor."""
    description = Path("/proc/cpuinfo")
    if description.exists():
        found = re.search(r"model name\s*:\s*(.+)", description.read_text())
        if found:
            return found[1]
    return platform.processor() or platform.machine()
