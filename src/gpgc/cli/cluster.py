"""`gpgc classify` for data that do not fit in memory: on this machine, or on a cluster."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

import typer

from gpgc.cli.output import show
from gpgc.compute.progress import duration, progress
from gpgc.errors import InputError
from gpgc.files import STANDARD_STREAM, parse_bytes, physical_memory
from gpgc.problem.label_file import read_labels

if TYPE_CHECKING:
    from gpgc.cli.classify import Classify

COPIES = 24
"""How many times the size of its features a graph takes on one machine, at most."""

LEAST_SECONDS, SECONDS_A_BYTE = 2.0, 8e-8
"""Of a fit on one machine with 2 cores: 1,000,000 nodes with 64 features take about 20 s."""


def classify_in_blocks(told: Classify) -> None:
    """Label the nodes of Parquet files on a cluster, and write a folder of Parquet files."""
    edges, features, labels, out = told.edges, told.features, told.labels, told.out
    if edges is None or features is None or labels is None:
        raise InputError(
            "--edges and --features must both be given with --scheduler: graphs of nearest "
            "neighbors, and graphs without features, are for one machine, on this one up to about "
            f"{physical_memory() / COPIES / 1e9:.1f} GB of features"
        )
    if told.model != "broad":
        raise InputError(f"--model must be broad with --scheduler, got {told.model!r}")
    for option, path in (("--edges", edges), ("--features", features), ("--out", out)):
        if path == STANDARD_STREAM:
            raise InputError(f"{option} must not be - with --scheduler, which needs Parquet files")
    for path in (edges, features, labels):
        if path != STANDARD_STREAM and not path.exists():
            raise InputError(f"{path}: expected a file or a folder, found none")
    try:
        from gpgc.dask.files import check_request, classify_parquet, connected
    except ImportError as error:
        raise InputError(f"--scheduler: {error}") from error
    limit, settings = parse_bytes(told.memory_limit, "--memory-limit"), told.settings()
    if (warning := fits_in_memory(check_request(edges, features, out, settings))) is not None:
        typer.echo(warning, err=True)

    def labels_of(ids: Any) -> Any:
        return read_labels(labels, cast(Any, ids), told.unlabelled)

    start = time.perf_counter()
    with (
        progress("labelling"),
        connected(told.scheduler or "local", told.workers, limit) as client,
    ):
        found = classify_parquet(edges, features, labels_of, out, settings, client)
    seconds = round(time.perf_counter() - start, 4)
    show({**found, "seconds": seconds}, told)


def fits_in_memory(size: int) -> str | None:
    """Return what is said of features of so many bytes that need no cluster; None of others."""
    if size > physical_memory() // COPIES:
        return None
    seconds = duration(LEAST_SECONDS + SECONDS_A_BYTE * size)
    return f"gpgc: this graph fits in memory; without --scheduler it takes about {seconds}"
