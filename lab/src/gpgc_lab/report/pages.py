"""Tables of README and documentation, made from the stored results: no number of them is typed.

``python -m gpgc_lab.report.pages`` writes them. A page says which table stands where by a comment,

    <!-- table core/core_public.csv: set; this code as gpgc where labels = public -->

and everything from there to ``<!-- end -->`` is made from that file under ``lab/results``.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

from gpgc.errors import InputError

CLONE = Path(__file__).parents[4]
RESULTS = CLONE / "lab" / "results"
PAGES = (CLONE / "README.md", *sorted((CLONE / "docs").rglob("*.md")))
BLOCK = re.compile(r"(<!-- table (\S+): (.+?) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def written(page: str, results: Path = RESULTS) -> str:
    r"""Return a page with its tables made anew.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> _ = (folder / "a.csv").write_text("set,labels,ours\ncora,20,83.6\ncora,5,77.7\n")
    >>> page = "<!-- table a.csv: set; ours as us where labels = 20 -->\n<!-- end -->"
    >>> print(written(page, folder))
    <!-- table a.csv: set; ours as us where labels = 20 -->
    | set | us |
    |---|---|
    | cora | 83.6 |
    <!-- end -->
    """
    return BLOCK.sub(lambda found: found[1] + _table(results / found[2], found[3]), page)


def _table(file: Path, wanted: str) -> str:
    columns, _, condition = wanted.partition(" where ")
    with file.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    for part in filter(None, condition.split(" and ")):
        name, _, values = part.partition(" = ")
        rows = [row for row in rows if row[name] in values.split(" | ")]
    if not rows:
        raise InputError(f"{file.name} must have rows where {condition}, got none")
    named = [part.partition(" as ") for part in columns.split("; ")]
    if absent := [name for name, *_ in named if name not in rows[0]]:
        raise InputError(f"{file.name} must have a column {absent[0]!r}, got {list(rows[0])}")
    lines_made = [[title or name for name, _, title in named], None]
    lines_made += [[_shown(row[name]) for name, *_ in named] for row in rows]
    return "".join(
        "|---" * len(named) + "|\n" if cells is None else f"| {' | '.join(cells)} |\n"
        for cells in lines_made
    )


def _shown(cell: str) -> str:
    """Return a cell as a person reads it: numbers that were kept in full are rounded."""
    if not re.fullmatch(r"-?\d+\.\d{3,}(e-?\d+)?", cell):
        return cell or "–"
    number = float(cell)
    return f"{number:.3g}" if abs(number) < 100 else f"{number:,.0f}"


def main() -> None:
    """Write the tables of all pages."""
    for page in PAGES:
        page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
