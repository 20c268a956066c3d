"""Amounts of memory: as users write them, and what the machine has."""

from __future__ import annotations

import math
import os
import re

from gpgc.errors import InputError

_UNITS = {"": 1} | {
    name: base**power
    for power, letter in enumerate("KMGT", 1)
    for name, base in ((letter, 1000), (f"{letter}B", 1000), (f"{letter}IB", 1024))
}
_UNITS["B"] = 1


def parse_bytes(value: int | float | str | None, name: str = "memory_limit") -> int | None:
    """Return an amount of memory in bytes; None stays None.

    Parameters
    ----------
    value : int, str or None
        A number of bytes, or a number with one of the units B, KB, MB, GB, TB (powers of 1,000)
        and KiB, MiB, GiB, TiB (powers of 1,024), in any case.
    name : str, default "memory_limit"
        How to call the argument in the error message.

    Returns
    -------
    int or None

    Examples
    --------
    >>> parse_bytes("1GB"), parse_bytes("1.5 GiB"), parse_bytes(4096), parse_bytes(None)
    (1000000000, 1610612736, 4096, None)
    """
    if value is None:
        return None
    amount = math.nan
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*([A-Za-z]*)\s*", value)
        if found and found[2].upper() in _UNITS:
            amount = float(found[1]) * _UNITS[found[2].upper()]
    elif not isinstance(value, bool):
        try:
            amount = float(value)
        except (TypeError, ValueError, OverflowError):
            amount = math.nan
    if not (math.isfinite(amount) and amount >= 1):
        raise InputError(
            f"{name} must be None, a positive number of bytes, or text such as '500MB' or "
            f"'1.5GiB', got {value!r}"
        )
    return int(amount)


def physical_memory() -> int:
    """Return the bytes of memory that the machine has; 2⁶² where the system does not tell."""
    if not hasattr(os, "sysconf"):
        return 2**62
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
