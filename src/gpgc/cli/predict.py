"""`gpgc predict`: nodes that join a fitted graph, nothing refitted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpgc.cli.command import REQUIRED, Shown, argument, option
from gpgc.cli.options import parse_pairs


@dataclass(frozen=True, kw_only=True)
class Predict(Shown):
    """Label nodes that join the graph of a saved model, or predict their numbers.

    The new nodes are the rows of --features, or where the model has none the ids in --edges that it
    does not know. The nodes of the model keep their links and answers.
    """

    model: Path = argument(REQUIRED, "File that classify or regress wrote by --save.")
    out: Path = option(
        REQUIRED,
        "CSV to write, a row a new node: id, label, probability, std, given, or "
        "id, value, std, low, high, given; - is standard output.",
    )
    features: Path | None = option(None, "As of gpgc classify, for the new nodes.")
    edges: Path | None = option(
        None,
        "Table source,target[,weight] of the new nodes' links with each other and with those of "
        "the model; left out, their nearest neighbors if the model was made so.",
    )
    column: list[str] | None = option(
        None, "As of gpgc classify: id, source, target or weight.", metavar="NAME=COLUMN"
    )
    level: float | None = option(
        None,
        "How often the interval from low to high holds a new value, for models of gpgc regress; "
        "0.9 by default.",
    )

    def run(self) -> None:
        """Load, read, ask, write, show."""
        from gpgc.cli.joining import join_files, joined_columns
        from gpgc.cli.output import check_out, show, write_table
        from gpgc.compute.progress import progress
        from gpgc.estimators import load

        check_out(self.out, [self.model, self.features, self.edges])
        with progress("predicting"):
            estimator = load(self.model)
            named = parse_pairs(self.column, "--column")
            joined = join_files(estimator, self.features, self.edges, named)
            write_table(self.out, joined_columns(estimator, joined, self.level))
        said = {
            "dataset": str(self.model),
            "nodes": len(estimator.prior_.nodes),
            "joined": len(joined.ids),
            "out": str(self.out),
        }
        show(said, self)
