"""What the laboratory's tests share."""

from __future__ import annotations

import os
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import gpgc
import gpgc_lab
from gpgc.cli.extensions import DATASETS


@pytest.fixture(autouse=True, scope="session")
def sources(tmp_path_factory):
    """Let processes that tests start find the sources of this one, and the added commands.

    Where gpgc-lab is not installed what it adds is read from its pyproject.toml.
    """
    folders = [Path(module.__file__).parents[1] for module in (gpgc, gpgc_lab)]
    with pytest.MonkeyPatch.context() as patch:
        if not entry_points(group=DATASETS):
            folders.append(tmp_path_factory.mktemp("metadata"))
            project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
            groups = project["project"]["entry-points"]
            lines = [
                line
                for group, added in groups.items()
                for line in (f"[{group}]", *(f"{name} = {place}" for name, place in added.items()))
            ]
            info = folders[-1] / "gpgc_lab-0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gpgc-lab\nVersion: 0\n")
            (info / "entry_points.txt").write_text("\n".join(lines))
            patch.syspath_prepend(folders[-1])
        given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        places = [*map(str, folders), *(os.path.abspath(place) for place in given if place)]
        patch.setenv("PYTHONPATH", os.pathsep.join(places))
        yield


@pytest.fixture(autouse=True)
def one_thread():
    """Run systems on one core, as in comparisons: with more, rounding depends on their order."""
    try:
        import torch
    except ModuleNotFoundError:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def data_dir() -> Path:
    folder = os.environ.get("GPGC_DATA")
    if not folder:
        pytest.skip("needs the real data: set GPGC_DATA to the folder that holds it")
    return Path(folder)
