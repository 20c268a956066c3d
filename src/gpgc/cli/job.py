"""The skeleton of commands on a user's files: read → fit → rows → write → show."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from gpgc.cli.command import REQUIRED, Shown, flag_of, option
from gpgc.cli.options import Inputs, ModelOptions, refuse_trust

if TYPE_CHECKING:
    from gpgc.problem.problem import Problem


class Answer(NamedTuple):
    """The table that a command writes, and what it prints."""

    columns: Mapping[str, Iterable[Any]]
    said: Mapping[str, Any]


def table(default: Any, columns: str) -> Any:
    """Return the option of the table that a command writes."""
    return option(default, f"CSV to write: {columns}; - is standard output.", writes=True)


@dataclass(frozen=True, kw_only=True)
class Job(Shown, ModelOptions, Inputs):
    """A command that reads a graph with labels, fits a model, and writes a table."""

    labels: Path | None = option(REQUIRED, "Table with the columns id,label.", reads=())
    out: Path | None = table(None, "the answer")
    unlabelled: list[str] | None = option(
        None,
        "Label that means unlabelled, in place of an empty one, -1, nan, NA, None and null; may be "
        "given several times.",
        metavar="MARK",
    )
    label_column: ClassVar[str] = "label"
    doing: ClassVar[str] = "labelling"
    counts_trust: ClassVar[bool] = True

    def answer(self, problem: Problem) -> Answer:
        """Fit a model and ask it."""
        raise NotImplementedError

    def check(self) -> None:
        """Refuse options that do not belong together, before anything is read."""
        self.refuse_alone()
        if not self.counts_trust:
            refuse_trust(self.columns, f"gpgc {type(self).__name__.lower()}")
        if self.edges is not None:
            self.refuse_neighbors("--edges, which are the graph")

    def run(self) -> None:
        """Read, fit, write, show."""
        from gpgc.cli.output import show, write_table
        from gpgc.compute.progress import progress

        self.check()
        problem = self.read()
        started = time.perf_counter()
        with progress(self.doing):
            columns, said = self.answer(problem)
        if self.out is not None:
            write_table(self.out, columns)
        usual = {
            "dataset": self.title,
            "nodes": len(problem.ids),
            "encoded": problem.encoded,
            "unlabelled": None if self.labels is None else problem.n_marked,
        }
        ending = {
            "seconds": round(time.perf_counter() - started, 4),
            "out": None if self.out is None else str(self.out),
        }
        show({**usual, **said, **ending}, self)

    @property
    def title(self) -> str:
        """What the data are called."""
        return str(self.edges or self.features)

    def read(self) -> Problem:
        """Read what is given, once no file would be written over one that is read."""
        from gpgc.cli.output import check_out
        from gpgc.compute.progress import progress
        from gpgc.problem.read import read_problem

        given = {part: getattr(self, part.name) for part in fields(self)}
        read = [
            part for part, path in given.items() if part.metadata.get("reads") is not None and path
        ]
        taken = [given[part] for part in read]
        for part, path in given.items():
            if part.metadata.get("writes") and path is not None:
                check_out(path, taken, flag_of(part))
                taken.append(path)
        with progress("reading"):
            return read_problem(
                self.edges,
                self.features,
                self.labels,
                self.unlabelled,
                nodes=self.nodes,
                columns=self.columns,
                kinds=self.kinds,
                several=getattr(self, "several", None),
                answer=self.label_column,
                also_read=[name for part in read for name in part.metadata["reads"]],
            )
