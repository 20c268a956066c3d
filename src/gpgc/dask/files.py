"""From Parquet files to Parquet files, on this machine or on a cluster."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client

from gpgc._typing import Array, Integers
from gpgc.compute.progress import announce
from gpgc.dask.classifier import DaskGPGCClassifier
from gpgc.dask.cluster import Cluster, task
from gpgc.dask.local_cluster import local_cluster
from gpgc.dask.parquet import parquet_features, write_predictions
from gpgc.errors import InputError
from gpgc.estimators.inputs import check_noise
from gpgc.estimators.labels import UNLABELLED
from gpgc.files import STANDARD_STREAM, read_table

CONNECT_SECONDS = 30
"""How long a scheduler may take to answer."""


@contextmanager
def connected(scheduler: str, workers: int | None, memory_limit: int | None) -> Iterator[Client]:
    """Connect to a scheduler, or start a cluster on this machine.

    Parameters
    ----------
    scheduler : str
        An address such as ``tcp://10.0.0.1:8786``, or ``local`` for worker processes here, which
        listen on the loopback interface alone.
    workers : int, optional
        Number of worker processes of a local cluster; 1 when not given. They share the cores.
    memory_limit : int, optional
        Bytes of all local workers together, beyond which results go to disk.
    """
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


def check_request(
    edges: Path, features: Path, labels: Path, out: Path, settings: Mapping[str, Any]
) -> None:
    """Refuse what :func:`classify_parquet` would refuse, as far as it is known without a cluster.

    Parameters
    ----------
    edges, features, labels, out, settings
        As there.
    """
    for path in (edges, features, labels):
        if path != STANDARD_STREAM and not path.exists():
            raise InputError(f"{path}: expected a file or a folder, found none")
    _check_out(out)
    model = DaskGPGCClassifier(**settings)
    model.architecture()
    check_noise(model.noise_variance, 1)


def _check_out(out: Path) -> None:
    if out.exists() or not out.resolve().parent.is_dir():
        raise InputError(f"--out must be a new folder in one that exists, got {str(out)!r}")


def classify_parquet(
    edges: Path,
    features: Path,
    labels: Path,
    out: Path,
    settings: Mapping[str, Any],
    marks: Sequence[str],
    client: Client,
) -> dict[str, Any]:
    """Label the nodes of Parquet files and write a folder of Parquet files, whole or not at all.

    Parameters
    ----------
    edges, features : Path
        Parquet files or folders that all workers can read: whole numbers ``source,target[,weight]``
        from 0 to N − 1, and ``id`` from 0 on with a column for each feature.
    labels : Path
        Table ``id,label`` of the labelled nodes, read here.
    out : Path
        Folder that does not exist yet, which all workers can write.
    settings : mapping
        Parameters of :class:`DaskGPGCClassifier`.
    marks : sequence of str
        Labels that mean unlabelled.
    client : distributed.Client
        The connection.
    """
    _check_out(out)
    announce("reading")
    X = parquet_features(features)
    y, names = read_codes(labels, X.shape[0], marks)
    model = DaskGPGCClassifier(**settings, client=client).fit(X, y, edges)
    announce("writing predictions")
    part = out.resolve().with_name(f".{out.name}.{secrets.token_hex(6)}")
    part.mkdir()
    try:
        write_blocks(part, model, y, names[model.classes_], client)
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
        "noise_variance": model.noise_variance_,
        "standardised": model.standardisation_,
        "approximations": list(model.approximations_),
        "out": str(out),
    }


def write_blocks(
    folder: Path, model: DaskGPGCClassifier, y: Integers, names: Any, client: Client
) -> None:
    """Write a file for each block of rows, by whichever worker has it."""
    probabilities = model.predict_proba()
    sizes = probabilities.chunks[0]
    blocks = zip(
        probabilities.to_delayed().ravel(),
        model.predict().to_delayed().ravel(),
        sizes,
        np.cumsum(sizes),
        strict=True,
    )
    tasks = []
    for number, (table, labels, size, end) in enumerate(blocks):
        path, rows = str(folder / f"part-{number:05}.parquet"), y[end - size : end]
        tasks.append(
            task(write_block, path, int(end - size), table, labels, rows, model.classes_, names)
        )
    for done, _ in enumerate(Cluster(client).completed(tasks), 1):
        announce(f"writing predictions, {done} of {len(tasks)} files")


def write_block(
    path: str,
    first: int,
    probabilities: Array,
    predicted: Integers,
    y: Integers,
    classes: Integers,
    names: Any,
) -> int:
    """Write the predictions of one block: the given label where there is one."""
    is_given = y != UNLABELLED
    codes = np.searchsorted(classes, np.where(is_given, y, predicted))
    chosen = probabilities[np.arange(len(codes)), codes]
    columns = {"label": codes, "probability": chosen, "given": is_given}
    return write_predictions(path, first, columns, names)


def read_codes(path: Path, n_nodes: int, marks: Sequence[str]) -> tuple[Integers, Any]:
    r"""Return the labels of all nodes as codes, −1 where unlabelled, and the sorted names.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "labels.csv"
    >>> _ = file.write_text("id,label\n2,b\n0,a\n1,NA\n")
    >>> read_codes(file, 4, ["NA"])
    (array([ 0, -1,  1, -1]), array(['a', 'b'], dtype='<U1'))
    """
    found: dict[int, str] = {}
    for place, row in read_table(path).select(["id", "label"]):
        text, label = row["id"], row["label"]
        if not text.isdecimal() or int(text) >= n_nodes:
            raise InputError(
                f"{place}: expected a node from 0 to {n_nodes - 1} as id, got {text!r}"
            )
        if int(text) in found:
            raise InputError(f"{place}: {text!r} has a second label")
        if label in marks:
            continue
        if not label:
            raise InputError(f"{place}: expected a label or one of {sorted(marks)}, got nothing")
        found[int(text)] = label
    if not found:
        raise InputError(f"{path}: expected at least one label, got none")
    names, codes = np.unique(np.array(list(found.values())), return_inverse=True)
    y = np.full(n_nodes, UNLABELLED)
    y[list(found)] = codes
    return y, names
