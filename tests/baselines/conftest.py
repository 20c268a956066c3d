"""Systems run on one core, as in comparisons: with more, rounding depends on their order."""

import pytest


@pytest.fixture(autouse=True)
def one_thread():
    try:
        import torch
    except ModuleNotFoundError:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
