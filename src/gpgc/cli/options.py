"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from gpgc.compute.progress import silent
from gpgc.errors import InputError

ModelOption = Annotated[
    str,
    typer.Option(
        "--model", help="broad; big or small as in the paper; appnp, gcnii, sage, gin, sgc."
    ),
]
ActivationOption = Annotated[
    str,
    typer.Option("--activation", help="relu, leaky_relu, erf, gelu, identity, step, sin or cos."),
]
TangentOption = Annotated[
    str, typer.Option("--kernel", help="nngp, or ntk for the network's tangent kernel.")
]
LearnOption = Annotated[
    bool, typer.Option("--learn", help="Learn the network's numbers by gradients.")
]
KernelOption = Annotated[
    str,
    typer.Option(
        "--base-kernel",
        help="inner_product, arc_cosine, polynomial or squared_exponential.",
    ),
]
DepthOption = Annotated[int, typer.Option("--depth", help="Number of layers.")]
NoiseOption = Annotated[
    str, typer.Option("--noise", help="Noise variance: a number, 'loo' or 'evidence'.")
]
EdgesOption = Annotated[
    Path | None, typer.Option(help="Table with the columns source,target[,weight].")
]
FeaturesOption = Annotated[
    Path | None,
    typer.Option(
        help="Table with a column id: numbers, categories, texts; or .npz of gpgc features, .npy, "
        "sparse .npz."
    ),
]
UnlabelledOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MARK",
        help="Label that means unlabelled, in place of an empty one, -1, nan, NA, None and null; "
        "may be given several times.",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print the result as one JSON object on standard output.")
]


def _silence(context: typer.Context, quiet: bool) -> bool:
    if quiet:
        context.with_resource(silent())
    return quiet


QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", callback=_silence)
]
SchedulerOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS|local",
        help="Compute in blocks on a Dask cluster, or in worker processes here, for Parquet files "
        "of any size; --out is a folder then. Needs the extra dask.",
    ),
]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="Worker processes of --scheduler local; 1 by default.")
]
MemoryOption = Annotated[
    str | None,
    typer.Option(help="Memory of all local workers, such as 6GB; what is beyond goes to disk."),
]
NodesOption = Annotated[
    Path | None,
    typer.Option(help="Table with the column id: all nodes, those without links included."),
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=COLUMN",
        help="What the tables call id, label, value, source, target or weight, such as "
        "label=topic; trust=COLUMN says how much each label counts. May be given several times.",
    ),
]
EncodeOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=KIND",
        help="What a column of the features is: number, category, text or drop; may be given "
        "several times.",
    ),
]
SeveralOption = Annotated[
    str | None,
    typer.Option(
        "--several",
        metavar="votes",
        help="votes: several rows of a node in --labels are votes for one label. Without it each "
        "node has one row.",
    ),
]
NeighborsOption = Annotated[
    int | None,
    typer.Option(
        "--neighbors",
        help="Neighbours of the graph that is built when --edges is left out; 10 by default.",
    ),
]
SaveOption = Annotated[
    Path | None, typer.Option(help="File to write the fitted model to, for gpgc predict.")
]
LabelsOption = Annotated[Path, typer.Option(help="Table with the columns id,label.")]
DrawnOption = Annotated[
    str | None,
    typer.Option(
        "--labels-drawn",
        metavar="random|chosen",
        help="How the labelled nodes were selected: random or chosen. Default: the column role of "
        "--labels, as gpgc label writes it.",
    ),
]

StandardiseOption = Annotated[
    str, typer.Option(help="Centre and scale columns of dense features: auto, yes or no.")
]
DecisionOption = Annotated[
    str, typer.Option(help="Labels to write: probable, or balanced over the classes.")
]


def standardise_of(word: str) -> bool | Literal["auto"]:
    """Return the parameter ``standardise`` that an option names."""
    if word not in ("auto", "yes", "no"):
        raise InputError(f"--standardise must be auto, yes or no, got {word!r:.60}")
    return "auto" if word == "auto" else word == "yes"


def settings_of(
    model: str,
    base_kernel: str,
    depth: int,
    noise: str,
    activation: str = "relu",
    kernel: str = "nngp",
    learn: bool = False,
) -> dict[str, Any]:
    """Return the parameters of an estimator that the options name, the last three if not usual."""
    further = {"activation": activation, "kernel": kernel, "learn": learn}
    usual = {"activation": "relu", "kernel": "nngp", "learn": False}
    try:
        noise_variance: str | float = float(noise)
    except ValueError:
        noise_variance = noise
    return {
        "model": model,
        "base_kernel": base_kernel,
        "depth": depth,
        "noise_variance": noise_variance,
        **{name: value for name, value in further.items() if value != usual[name]},
    }


def neighbors_of(neighbors: int | None, edges: Path | None) -> dict[str, Any]:
    """Return the parameter that ``--neighbors`` names, refusing it where edges are given."""
    if neighbors is None:
        return {}
    if edges is not None:
        raise InputError("--neighbors is not available with --edges, which are the graph")
    return {"n_neighbors": neighbors}


def refuse_others(context: typer.Context, allowed: Collection[str], with_option: str) -> None:
    """Refuse by name any option, not at its default, that has no meaning beside another one.

    Parameters
    ----------
    context : typer.Context
        Of the command.
    allowed : collection of str
        Parameters of the command that do have a meaning.
    with_option : str
        The other option, for the error message.
    """
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        usual = (None, [], (), parameter.get_default(context))
        if parameter.name not in allowed and value not in usual:
            raise InputError(f"{parameter.opts[0]} is not available with {with_option}")


def refuse_trust(columns: Mapping[str, str], command: str) -> None:
    """Refuse a column of trust for commands that count all labels alike."""
    if "trust" in columns:
        raise InputError(f"--column trust=COLUMN is not available with {command}")


def reading(
    nodes: Path | None,
    column: Sequence[str] | None,
    encode: Sequence[str] | None,
    several: str | None = None,
) -> dict[str, Any]:
    """Return what these options say as arguments of :func:`gpgc.cli.files.read_graph_files`."""
    return {
        "nodes": nodes,
        "columns": parse_pairs(column, "--column"),
        "kinds": parse_pairs(encode, "--encode"),
        "several": several,
    }


def only_votes(several: str | None) -> str | None:
    """Return what ``--several`` says, for commands that know votes alone."""
    if several not in (None, "votes"):
        raise InputError(f"--several must be votes, got {several!r:.60}")
    return several


def parse_pairs(pairs: Sequence[str] | None, option: str) -> dict[str, str]:
    """Return what an option that is given as NAME=VALUE, several times, says.

    Examples
    --------
    >>> parse_pairs(["id=paper", "label=topic"], "--column")
    {'id': 'paper', 'label': 'topic'}
    """
    found = {}
    for pair in pairs or ():
        name, equals, value = pair.rpartition("=") if option == "--encode" else pair.partition("=")
        if not (name and equals and value):
            raise InputError(f"{option} must be NAME=VALUE, got {pair!r:.60}")
        found[name] = value
    return found
