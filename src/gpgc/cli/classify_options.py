"""Options of `gpgc classify` beside those of every command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gpgc.cli.command import option
from gpgc.errors import InputError

IN_BLOCKS = {
    *("labels", "out", "edges", "features", "unlabelled", "standardize", "scheduler", "workers"),
    *("memory_limit", "model", "base_kernel", "activation", "depth", "noise", "as_json", "quiet"),
}
"""Options that have a meaning beside ``--scheduler``."""

SEVERAL_LABELS = {
    *("labels", "out", "edges", "features", "nodes", "column", "encode", "unlabelled", "several"),
    *("neighbors", "probabilities", "standardize", "model", "base_kernel", "activation", "kernel"),
    *("learn", "depth", "noise", "as_json", "quiet"),
}
"""Options that have a meaning beside ``--several labels``."""


@dataclass(frozen=True, kw_only=True)
class Further:
    """What adds columns or files, or changes probabilities."""

    sets: float | None = option(
        None,
        "Add the column set: classes that hold the true one with this probability.",
        metavar="LEVEL",
    )
    held_out: Path | None = option(
        None, "Table id,label of labels kept out, so that --sets is guaranteed.", reads=()
    )
    probabilities: Literal["best", "all"] = option(
        "best", "best, or all to add a column for the probability of each class."
    )
    save: Path | None = option(
        None, "File to write the fitted model to, for gpgc predict.", writes=True
    )
    novelty: bool = option(False, "Add the column novelty: how little a node belongs.", "--novelty")
    report: Path | None = option(
        None, "HTML page to write about the result, in one file.", writes=True
    )
    std: bool = option(False, "Fill the column std on over 100,000 nodes too: slow.", "--std")
    calibrate: Path | None = option(
        None, "Table id,label of labels kept out, to calibrate probabilities by.", reads=()
    )
    drawn: Literal["random", "chosen"] | None = option(
        None,
        "How the labelled nodes were selected. Default: the column role of --labels, as gpgc label "
        "writes it.",
        "--labels-drawn",
    )

    def check_further(self) -> None:
        """Refuse options that need others."""
        if self.held_out is not None and self.sets is None:
            raise InputError("--held-out needs --sets")
        if self.held_out is not None and self.held_out == self.calibrate:
            raise InputError("--held-out must be other labels than --calibrate, got the same")


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """Where blocks are computed."""

    scheduler: str | None = option(
        None,
        "Compute in blocks on a Dask cluster, or in worker processes here, for Parquet files of "
        "any size; --out is a folder then. Needs the extra dask.",
        metavar="ADDRESS|local",
    )
    workers: int | None = option(
        None, "Worker processes of --scheduler local; 1 by default.", min=1
    )
    memory_limit: str | None = option(
        None, "Memory of all local workers, such as 6GB; what is beyond goes to disk."
    )

    def check_cluster(self) -> None:
        """Refuse options that need a cluster."""
        given = {"--workers": self.workers, "--memory-limit": self.memory_limit}
        for name, value in given.items():
            if self.scheduler is None and value is not None:
                raise InputError(f"{name} needs --scheduler local")
