"""Which key stands for which class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

DIGITS = "1234567890"
KEYS = (*DIGITS, *(f"⇧{digit}" for digit in DIGITS))


def class_keys(names: Sequence[str], letters: Mapping[str, str]) -> list[str]:
    """Return a key for each class, which no class that is added later changes.

    Its letter if it has one, its own name while all are digits, else the next that is free of 1 to
    9, 0 and the same with Shift; from the 21st on none.

    Examples
    --------
    >>> class_keys(["spam", "ham", "other"], {"ham": "h"})
    ['1', 'h', '3']
    >>> class_keys(["0", "1", "neither"], {})
    ['0', '1', '3']
    """
    keys: list[str] = []
    only_digits = True
    for place, name in enumerate(names):
        only_digits = only_digits and len(name) == 1 and name in DIGITS
        free = [key for key in KEYS[place:] + KEYS[:place] if key not in keys]
        keys.append(letters.get(name) or (name if only_digits else (free or [""])[0]))
    return keys
