"""From Parquet files to Parquet files, on this machine or on a cluster."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client
from numpy.typing import NDArray

from gpgc._typing import Array
from gpgc.compute.progress import announce
from gpgc.dask.cluster import Cluster, local_cluster, task
from gpgc.dask.describe import itself
from gpgc.dask.estimators import DaskGPGCClassifier
from gpgc.dask.parquet import (
    Ids,
    parquet_edges,
    parquet_features,
    parquet_ids,
    write_table,
)
from gpgc.errors import InputError
from gpgc.estimators.inputs import check_noise
from gpgc.problem.label_file import LabelFile

CONNECT_SECONDS = 30
"""How long a scheduler may take to answer."""


@contextmanager
def connected(scheduler: str, workers: int | None, memory_limit: int | None) -> Iterator[Client]:
    """Connect to a scheduler, or start workers here, which share the cores and a limit in bytes."""
    if scheduler != "local":
        if workers is not None or memory_limit is not None:
            raise InputError(
                "--workers and --memory-limit must come with --scheduler local: a running cluster "
                "has its own"
            )
        try:
            client = Client(scheduler, timeout=CONNECT_SECONDS)
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                f"--scheduler must be local or the address of a running scheduler, "
                f"got {scheduler!r}: {error}"
            ) from error
        with client:
            yield client
        return
    with (
        local_cluster(workers or 1, memory_limit=memory_limit) as cluster,
        Client(cluster) as client,
    ):
        yield client


def check_request(edges: Path, features: Path, out: Path, settings: Mapping[str, Any]) -> int:
    """Refuse what a cluster is not needed for to refuse; return the bytes of the features."""
    check_out(out)
    model = DaskGPGCClassifier(**settings)
    model.check_parameters()
    check_noise(model.noise_variance, 1)
    parquet_edges(edges)
    return int(parquet_features(features).nbytes)


def check_out(out: Path) -> None:
    """Refuse a folder that exists, or that could not be made."""
    if out.exists() or not out.resolve().parent.is_dir():
        raise InputError(f"--out must be a new folder in one that exists, got {str(out)!r}")


def classify_parquet(
    edges: Path,
    features: Path,
    labels_of: Callable[[Ids], LabelFile],
    out: Path,
    settings: Mapping[str, Any],
    client: Client,
) -> dict[str, Any]:
    """Label the nodes of Parquet files and write a folder of such, whole or not at all."""
    check_out(out)
    announce("reading")
    cluster, X = Cluster(client), parquet_features(features)
    own = cluster.finish(parquet_ids(features), "reading ids")
    ids = Ids(np.concatenate(cluster.fetch(own)), str(features))
    parts = parquet_edges(edges)
    if not ids.is_plain:
        (known,) = cluster.keep([task(itself, ids)])
        parts = [part._replace(ids=known) for part in parts]
    given = labels_of(ids)
    y = given.labels
    del ids
    model = DaskGPGCClassifier(**settings, client=client).fit(X, y, parts)
    announce("writing predictions")
    part = out.resolve().with_name(f".{out.name}.{secrets.token_hex(6)}")
    part.mkdir()
    try:
        write_blocks(part, model, own, y, cluster)
        part.rename(out)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return {
        "dataset": str(edges),
        "model": f"{model.model}, {model.base_kernel}, depth {model.depth}",
        "nodes": X.shape[0],
        "edges": model.n_links_,
        "features": X.shape[1],
        "classes": len(model.classes_),
        "labels": len(model.labelled_nodes_),
        "unlabelled": given.n_marked,
        "noise_variance": model.noise_variance_,
        "standardized": model.standardization_,
        "approximations": list(model.approximations_),
        "out": str(out),
    }


def write_blocks(
    folder: Path, model: Any, ids: list[Any], y: NDArray[Any], cluster: Cluster
) -> None:
    """Write a file for each block of rows, by whichever worker has it."""
    probabilities, predicted = model.predict_proba(), model.predict()
    ends = np.cumsum(probabilities.chunks[0])[:-1]
    four = zip(
        ids,
        probabilities.to_delayed().ravel(),
        predicted.to_delayed().ravel(),
        np.split(y, ends),
        strict=True,
    )
    tasks = [
        task(write_block, str(folder / f"part-{number:05}.parquet"), *block, model.classes_)
        for number, block in enumerate(four)
    ]
    cluster.finish(tasks, "writing predictions")


def write_block(
    path: str,
    ids: NDArray[Any],
    probabilities: Array,
    predicted: NDArray[Any],
    y: NDArray[Any],
    classes: NDArray[Any],
) -> int:
    """Write the predictions of one block: the given label where there is one."""
    is_given = np.array([label is not None for label in y.tolist()])
    labels = predicted.astype(object)
    labels[is_given] = y[is_given]
    codes = np.searchsorted(classes, labels.astype(classes.dtype))
    chosen = probabilities[np.arange(len(codes)), codes]
    columns = {"id": ids, "label": labels, "probability": chosen, "given": is_given}
    return write_table(path, columns)
