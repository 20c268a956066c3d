"""The report as one HTML page: pictures inside, nothing fetched, fit for a printer."""

from __future__ import annotations

import base64
import re
from html import escape
from typing import TYPE_CHECKING, Any

from gpgc_lab.tables import Table, show

if TYPE_CHECKING:
    from gpgc_lab.report.report import Report
    from gpgc_lab.report.section import Section

SHORT = 20
"""Letters of a cell that are kept in one line."""

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 2rem 1.5rem 4rem;
  background: #fff; color: #1b1f24;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.35rem; margin: 3rem 0 .4rem; padding-top: .8rem; border-top: 1px solid #d5dae0; }
p, li { max-width: 46rem; }
nav ol { columns: 2; column-gap: 2rem; padding-left: 1.4rem; max-width: 46rem; }
a { color: #0059a3; }
code { font: .9em ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.wide { overflow-x: auto; margin: 1.2rem 0; }
table { border-collapse: collapse; font-size: .875rem; line-height: 1.4;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; font-size: 1rem; padding: 0 0 .5rem; }
th, td { padding: .28rem .35rem; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid #1b1f24; vertical-align: bottom; }
tbody tr { border-bottom: 1px solid #e4e8ec; }
tbody th { font-weight: 500; white-space: nowrap; }
.number { text-align: right; }
td.number, .short { white-space: nowrap; }
mark { background: #ffe9a8; color: inherit; padding: 0 .2em; border-radius: .2em; }
figure { margin: 1.2rem 0; }
img { max-width: 100%; height: auto; }
.note, .origins { font-size: .85rem; color: #4a535d; }
.origins { padding-left: 1.2rem; }
.missing { border-left: 4px solid #d9a400; padding-left: .8rem; }
@media (max-width: 40rem) { nav ol { columns: 1; } }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } .wide { overflow: visible; }
  table { font-size: 7.5pt; } figure, tr { break-inside: avoid; }
  h2, caption { break-after: avoid; }
  a { color: inherit; } }
"""


def to_html(report: Report) -> str:
    """Return the whole page."""
    contents = "\n".join(
        f'<li><a href="#{escape(section.name)}">{escape(section.title)}</a></li>'
        for section in report.sections
    )
    introduction = "\n".join(f"<p>{_inline(text)}</p>" for text in report.introduction)
    sections = "\n".join(_section(section) for section in report.sections)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(report.title)}</title>
<link rel="icon" href="data:,">
<style>{STYLE}</style>
</head>
<body>
<header>
<h1>{escape(report.title)}</h1>
{introduction}
<nav aria-label="Contents"><ol>
{contents}
</ol></nav>
</header>
<main>
{sections}
</main>
</body>
</html>
"""


def _section(section: Section) -> str:
    parts = [f"<h2>{escape(section.title)}</h2>", f"<p>{_inline(section.about)}</p>"]
    if section.missing:
        parts.append(f'<p class="missing">{_inline(section.missing)}</p>')
    for picture in section.pictures:
        image = base64.b64encode(picture.read_bytes()).decode()
        words = escape(f"{section.title}: {picture.stem.replace('_', ' ')}")
        parts.append(f'<figure><img src="data:image/png;base64,{image}" alt="{words}"></figure>')
    parts += [_table(table) for table in section.tables]
    if section.origins:
        lines = "\n".join(f"<li>{_inline(line)}</li>" for line in section.origins)
        parts.append(f'<ul class="origins">\n{lines}\n</ul>')
    return f'<section id="{escape(section.name)}">\n' + "\n".join(parts) + "\n</section>"


def _table(table: Table) -> str:
    numeric = [
        all(_is_number(row[place]) for row in table.rows) for place in range(len(table.columns))
    ]
    head = "".join(
        f'<th scope="col"{_kind(numeric[place])}>{escape(column)}</th>'
        for place, column in enumerate(table.columns)
    )
    body = "\n".join(_row(row, numeric) for row in table.rows)
    notes = "\n".join(f'<p class="note">{_inline(note)}</p>' for note in table.notes)
    return (
        f'<div class="wide" tabindex="0"><table><caption>{escape(table.title)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>\n{notes}"
    )


def _row(row: Any, numeric: list[bool]) -> str:
    first, *others = (_cell(cell) for cell in row)
    cells = "".join(
        f"<td{_kind(is_number, len(cell) <= SHORT)}>{cell}</td>"
        for cell, is_number in zip(others, numeric[1:], strict=True)
    )
    return f'<tr><th scope="row">{first}</th>{cells}</tr>'


def _cell(cell: Any) -> str:
    text = _inline(show(cell))
    return f"<mark>{text}</mark>" if getattr(cell, "mark", "") else text


def _kind(is_number: bool, is_short: bool = False) -> str:
    if is_number:
        return ' class="number"'
    return ' class="short"' if is_short else ""


def _is_number(cell: Any) -> bool:
    return cell is None or bool(re.match(r"[-+> ]*[\d.]|–", str(cell)))


def _inline(text: str) -> str:
    """Return Markdown's code in HTML, all else as it stands."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
