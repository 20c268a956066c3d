"""The code blocks of a page, and running them in order as a reader would."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[\w+-]*) *(?P<rest>[^\n]*)\n"
    r"(?P<code>.*?)^(?P=indent)(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
SKIPPED = re.compile(r"<!-- not run: (?P<reason>\S.*?) -->\s*\Z")
TITLE = re.compile(r'title="(?P<name>[^"]+)"')
SHOWN = {"text", "mermaid", ""}
"""Languages that are only shown."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, what stands in it, where, and why it is not run."""

    language: str
    code: str
    line: int
    title: str | None
    reason: str | None


def blocks_of(text: str) -> list[Block]:
    """Return the fenced blocks of a page in order."""
    found = []
    for match in FENCE.finditer(text):
        skipped = SKIPPED.search(text[: match.start()])
        title = TITLE.search(match["rest"])
        code = re.sub(rf"^{match['indent']}", "", match["code"], flags=re.MULTILINE)
        found.append(
            Block(
                match["language"],
                code,
                text[: match.start()].count("\n") + 2,
                title and title["name"],
                skipped and skipped["reason"],
            )
        )
    return found


def run_page(path: Path, folder: Path) -> None:
    """Run the blocks of a page in ``folder``, Python in one namespace; raise where one fails.

    ``python`` is executed, ``pycon`` is compared with its output, ``sh`` is run by bash, any
    block with a ``title`` is written to that file. ``text`` is only shown.
    """
    namespace: dict[str, object] = {"__name__": "__page__"}
    for block in blocks_of(path.read_text()):
        if block.reason is not None or block.language in SHOWN:
            continue
        if block.title is not None:
            target = folder / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.code)
        elif block.language == "python":
            padding = "\n" * (block.line - 1)  # so that a traceback names the page's line
            exec(compile(padding + block.code, str(path), "exec"), namespace)
        elif block.language == "pycon":
            _run_doctest(block, path, namespace)
        elif block.language in ("sh", "bash"):
            _run_shell(block, path, folder)
        else:
            raise AssertionError(
                f"{path}:{block.line}: a block must be python, pycon, sh, text or have a title, "
                f"got {block.language!r}"
            )


def _run_doctest(block: Block, path: Path, namespace: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(block.code, {}, path.name, str(path), block.line - 1)
    test.globs = namespace
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
    if runner.run(test, out=said.append, clear_globs=False).failed:
        raise AssertionError("".join(said))


def _run_shell(block: Block, path: Path, folder: Path) -> None:
    programs = folder / ".programs"
    programs.mkdir(exist_ok=True)
    command = programs / "gpgc"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gpgc "$@"\n')
    command.chmod(0o755)
    python = programs / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.code],
        cwd=folder,
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise AssertionError(
            f"{path}:{block.line}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        )
