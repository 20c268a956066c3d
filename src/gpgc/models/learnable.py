"""Numbers of an architecture that may be learnt, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from gpgc.models.architecture import Architecture

BASE_KERNEL = "base_kernel."
"""Before the names of numbers that belong to the base kernel."""

KERNEL_NUMBERS: Mapping[str, tuple[float, float]] = {"length_scale": (0.0, np.inf)}
"""Numbers of base kernels that are learnt, and between what."""


def learnable(architecture: Architecture) -> dict[str, tuple[float, float]]:
    """Return the names of what can be learnt, and between what numbers each lies."""
    found = dict(architecture.learns)
    kernel: Any = architecture.base_kernel
    if is_dataclass(kernel):
        names = {field.name for field in fields(kernel)} & set(KERNEL_NUMBERS)
        found |= {BASE_KERNEL + name: KERNEL_NUMBERS[name] for name in sorted(names)}
    return found


def values_of(architecture: Architecture) -> dict[str, float]:
    """Return the numbers that can be learnt as they are."""
    owners = {True: architecture.base_kernel, False: architecture}
    return {
        name: float(getattr(owners[name.startswith(BASE_KERNEL)], name.removeprefix(BASE_KERNEL)))
        for name in learnable(architecture)
    }


def with_values(architecture: Architecture, values: Mapping[str, float]) -> Architecture:
    """Return the architecture with other numbers; those that are not named stay."""
    own: dict[str, Any] = {
        name: float(v) for name, v in values.items() if not name.startswith(BASE_KERNEL)
    }
    of_kernel = {
        name.removeprefix(BASE_KERNEL): float(v)
        for name, v in values.items()
        if name.startswith(BASE_KERNEL)
    }
    kernel: Any = architecture.base_kernel
    if of_kernel:
        own["base_kernel"] = replace(kernel, **of_kernel)
    return replace(architecture, **own)
