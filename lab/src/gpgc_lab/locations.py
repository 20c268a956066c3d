"""Where the laboratory keeps what comes with it, and where it writes what is new."""

from __future__ import annotations

from pathlib import Path

NEW_RESULTS = Path("gpgc-results")
"""Folder for new results, in the folder that a command is started from."""

_PACKAGE = Path(__file__).parent


def stored_results() -> Path:
    """Return the folder of the results that came with the laboratory; it need not exist."""
    return _kept("results")


def stored_features() -> Path:
    """Return the folder of image features that came with the laboratory; it need not exist."""
    return _kept("features")


def _kept(name: str) -> Path:
    """Return a folder of the installed package, or of the clone that it is run from."""
    clone = _PACKAGE.parent.parent
    return clone / name if (clone / "pyproject.toml").exists() else _PACKAGE / name
