"""Why measured numbers differ from published ones, where it is known."""

from __future__ import annotations

_SETTINGS = (
    "settings are chosen by validation accuracy alone, on the grid that the paper names; its "
    "number is not among what that choice finds"
)

REASONS: dict[tuple[str, str], str] = {
    ("GPGC-small", "cora"): _SETTINGS,
    ("GPGC-big", "cora"): _SETTINGS,
}
"""By system and data set."""


def reason(system: str, dataset: str) -> str:
    """Return why a system differs on a data set, empty where it is not known.

    Examples
    --------
    >>> reason("GPGC-big", "cora")[:8], reason("GPGC-big", "pubmed")
    ('settings', '')
    """
    return REASONS.get((system, dataset), "")
