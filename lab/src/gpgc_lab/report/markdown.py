"""The report as Markdown, with pictures by their relative paths."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpgc_lab.report.report import Report
    from gpgc_lab.report.section import Section


def to_markdown(report: Report, folder: Path) -> str:
    """Return the report as Markdown for a file in the folder."""
    contents = [f"- [{section.title}](#{_anchor(section)})" for section in report.sections]
    parts = [f"# {report.title}", *report.introduction, "\n".join(contents)]
    for section in report.sections:
        parts += _section(section, folder)
    return "\n\n".join(parts) + "\n"


def _section(section: Section, folder: Path) -> list[str]:
    parts = [f"## {section.title}", section.about]
    if section.missing:
        parts.append(section.missing)
    for picture in section.pictures:
        place = Path(os.path.relpath(picture, folder)).as_posix()
        parts.append(f"![{picture.stem.replace('_', ' ')}]({place})")
    parts += [table.to_markdown().rstrip() for table in section.tables]
    if section.origins:
        parts.append("\n".join(f"- {line}" for line in section.origins))
    return parts


def _anchor(section: Section) -> str:
    kept = (letter for letter in section.title.lower() if letter.isalnum() or letter in " -")
    return "".join(kept).replace(" ", "-")
