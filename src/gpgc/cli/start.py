"""A quick start: scikit-learn without what it imports and no command uses."""

from __future__ import annotations

import sys
from types import ModuleType

UNUSED = ("scipy.stats", "pandas")
"""What ``sklearn.utils.fixes`` imports for functions of its own: half of the time of a start."""


def import_scikit_learn() -> None:
    """Import scikit-learn, and leave ``UNUSED`` to whoever first asks for it."""
    if "sklearn" in sys.modules:
        return
    absent = [name for name in UNUSED if name not in sys.modules]
    sys.modules.update({name: ModuleType(name) for name in absent})
    try:
        import sklearn.utils.fixes  # noqa: F401
    except (ImportError, AttributeError):  # a version that uses them at once
        return
    finally:
        for name in absent:
            del sys.modules[name]
