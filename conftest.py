"""What holds for all tests, before NumPy is imported: threads, and examples of Hypothesis."""

import os

if "PYTEST_XDIST_WORKER" in os.environ:  # one of several: threads of BLAS that wait for work
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # would take the others' processors
        os.environ.setdefault(name, "1")

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("random", derandomize=False, deadline=None, print_blob=True)
settings.load_profile("same")


def pytest_collection_modifyitems(items):
    """Give tests that run on request the time that they take."""
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(7200))
