"""Pictures of the report as SVG: no script, no file beside it, colours that follow the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.plot.axes import COLOURS, colour_of
from gpgc.uncertainty.measures import Reliability

SIDE = 560
"""Width and height of the map, in its own unit."""

RIM = 'stroke="currentColor" stroke-width="1.5"'


def mark(code: int, x: float, y: float, size: float) -> str:
    """Return a mark of SVG without its end: discs for the first classes, then squares, diamonds."""
    kind = code // len(COLOURS) % 3
    if kind == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}"'
    side = 2 * size
    square = f'<rect x="{x - size:.1f}" y="{y - size:.1f}" width="{side:g}" height="{side:g}"'
    return square if kind == 1 else f'{square} transform="rotate(45 {x:.1f} {y:.1f})"'


def legend_mark(code: int) -> str:
    """Return the mark of a class beside its name."""
    shape = mark(code, 6, 6, 5 if code // len(COLOURS) % 3 == 0 else 4)
    return f'<svg class="dot" viewBox="0 0 12 12">{shape} fill="{colour_of(code)}"/></svg>'


def map_of_nodes(
    positions: Array,
    codes: Integers,
    opacity: Array,
    given: NDArray[np.bool_],
    titles: Sequence[str],
) -> str:
    """Return the map of places in [0, 1]²: faint where uncertain; given nodes last, with a rim."""
    size = float(np.clip(60 / np.sqrt(len(codes)), 1.5, 6))
    marks = []
    for node in np.argsort(given, kind="stable"):
        x, y = SIDE * (0.02 + 0.96 * positions[node])
        code, rim = int(codes[node]), bool(given[node])
        shown = RIM if rim else f'opacity="{opacity[node]:.2f}"'
        shape = mark(code, x, y, size + 2 if rim else size)
        tag = shape[1 : shape.index(" ")]
        title = f"<title>{escape(titles[node])}</title>"
        marks.append(f'{shape} fill="{colour_of(code)}" {shown}>{title}</{tag}>')
    return (
        f'<svg viewBox="0 0 {SIDE} {SIDE}" role="img" aria-label="Map of the nodes">'
        f"{''.join(marks)}</svg>"
    )


def histogram(values: Array, n_bins: int = 20) -> str:
    """Return the distribution of numbers between 0 and 1, such as probabilities."""
    counts, _ = np.histogram(values, bins=n_bins, range=(0, 1))
    highest, width = max(int(counts.max()), 1), 360 / n_bins
    bars = "".join(
        f'<rect class="bar" x="{40 + place * width + 1:.1f}" y="{160 - 140 * count / highest:.1f}" '
        f'width="{width - 2:.1f}" height="{140 * count / highest:.1f}">'
        f"<title>{count:,} nodes from {place / n_bins:.0%} to {(place + 1) / n_bins:.0%}</title>"
        "</rect>"
        for place, count in enumerate(counts.tolist())
    )
    return (
        '<svg viewBox="0 0 420 200" role="img" aria-label="Distribution of probabilities">'
        f"{bars}{_axis(40, 400, 160)}"
        f'<text x="36" y="24" text-anchor="end">{highest:,}</text>'
        '<text x="220" y="196" text-anchor="middle">probability of the label</text></svg>'
    )


def reliability_curve(bins: Reliability) -> str:
    """Return accuracy against probability; the size of a disc is that of its bin."""
    filled = bins.size > 0
    points = [
        (40 + 320 * x, 340 - 320 * y, 3 + 9 * (n / bins.size.max()) ** 0.5, n, x, y)
        for x, y, n in zip(*(part[filled].tolist() for part in bins), strict=True)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y, *_ in points)
    discs = "".join(
        f'<circle class="bar" cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}">'
        f"<title>{n:,} labels: probability {p:.0%}, {a:.0%} right</title></circle>"
        for x, y, r, n, p, a in points
    )
    return (
        '<svg viewBox="0 0 380 380" role="img" aria-label="Reliability">'
        '<line class="faint" x1="40" y1="340" x2="360" y2="20" stroke-dasharray="5 5"/>'
        f'<polyline class="line" points="{line}"/>{discs}{_axis(40, 360, 340)}'
        '<text x="34" y="344" text-anchor="end">0</text>'
        '<text x="34" y="24" text-anchor="end">1</text>'
        '<text x="200" y="376" text-anchor="middle">probability</text>'
        '<text transform="translate(14 180) rotate(-90)" text-anchor="middle">right</text></svg>'
    )


def _axis(left: int, right: int, y: int) -> str:
    return (
        f'<line class="faint" x1="{left}" y1="{y}" x2="{right}" y2="{y}"/>'
        f'<text x="{left}" y="{y + 18}" text-anchor="middle">0</text>'
        f'<text x="{right}" y="{y + 18}" text-anchor="middle">1</text>'
    )
