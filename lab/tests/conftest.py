"""What the laboratory's tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


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
