"""`gpgc classify`: labels for all nodes of a user's own files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpgc.cli.command import REQUIRED
from gpgc.cli.job import Answer, Job, table
from gpgc.cli.options import IN_BLOCKS, SEVERAL_LABELS, ClassOptions, ClusterOptions, Further
from gpgc.errors import InputError

if TYPE_CHECKING:
    from gpgc.problem.problem import Problem


@dataclass(frozen=True, kw_only=True)
class Classify(Job, ClusterOptions, Further, ClassOptions):
    """Label the nodes of your own graph.

    Either --edges or --features may be left out: without edges the graph is made of each node's
    nearest neighbors by features; without features the graph alone is used. Tables are CSV or TSV,
    gzipped or not, or Parquet; - is standard input. Labels may be a column of the features: name
    the file twice.

    Columns of text become TF-IDF, categories are encoded, missing values are filled and flagged,
    and what was done is printed.

    The accuracy by leave-one-out is far too low where labels were chosen by gpgc suggest or gpgc
    label, which ask for hard nodes. Only labels that were drawn at random tell what accuracy to
    expect (--labels-drawn).
    """

    out: Path = table(REQUIRED, "id, label, probability, std, given, a row a node")

    def run(self) -> None:
        """Label in one process, or in blocks."""
        if self.several == "labels":
            self.refuse_others(SEVERAL_LABELS, "--several labels")
        if self.scheduler is None:
            return super().run()
        self.refuse_others(IN_BLOCKS, "--scheduler")
        from gpgc.cli.cluster import classify_in_blocks

        return classify_in_blocks(self)

    def check(self) -> None:
        """Refuse options that do not belong together."""
        super().check()
        if self.held_out is not None and self.held_out == self.calibrate:
            raise InputError("--held-out must be other labels than --calibrate, got the same")

    def answer(self, problem: Problem) -> Answer:
        """Give each node a label, or any number of them."""
        from gpgc.cli.answers import labels_of_nodes, one_label_each

        return (labels_of_nodes if self.several == "labels" else one_label_each)(self, problem)
