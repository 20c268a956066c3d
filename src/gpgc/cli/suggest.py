"""`gpgc suggest`: which nodes to label next."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gpgc.cli.command import REQUIRED, option
from gpgc.cli.job import Answer, Job, table
from gpgc.cli.options import ClassOptions

if TYPE_CHECKING:
    from gpgc.problem.problem import Problem


@dataclass(frozen=True, kw_only=True)
class Suggest(Job, ClassOptions):
    """Say which nodes of your own graph to label next."""

    labels: Path | None = option(
        None, "Table with the columns id,label; none to start from nothing.", reads=()
    )
    out: Path = table(REQUIRED, "rank, id, gain, a row each")
    n: int = option(10, "How many nodes to suggest.", "--n", "-n", min=1)
    strategy: Literal["weighted", "variance"] = option("weighted", "By what nodes are chosen.")
    candidates: Path | None = option(
        None, "Table with the column id: nodes that may be suggested.", reads=("id",)
    )
    costs: Path | None = option(
        None, "Table with the columns id,cost; 1 where a node is missing.", reads=("id", "cost")
    )
    doing = "choosing"
    counts_trust = False

    def answer(self, problem: Problem) -> Answer:
        """Choose the nodes."""
        import gpgc
        from gpgc.problem.read import read_candidates, read_costs

        ids = problem.ids
        nodes, gains = gpgc.suggest(
            problem.X,
            problem.y,
            problem.adjacency,
            n=self.n,
            strategy=self.strategy,
            candidates=self.candidates and read_candidates(self.candidates, ids, self.columns),
            costs=self.costs and read_costs(self.costs, ids, self.columns),
            **self.settings(),
        )
        found = [ids[node] for node in nodes]
        if len(found) < self.n:
            sys.stderr.write(
                f"gpgc: {self.n} nodes were asked for, {len(found)} are left to suggest\n"
            )
        columns = {"rank": range(1, len(found) + 1), "id": found, "gain": gains}
        n_labels = sum(label is not None for label in problem.y)
        return Answer(columns, {"labels": n_labels, "suggested": found})
