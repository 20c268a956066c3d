"""gpgc by NumPy and SciPy alone, and with compiled innermost loops where numba is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from unittest.mock import patch

import numpy as np

from gpgc.compute import primitives

COMPILED = ", compiled"
NOTE = (
    "Rows named compiled have numba installed (`gpgc[fast]`), which graphs of "
    f"{primitives.LARGE:,} nodes and more profit from; loading it is not in the seconds."
)


def variants(n_nodes: int) -> dict[str, bool]:
    """Return the ways to run a graph of this size: what to add to a name, and whether compiled."""
    both = n_nodes >= primitives.LARGE and find_spec("numba") is not None
    return {"": False, COMPILED: True} if both else {"": False}


@contextmanager
def loops(wanted: bool) -> Iterator[None]:
    """Run gpgc with compiled loops, loaded beforehand, or without them though numba is there."""
    if wanted:
        primitives.primitives_for(primitives.LARGE, np.dtype(np.float32))
        yield
        return
    with patch.object(primitives, "LARGE", sys.maxsize):
        yield
