"""`gpgc classify` for data that do not fit in memory: on this machine, or on a cluster."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpgc.cli.label_file import UNLABELLED_MARKS
from gpgc.cli.output import peak_memory_mb
from gpgc.compute.progress import progress
from gpgc.errors import InputError
from gpgc.files import STANDARD_STREAM, parse_bytes


@dataclass(frozen=True)
class ClusterOptions:
    """Where blocks are computed: an address or ``local``, local workers, their memory."""

    scheduler: str
    workers: int | None
    memory_limit: str | None


def cluster_options(
    scheduler: str | None, workers: int | None, memory_limit: str | None
) -> ClusterOptions | None:
    """Return where blocks are computed; None where nobody wants blocks."""
    if scheduler is not None:
        return ClusterOptions(scheduler, workers, memory_limit)
    for option, value in (("--workers", workers), ("--memory-limit", memory_limit)):
        if value is not None:
            raise InputError(f"{option} needs --scheduler local")
    return None


def classify_in_blocks(
    edges: Path | None,
    features: Path | None,
    labels: Path,
    out: Path,
    settings: dict[str, Any],
    unlabelled: Sequence[str] | None,
    options: ClusterOptions,
) -> dict[str, Any]:
    """Label the nodes of Parquet files on a cluster, and write a folder of Parquet files."""
    if edges is None or features is None:
        raise InputError("--edges and --features must both be given with --scheduler")
    if settings["model"] != "broad":
        raise InputError(f"--model must be broad with --scheduler, got {settings['model']!r:.60}")
    for option, path in (("--edges", edges), ("--features", features), ("--out", out)):
        if path == STANDARD_STREAM:
            raise InputError(f"{option} must not be - with --scheduler, which needs Parquet files")
    try:
        from gpgc.dask.files import check_request, classify_parquet, connected
    except ImportError as error:
        raise InputError(f"--scheduler: {error}") from error
    limit = parse_bytes(options.memory_limit, "--memory-limit")
    marks = UNLABELLED_MARKS if unlabelled is None else tuple(unlabelled)
    check_request(edges, features, labels, out, settings)
    start = time.perf_counter()
    with (
        progress("labelling"),
        connected(options.scheduler, options.workers, limit) as client,
    ):
        result = classify_parquet(edges, features, labels, out, settings, marks, client)
    return {
        **result,
        "seconds": round(time.perf_counter() - start, 4),
        "peak_memory_mb": peak_memory_mb(),
    }
