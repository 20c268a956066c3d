"""`gpgc explain`: why a node gets its label."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpgc.cli.command import REQUIRED, argument
from gpgc.cli.job import Answer, Job, table
from gpgc.cli.options import ClassOptions, Votes
from gpgc.errors import InputError

if TYPE_CHECKING:
    from gpgc.problem.problem import Problem


@dataclass(frozen=True, kw_only=True)
class Explain(Votes, Job, ClassOptions):
    """Say why a node gets its label: the labelled nodes that decided it.

    Each label adds something to the score of its class; what all of them add, and what a class has
    without labels, is the score, and the probabilities are its softmax.
    """

    node: str = argument(REQUIRED, "The id of the node.")
    out: Path | None = table(
        None,
        "id, label, class, contribution, strongest first",
    )
    doing = "fitting"

    def answer(self, problem: Problem) -> Answer:
        """Take the score of the node apart."""
        if self.node not in problem.ids:
            raise InputError(f"node must be in the graph, got {self.node!r:.60}")
        found = self.fitted(problem).explain(problem.ids.index(self.node))
        parts = zip(found.nodes, found.given, found.contributions, strict=True)
        rows = [
            (problem.ids[labelled], given, found.classes[column], row[column])
            for labelled, given, row in parts
            for column in row.nonzero()[0]
        ]
        names = ("id", "label", "class", "contribution")
        columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
        best, *rival = found.deciding()
        said = {
            "node": self.node,
            "label": str(found.predicted),
            "score": float(found.total[best]),
            "rival": str(found.classes[rival[0]]) if rival else None,
            "rival_score": float(found.total[rival[0]]) if rival else None,
            "views": [f"{part[best]:+.3f} by {name}" for name, part in found.views.items()],
            "decided_by": [f"{v:+.3f} to {name} by {who}" for who, _, name, v in rows[:10]],
        }
        return Answer(columns, said)
