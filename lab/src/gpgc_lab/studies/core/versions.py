"""The versions that are compared: this code, and another one as a wheel in its own environment."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import gpgc
from gpgc.errors import DataError, InputError
from gpgc.files import write_file
from gpgc_lab.code_digest import core_digest
from gpgc_lab.datasets.fetch import cache_folder
from gpgc_lab.speed.measure import in_own_process

SHARED = ("numpy", "scipy", "scikit-learn", "threadpoolctl", "narwhals", "typer", "rich", "numba")
"""Libraries that both versions have in the same release, as far as they are here."""


@dataclass(frozen=True)
class Version:
    """A version: its name in tables, its interpreter, what its code is known by, its folder."""

    name: str
    python: str
    code: str
    home: Path

    def call(self, job: str, limit: float | None = None, **arguments: Any) -> dict[str, Any]:
        """Run a function of the worker under this version, on one core."""
        answer = in_own_process(
            f"gpgc_lab.studies.core.worker:{job}",
            arguments,
            cores=1,
            python=self.python,
            limit=limit,
        )
        if Path(answer["home"]).resolve() != self.home.resolve():
            raise DataError(f"{self.name} must run gpgc in {self.home}, got {answer['home']}")
        return answer


def this_version() -> Version:
    """Return the code that runs now."""
    home = Path(gpgc.__file__).parent
    return Version("this code", sys.executable, core_digest(), home)


def built_version(revision: str) -> Version:
    """Return another revision of this clone, built as a wheel and installed in the user's cache.

    Raises
    ------
    InputError
        If this is no clone of gpgc, or has no such revision.
    """
    commit = _git("rev-parse", "--verify", f"{revision}^{{commit}}").strip()
    folder = cache_folder("versions") / commit[:12]
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    mark = folder / "gpgc-version.txt"
    if not mark.exists():
        _install(commit, folder, python)
    number, _, home = mark.read_text().partition("\n")
    return Version(f"{number} ({commit[:7]})", str(python), commit, Path(home.strip()))


def _install(commit: str, folder: Path, python: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        _git("archive", "--output", str(work / "source.tar"), commit)
        with tarfile.open(work / "source.tar") as archive:
            archive.extractall(work / "source", filter="data")
        pip = [sys.executable, "-m", "pip"]
        _run([*pip, "wheel", "--quiet", "--no-deps", "-w", str(work), str(work / "source")])
        (wheel,) = work.glob("gpgc-*.whl")
        (work / "same.txt").write_text("".join(f"{one}\n" for one in _releases()))
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        wanted = [str(wheel), *(one for one in _releases() if one.startswith("numba"))]
        _run(
            [str(python), "-m", "pip", "install", "--quiet", "-c", str(work / "same.txt"), *wanted]
        )
    told = _run([str(python), "-I", "-c", "import gpgc; print(gpgc.__version__, gpgc.__file__)"])
    number, _, file = told.strip().partition(" ")
    write_file(folder / "gpgc-version.txt", f"{number}\n{Path(file).parent}\n".encode())


def _releases() -> list[str]:
    found = []
    for library in SHARED:
        try:
            found.append(f"{library}=={version(library)}")
        except PackageNotFoundError:
            continue
    return found


def _git(*arguments: str) -> str:
    clone = Path(__file__).parents[5]  # above lab/src/gpgc_lab/studies/core
    done = subprocess.run(["git", *arguments], cwd=clone, capture_output=True, text=True)
    if done.returncode:
        raise InputError(
            f"against must be a revision of the clone that the laboratory is run from, "
            f"got {done.stderr.strip()[:200]}"
        )
    return done.stdout


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise DataError(f"{' '.join(command[:4])} …: {done.stderr.strip()[-500:]}")
    return done.stdout
