"""Every example runs, says something and draws its picture, and the gallery shows it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

pytestmark = pytest.mark.docs


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_draws_its_picture(example, tmp_path):
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"MPLBACKEND": "Agg", "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, str(example), str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    drawn = list(tmp_path.glob("*.png"))
    assert drawn
    assert all(path.stat().st_size > 5_000 for path in drawn)
    gallery = (ROOT / "docs" / "gallery.md").read_text()
    assert any(path.name in gallery for path in drawn)
    assert example.name in gallery
    assert example.name in (ROOT / "examples" / "README.md").read_text()
