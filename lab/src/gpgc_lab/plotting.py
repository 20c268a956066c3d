"""What all pictures share: colours that colour-blind people and greyscale can tell apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6D1F", "#000000")
"""Okabe and Ito's colours, ordered so that neighbours differ in lightness."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def save_figure(figure: Any, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and SVG and return the two paths."""
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{kind}" for kind in ("png", "svg")]
    for path in paths:
        metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
        figure.savefig(path, dpi=150, bbox_inches="tight", metadata=metadata)
    plt.close(figure)
    return paths
