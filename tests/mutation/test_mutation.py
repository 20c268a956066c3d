"""How many small changes to the core the tests of its rooms notice; run by ``-m mutation``.

``GPGC_MUTATIONS`` says how many changes are tried in all rooms together, ``GPGC_MUTATION_SEED``
which ones, ``GPGC_MUTATION_ROOMS`` in which rooms. Each is made in a copy of the tree, and the
room's tests run on it until one fails. Survivors are printed as a table: each wants a test, or is
no change of behaviour (a buffer's size, a tie, a bound that is never reached).

``GPGC_MUTATION_RESULTS`` names a folder that keeps each trial, so that a run which was stopped
goes on: a change that was noticed is not tried again while its file stays the same, a survivor not
while the tests stay the same, too. Scores and survivors are written there with their origin.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pytest

from gpgc.files import Journal
from tests.mutation.mutants import Mutant, mutants_of

ROOT = Path(__file__).parents[2]

TESTS = {
    "kernels": ["tests/kernels", "tests/test_reference.py"],
    "gp": ["tests/gp", "tests/test_reference.py"],
    "selection": ["tests/selection", "tests/models/test_learning.py", "tests/gp", "tests/pins"],
    "probability": ["tests/probability", "tests/gp", "tests/pins"],
}
"""Tests of each room."""

SLOW = "not five_hundred and not wide_random and not random_networks and not pickled_estimator"
"""Tests that take long and notice nothing that the others do not."""

LEAST_SCORE = 0.85
"""Fraction of changes that must be noticed, with twenty of them or more."""


@dataclass(frozen=True)
class Outcome:
    """Whether one change was noticed, and by which tests."""

    room: str
    file: str
    line: int
    change: str
    place: int
    which: int
    noticed: bool
    source: str
    tests: str


class Trial:
    """The tests of rooms in a copy of the tree."""

    def __init__(self, tree: Path) -> None:
        path = os.pathsep.join([str(tree), str(tree / "src"), str(tree / "lab" / "src")])
        more = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.tree = tree
        self.runner = subprocess.Popen(
            [sys.executable, ROOT / "tests" / "mutation" / "runner.py"],
            cwd=tree,
            env={name: os.environ[name] for name in os.environ if name != "GPGC_DATA"} | more,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def survives(self, room: str, file: Path | None) -> bool:
        """Tell whether the tests of a room, and the examples of a file, pass.

        What is most likely to notice a change comes first: the examples, and tests of its name.
        """
        if file is None:
            return self.passes(TESTS[room])
        named = sorted(self.tree.glob(f"tests/*/test_{file.stem}.py"))
        return self.passes([str(first) for first in (file, *named)]) and self.passes(TESTS[room])

    def passes(self, places: list[str]) -> bool:
        command = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
        command += ["-o", "addopts=--doctest-modules --strict-markers"]
        command += ["-m", "not slow and not docs and not mutation and not data", "-k", SLOW]
        print(json.dumps(command + places), file=self.runner.stdin, flush=True)
        return self.runner.stdout.readline() in ("0\n", f"{pytest.ExitCode.NO_TESTS_COLLECTED}\n")


@pytest.fixture
def tree(tmp_path):
    for name in ("src", "tests", "lab"):
        ignored = shutil.ignore_patterns("__pycache__", "results", "features", "browser")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    for name in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


@pytest.fixture
def trial(tree):
    started = Trial(tree)
    yield started
    started.runner.kill()
    started.runner.communicate()


@pytest.mark.mutation
@pytest.mark.timeout(0)
def test_small_changes_are_noticed(tree, trial, tmp_path, capsys):
    kept = Path(os.environ.get("GPGC_MUTATION_RESULTS", tmp_path / "results"))
    kept.mkdir(parents=True, exist_ok=True)
    journal = Journal(kept / "mutation_runs.jsonl")
    known = {key_of(found): found for found in (Outcome(**each) for each in journal.records)}
    outcomes, sound = [], set()
    for room, file, mutant in drawn_changes():
        source, name = file.read_text(encoding="utf-8"), f"{room}/{file.name}"
        unknown = Outcome(
            *(room, name, mutant.line, mutant.change, mutant.place, mutant.which, False),
            *(digest(source), digest(*(test.read_text() for test in files_of(room)))),
        )
        found = known.get(key_of(unknown))
        if found is None or not (found.noticed or found.tests == unknown.tests):
            if room not in sound:
                assert trial.survives(room, None), f"the tests of {room} fail without any change"
                sound.add(room)
            found = tried(trial, tree, unknown, mutant, source)
            journal.append(asdict(found))
            with capsys.disabled():
                print(f"\n{'noticed ' if found.noticed else 'SURVIVED'}  {place_of(found)}")
        outcomes.append(found)
    report = as_markdown(outcomes)
    (kept / "mutation.md").write_text(report, encoding="utf-8")
    with capsys.disabled():
        print(f"\n{report}")
    if "GPGC_MUTATION_RESULTS" in os.environ:
        write_origin(kept / "mutation.origin.json", len(outcomes))
    score = sum(found.noticed for found in outcomes) / len(outcomes)
    assert len(outcomes) < 20 or score >= LEAST_SCORE


def rooms() -> list[str]:
    return os.environ.get("GPGC_MUTATION_ROOMS", ",".join(TESTS)).split(",")


def drawn_changes() -> list[tuple[str, Path, Mutant]]:
    """Return as many changes of each room, all as likely; more of them begin with the same."""
    seed = int(os.environ.get("GPGC_MUTATION_SEED", "0"))
    n_each = -(-int(os.environ.get("GPGC_MUTATIONS", "8")) // len(rooms()))
    found = []
    for room in rooms():
        changes = [
            (room, file, mutant)
            for file in sorted((ROOT / "src" / "gpgc" / room).glob("[a-z]*.py"))
            for mutant in mutants_of(file.read_text(encoding="utf-8"))
        ]
        random.Random(f"{seed} {room}").shuffle(changes)
        found.append([change for change in changes if change[2].counts][:n_each])
    return [change for each in zip(*found, strict=False) for change in each]


def tried(trial: Trial, tree: Path, unknown: Outcome, mutant: Mutant, source: str) -> Outcome:
    """Return whether a change is noticed."""
    file = tree / "src" / "gpgc" / unknown.file
    file.write_text(mutant.applied(source), encoding="utf-8")
    lives = trial.survives(unknown.room, file)
    file.write_text(source, encoding="utf-8")
    return replace(unknown, noticed=not lives)


def files_of(room: str) -> list[Path]:
    places = [ROOT / name for name in TESTS[room]]
    return [
        file for place in places for file in ([place], sorted(place.glob("*.py")))[place.is_dir()]
    ]


def digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


def key_of(found: Outcome) -> tuple[str, str, int, int]:
    return (found.file, found.source, found.place, found.which)


def place_of(found: Outcome) -> str:
    change = found.change.replace("|", "\\|")
    return f"{found.file}:{found.line} | `{change[:100]}`"


def as_markdown(outcomes: list[Outcome]) -> str:
    """Return scores and survivors as tables."""
    rows = []
    for room in [*dict.fromkeys(found.room for found in outcomes), None]:
        told = [found.noticed for found in outcomes if room in (found.room, None)]
        score = f"{sum(told) / len(told):.0%}"
        rows.append(f"| {room or 'all'} | {len(told)} | {sum(told)} | {score} |")
    survivors = [f"| {place_of(found)} |" for found in outcomes if not found.noticed]
    lines = ["### Small changes that the tests notice", ""]
    lines += ["| room | changes | noticed | score |", "| --- | --- | --- | --- |", *rows, ""]
    lines += ["| survivor | change |", "| --- | --- |", *survivors]
    return "\n".join(lines) + "\n"


def write_origin(path: Path, n_changes: int) -> None:
    """Write the command, commit, date and machine beside the tables."""
    lab = pytest.importorskip("gpgc_lab.origin", reason="an origin is written by gpgc-lab")
    names = ("GPGC_MUTATION_SEED", "GPGC_MUTATION_ROOMS")
    told = [f"{name}={os.environ[name]}" for name in names if name in os.environ]
    command = [f"GPGC_MUTATIONS={n_changes}", *told, "pytest -n 0 -m mutation tests/mutation"]
    path.write_text(json.dumps(lab.origin(" ".join(command)), indent=1), encoding="utf-8")


def test_sizes_and_what_is_asked_of_memory_count_for_no_answer():
    source = """
TILE_BYTES, NOISE = 2**20, 0.5
CHUNK_ROWS = 256
def f(context, rank):
    context.require(8 * rank, "rows")
    found = np.empty((rank, 2))
    return NOISE * rank
"""
    counted = [mutant.change for mutant in mutants_of(source) if mutant.counts]
    assert {change.partition(" -> ")[0] for change in counted} == {
        *("2", "20", "0.5", "NOISE * rank"),
    }


def test_mutants_are_valid_and_differ_from_the_source():
    for room in TESTS:
        for file in sorted((ROOT / "src" / "gpgc" / room).glob("[a-z]*.py"))[:3]:
            source = file.read_text(encoding="utf-8")
            found = mutants_of(source)
            assert found, file
            for mutant in found[:5]:
                compile(mutant.applied(source), str(file), "exec")
                assert mutant.change.split(" -> ")[0] != mutant.change.split(" -> ")[1]
