"""What holds for all tests of the laboratory, before NumPy is imported."""

import os

if "PYTEST_XDIST_WORKER" in os.environ:  # as in the conftest.py of gpgc
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
