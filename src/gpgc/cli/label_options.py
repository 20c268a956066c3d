"""What `gpgc label` can be told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from gpgc.cli.command import Command, argument, option
from gpgc.cli.options import ClassOptions, Inputs
from gpgc.errors import InputError

LONGEST_GUIDE = 50_000
"""Characters of a guide that the page shows."""


@dataclass(frozen=True, kw_only=True)
class LabelOptions(Command, ClassOptions, Inputs):
    """What is labelled, by whom, and how the page begins."""

    demo: str | None = argument(None, "digits: a demonstration that needs no files.")
    images: Path | None = option(None, "Folder of images.")
    texts: Path | None = option(None, "Table with the columns id,text.")
    labels: Path | None = option(None, "Table id,label: labels known before, taken over once.")
    suggestions: Path | None = option(
        None,
        "Table id,label[,score]: guesses of another source, shown where Enter accepts them, never "
        "learnt from before; how often they are right is measured.",
    )
    show: str = option("", "Columns of the table that are shown, with commas.")
    guide: Path | None = option(None, "How to label, as Markdown: shown on the page by the key g.")
    classes: str = option(
        "",
        "Names, with letters as keys where wanted: spam=s,ham=h. A letter that the page uses "
        "itself moves the page's own key to Shift + letter. More can be added.",
    )
    journal: Path = option(
        Path("labels.jsonl"), "File of the labels; the same command goes on with it."
    )
    goal: str | None = option(
        None,
        "Accuracy to reach and within how much it is to be known, in per cent: '95 ± 3' or 95+-3. "
        "Can be changed on the page.",
    )
    by: str = option(
        "",
        "Who labels. Several names with commas: an address is printed for each, whose secret says "
        "who answers.",
    )
    overlap: float = option(
        0.2,
        "With several people, the fraction of the random items that two of them answer, neither "
        "knowing the other's answer: how far they agree.",
        min=0,
        max=1,
    )
    host: str = option(
        "127.0.0.1",
        "An address of this machine that others reach, or 0.0.0.0 for all: whoever was given an "
        "address may label from there. What is sent is not encrypted.",
    )
    seed: int = option(0, "Seed of the audit items.", min=0)
    port: int = option(0, "0 for any that is free.", min=0, max=65535)
    no_browser: bool = option(False, "Print the address, open nothing.", "--no-browser")

    @property
    def people(self) -> list[str]:
        """Who labels, each once."""
        return list(dict.fromkeys(filter(None, map(str.strip, self.by.split(",")))))


def read_guide(path: Path | None) -> str:
    """Return the Markdown of a guide, cut where it is long."""
    try:
        return "" if path is None else path.read_text(encoding="utf-8")[:LONGEST_GUIDE]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--guide must be a file of text, got {path}: {error}") from error


def classes_and_keys(text: str) -> tuple[list[str], dict[str, str]]:
    """Return the names of classes and the keys of those that have one."""
    parts = [part for part in map(str.strip, text.split(",")) if part]
    keyed = {part: re.fullmatch(r"(.+)=([A-Za-z])", part) for part in parts}
    names = [found[1] if (found := keyed[part]) else part for part in parts]
    keys = {found[1]: found[2].lower() for found in keyed.values() if found}
    if len(set(keys.values())) < len(keys):
        raise InputError(f"--classes must give each class a letter of its own, got {text!r}")
    if len(set(names)) < len(names):
        raise InputError(f"--classes must name each class once, got {text!r}")
    return names, keys
