"""Amounts of memory: as users write them, and what the machine has."""

from __future__ import annotations

import math
import os
import re

from gpgc.errors import InputError

_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*(?:([KMGT])(I(?=B))?)?B?\s*", re.IGNORECASE)


def parse_bytes(value: int | float | str | None, name: str = "memory_limit") -> int | None:
    """Return an amount of memory in bytes: 1 KB is 1,000 of them, 1 KiB 1,024; None stays None."""
    if value is None:
        return None
    amount = math.nan
    if isinstance(value, str):
        if found := _AMOUNT.fullmatch(value):
            power = " KMGT".index((found[2] or " ").upper())
            amount = float(found[1]) * (1024 if found[3] else 1000) ** power
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
