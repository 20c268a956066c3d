"""Fit and predict against the one matrix product that the job contains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc import GPGCClassifier
from gpgc.compute import Context
from gpgc.datasets import Dataset
from gpgc.graph import as_adjacency, normalize
from gpgc.kernels import ReLU
from gpgc.models.broad import Broad
from gpgc.models.graph_view import TELEPORTS
from gpgc_lab.select import select
from gpgc_lab.speed.measure import fastest
from gpgc_lab.speed.variants import NOTE, loops, variants
from gpgc_lab.tables import Table

PLAIN: dict[str, Any] = {"noise_variance": 0.1, "class_prior": "labels"}
"""Nothing to be chosen or estimated."""

CHOICES = "4 base kernels × 3 feature norms × 100 noise levels"
TO_REACH = {"cora": 2.0, "citeseer": 2.0, "pubmed": 2.5}


def limit_tables(datasets: Sequence[Dataset], quick: bool = False) -> list[Table]:
    """Return the ratios to the matrix product, and those of jobs to a single fit.

    The choice among settings is timed on the first of the data sets, variances on the last.
    """
    repeats = 5 if quick else 20
    over_product = Table(
        "limit",
        "Fit and predict all nodes, over the matrix product that the job contains",
        [
            "data set",
            "model",
            "columns",
            "seconds",
            "product, seconds",
            "ratio",
            "to reach",
            "κ alone, seconds",
        ],
        notes=[
            "The product is one float32 GEMM, (N × F) by (F × columns), on as many threads: for "
            "big the columns are the neighbours of the labelled nodes, for broad the landmarks, "
            "three times over. Least seconds of "
            f"{repeats} turns. κ alone is evaluated in tiles on as many elements as the product "
            "has. Fixed noise is the job of the goal; defaults choose noise, trust in the graph "
            "and class prior too. Where ÂX is sparse enough, gpgc takes sparse products, and a "
            "ratio below 1 is possible.",
            NOTE,
        ],
    )
    for data in datasets:
        over_product.rows += _over_product(data, repeats)
    return [over_product, _over_fit(datasets[0], datasets[-1], 3 if quick else 7)]


def _over_product(data: Dataset, repeats: int) -> list[list[Any]]:
    labels = training_labels(data)
    propagation = normalize(as_adjacency(data.adjacency))
    rows = (propagation @ sp.csr_array(data.features)).toarray().astype(np.float32)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-30))
    n_nodes = len(rows)
    reached = np.unique(propagation[data.train].indices)
    sample = np.arange(n_nodes if n_nodes <= Broad.exact_nodes else Broad.n_landmarks)
    out = []
    for model, columns, times, settings in (
        ("big", reached, 1, PLAIN),
        ("broad", sample, len(TELEPORTS), PLAIN),
        ("broad, defaults", sample, len(TELEPORTS), {}),
    ):
        right = np.ascontiguousarray(rows[columns].T)
        goal = TO_REACH.get(data.name) if model == "big" else None
        for suffix, is_compiled in variants(n_nodes).items():
            job = _fit(data, labels, is_compiled, model=model.partition(",")[0], **settings)
            works = [job, _repeated(rows, right, times), _kappa(rows @ right, times, is_compiled)]
            seconds, product, kappa = fastest(works, repeats)
            cells = [len(columns), seconds, product, seconds / product, goal, kappa]
            out.append([data.name, model + suffix, *cells])
    return out


def _over_fit(small: Dataset, large: Dataset, repeats: int) -> Table:
    table = Table(
        "limit_jobs",
        "Larger jobs over a single fit",
        ["job", "seconds", "single fit, seconds", "ratio", "to reach"],
        notes=["Model big, float32; a single fit is fit and predict at fixed noise."],
    )
    one_small, one_large = (
        _fit(data, training_labels(data), False, model="big", **PLAIN) for data in (small, large)
    )
    labels = training_labels(small)
    labels[small.validation] = small.labels[small.validation]

    def choose() -> None:
        graph, held_out = small.adjacency, small.validation
        select(small.features, labels, graph, validation=held_out, models=["big"])

    def variances() -> None:
        with loops(False):
            one_large().predict_latent(return_std=True)

    for title, job, one, goal in (
        (f"{small.name}: choose among {CHOICES}", choose, one_small, 15.0),
        (f"{large.name}: means and variances of all nodes", variances, one_large, 5.0),
    ):
        many, single = fastest([job, one], repeats)
        table.rows.append([title, many, single, many / single, goal])
    return table


def training_labels(data: Dataset) -> Any:
    """Return the labels of the training nodes, −1 elsewhere."""
    labels = np.full(len(data.labels), -1)
    labels[data.train] = data.labels[data.train]
    return labels


def _fit(
    data: Dataset, labels: Any, is_compiled: bool, **settings: Any
) -> Callable[[], GPGCClassifier]:
    def job() -> GPGCClassifier:
        estimator = GPGCClassifier(dtype="float32", **settings)
        with loops(is_compiled):
            estimator.fit(data.features, labels, adjacency=data.adjacency).predict()
        return estimator

    return job


def _repeated(left: Any, right: Any, times: int) -> Callable[[], None]:
    out = np.empty((left.shape[0], right.shape[1]), dtype=left.dtype)

    def product() -> None:
        for _ in range(times):
            np.matmul(left, right, out=out)

    return product


def _kappa(cosines: Any, times: int, is_compiled: bool) -> Callable[[], None]:
    context, std = Context.of(cosines.dtype), np.ones(1, dtype=cosines.dtype)
    with loops(is_compiled):
        primitives = context.primitives(len(cosines))
    tiles = context.tiles(len(cosines), cosines.shape[1] * cosines.itemsize)

    def tile(part: slice) -> None:
        ReLU().correlation(cosines[part].copy(), std, std, primitives)

    def evaluate() -> None:
        for _ in range(times):
            context.map(tile, tiles)

    return evaluate
