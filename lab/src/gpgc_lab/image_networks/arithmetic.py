"""The precision of the convolutions."""

import torch


def arithmetic(precision: str) -> torch.autocast:
    """Return a context in which convolutions are done in ``"float32"`` or ``"bfloat16"``."""
    return torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16")
