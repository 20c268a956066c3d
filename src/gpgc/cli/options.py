"""Options that several commands share: the files of a graph, and the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gpgc.cli.command import option
from gpgc.errors import InputError

if TYPE_CHECKING:
    from gpgc.estimators import GPGCClassifier
    from gpgc.problem.problem import Problem

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
class Inputs:
    """The files of a graph, and how they are read."""

    edges: Path | None = option(None, "Table with the columns source,target[,weight].", reads=())
    features: Path | None = option(
        None,
        "Table with a column id: numbers, dates, categories, texts; or .npz of gpgc features, "
        ".npy, sparse .npz.",
        reads=(),
    )
    nodes: Path | None = option(
        None, "Table with the column id: all nodes, those without links included.", reads=()
    )
    column: list[str] | None = option(
        None,
        "What the tables call id, label, value, source, target or weight, such as label=topic; "
        "trust=COLUMN says how much each label counts. May be given several times.",
        metavar="NAME=COLUMN",
    )
    encode: list[str] | None = option(
        None,
        "What a column of the features is: number, category, text or drop; may be given several "
        "times.",
        metavar="COLUMN=KIND",
    )

    @property
    def columns(self) -> dict[str, str]:
        """Name of a column here → its name in the files."""
        return parse_pairs(self.column, "--column")

    @property
    def kinds(self) -> dict[str, str]:
        """Column of the features → what it is."""
        return parse_pairs(self.encode, "--encode")


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The model, for every command that fits one."""

    model: Literal["broad", "big", "small", "appnp", "gcnii", "sage", "gin", "sgc"] = option(
        "broad", "The default; big or small as in the paper; other networks."
    )
    base_kernel: Literal["inner_product", "arc_cosine", "polynomial", "squared_exponential"] = (
        option("inner_product", "Covariance of the features.")
    )
    activation: Literal["relu", "leaky_relu", "erf", "gelu", "identity", "step", "sin", "cos"] = (
        option("relu", "Of the network's units.")
    )
    kernel: Literal["nngp", "ntk"] = option(
        "nngp", "The network's own covariance, or its tangent kernel."
    )
    learn: bool = option(False, "Learn the network's numbers by gradients.", "--learn")
    depth: int = option(2, "Number of layers.")
    noise: str = option("loo", "Noise variance: a number, 'loo' or 'evidence'.")
    standardize: Literal["auto", "yes", "no"] = option(
        "auto", "Center and scale columns of dense features."
    )
    neighbors: int | None = option(
        None, "Neighbors of the graph that is built when --edges is left out; 10 by default."
    )

    def settings(self) -> dict[str, Any]:
        """Return the parameters of an estimator, those of networks and graphs only if not usual."""
        try:
            noise: str | float = float(self.noise)
        except ValueError:
            noise = self.noise
        given = {
            "activation": (self.activation, "relu"),
            "kernel": (self.kernel, "nngp"),
            "learn": (self.learn, False),
            "n_neighbors": (self.neighbors, None),
        }
        return {
            "model": self.model,
            "base_kernel": self.base_kernel,
            "depth": self.depth,
            "noise_variance": noise,
            "standardize": {"auto": "auto", "yes": True, "no": False}[self.standardize],
            **{name: value for name, (value, usual) in given.items() if value != usual},
        }

    def refuse_neighbors(self, graph: str) -> None:
        """Refuse a number of neighbors where something else is the graph."""
        if self.neighbors is not None:
            raise InputError(f"--neighbors is not available with {graph}")


@dataclass(frozen=True, kw_only=True)
class ClassOptions(ModelOptions):
    """The model of classes."""

    decision: Literal["probable", "balanced"] = option(
        "probable", "Labels to write: the probable ones, or balanced over the classes."
    )

    def settings(self) -> dict[str, Any]:
        """Return the parameters of a classifier."""
        more = {} if self.decision == "probable" else {"decision": self.decision}
        return super().settings() | more

    def fitted(self, problem: Problem) -> GPGCClassifier:
        """Return a classifier of these settings, fitted."""
        from gpgc.estimators import GPGCClassifier

        return GPGCClassifier(**self.settings()).fit(**problem.arguments)


@dataclass(frozen=True, kw_only=True)
class Votes:
    """How labels are read of which a node has several."""

    several: Literal["votes"] | None = option(
        None,
        "votes: several rows of a node in --labels are votes for one label. Without it each node "
        "has one row.",
    )


@dataclass(frozen=True, kw_only=True)
class Further:
    """What adds columns or files, or changes labels and probabilities."""

    several: Literal["votes", "labels"] | None = option(
        None,
        "What several rows of a node in --labels are: votes for one label, or several labels. "
        "Without it each node has one row.",
    )
    sets: float | None = option(
        None,
        "Add the column set: classes that hold the true one with this probability.",
        metavar="LEVEL",
    )
    held_out: Path | None = option(
        None,
        "Table id,label of labels kept out, so that --sets is guaranteed.",
        reads=(),
        needs="--sets",
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
        None,
        "Worker processes of --scheduler local; 1 by default.",
        needs="--scheduler local",
        min=1,
    )
    memory_limit: str | None = option(
        None,
        "Memory of all local workers, such as 6GB; what is beyond goes to disk.",
        needs="--scheduler local",
    )


def parse_pairs(pairs: Sequence[str] | None, option: str) -> dict[str, str]:
    """Return what an option that is given as NAME=VALUE, several times, says."""
    found = {}
    for pair in pairs or ():
        name, equals, value = pair.rpartition("=") if option == "--encode" else pair.partition("=")
        if not (name and equals and value):
            raise InputError(f"{option} must be NAME=VALUE, got {pair!r:.60}")
        found[name] = value
    return found


def refuse_trust(columns: Mapping[str, str], command: str) -> None:
    """Refuse a column of trust for commands that count all labels alike."""
    if "trust" in columns:
        raise InputError(f"--column trust=COLUMN is not available with {command}")
