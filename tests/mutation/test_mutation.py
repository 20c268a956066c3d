"""How many small changes to the core the tests of its rooms notice; run by ``-m mutation``.

``GPGC_MUTATIONS`` says how many changes are tried in all rooms together, ``GPGC_MUTATION_SEED``
which ones, ``GPGC_MUTATION_ROOMS`` in which rooms. Each is made in a copy of the tree, and the
room's tests run on it until one fails. Survivors are printed as a table: each wants a test, or is
no change of behaviour (a buffer's size, a tie, a bound that is never reached).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation.mutants import mutants_of

ROOT = Path(__file__).parents[2]

TESTS = {
    "kernels": ["tests/kernels"],
    "gp": ["tests/gp"],
    "probability": ["tests/probability", "tests/gp"],
    "selection": ["tests/selection", "tests/models/test_learning.py"],
}
"""Tests of each room, as far as they are there."""

SLOW = "not five_hundred and not wide_random and not random_networks and not pickled_estimator"
"""Tests that take long and notice nothing that the others do not."""

LEAST_SCORE = 0.5
"""Fraction of changes that must be noticed, with twenty of them or more."""


class Trial:
    """The tests of rooms in a copy of the tree."""

    def __init__(self, tree: Path) -> None:
        path = os.pathsep.join([str(tree), str(tree / "src"), str(tree / "lab" / "src")])
        more = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.tree = tree
        self.runner = subprocess.Popen(
            [sys.executable, ROOT / "tests" / "mutation" / "runner.py"],
            cwd=tree,
            env=os.environ | more,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def survives(self, room: str, file: Path | None) -> bool:
        """Tell whether the tests of a room, and the examples of a file, pass."""
        wanted = [name for name in TESTS[room] if (self.tree / name).exists()]
        command = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
        command += ["-o", "addopts=--doctest-modules --strict-markers"]
        command += ["-m", "not slow and not docs and not mutation and not data", "-k", SLOW]
        command += wanted if file is None else [str(file), *wanted]
        print(json.dumps(command), file=self.runner.stdin, flush=True)
        return self.runner.stdout.readline() == "0\n"


@pytest.fixture
def tree(tmp_path):
    for name in ("src", "tests", "lab"):
        ignored = shutil.ignore_patterns("__pycache__", "*.npz")
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
def test_small_changes_are_noticed(tree, trial, capsys):
    n_changes = int(os.environ.get("GPGC_MUTATIONS", "8"))
    rng = random.Random(int(os.environ.get("GPGC_MUTATION_SEED", "0")))
    rooms = os.environ.get("GPGC_MUTATION_ROOMS", ",".join(TESTS)).split(",")
    for room in rooms:
        assert trial.survives(room, None), f"the tests of {room} fail without any change"
    rows, noticed = [], 0
    for number in range(n_changes):
        room = rooms[number % len(rooms)]
        file = rng.choice(sorted((tree / "src" / "gpgc" / room).glob("[a-z]*.py")))
        source = file.read_text(encoding="utf-8")
        mutant = rng.choice(mutants_of(source) or [None])
        if mutant is None:
            continue
        file.write_text(mutant.applied(source), encoding="utf-8")
        lives = trial.survives(room, file)
        file.write_text(source, encoding="utf-8")
        noticed += not lives
        rows.append((lives, f"{room}/{file.name}:{mutant.line}", mutant.change))
        with capsys.disabled():
            print(
                f"\n{'SURVIVED' if lives else 'noticed '}  {rows[-1][1]:40} {mutant.change[:90]!r}"
            )
    score = noticed / max(1, len(rows))
    with capsys.disabled():
        print(f"\n{noticed} of {len(rows)} changes noticed ({score:.0%}); survivors:")
        for lives, place, change in rows:
            if lives:
                print(f"| {place} | `{change[:100]}` |")
    assert len(rows) < 20 or score >= LEAST_SCORE


def test_mutants_are_valid_and_differ_from_the_source():
    for room in TESTS:
        for file in sorted((ROOT / "src" / "gpgc" / room).glob("[a-z]*.py"))[:3]:
            source = file.read_text(encoding="utf-8")
            found = mutants_of(source)
            assert found, file
            for mutant in found[:5]:
                compile(mutant.applied(source), str(file), "exec")
                assert mutant.change.split(" -> ")[0] != mutant.change.split(" -> ")[1]
