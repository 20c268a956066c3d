"""A graph with features on a cluster: described rows, and which nodes labels reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Integers
from gpgc.compute import Context
from gpgc.compute.progress import announce
from gpgc.dask.cluster import Cluster, task
from gpgc.dask.described import VIEWS, chosen, described, stacked
from gpgc.dask.diffusion import column_slices, diffused
from gpgc.dask.features import BlockFeatures, checked, part_of, prepare
from gpgc.dask.inputs import blocks_of_features, frames_of_edges
from gpgc.dask.links import Links, links_of, propagation_of
from gpgc.dask.partition import Partition
from gpgc.dask.reach import Reached, reached
from gpgc.estimators.inputs import FeatureNorm
from gpgc.graph import Normalization
from gpgc.models.broad import REACHES, STEPS, Broad
from gpgc.models.likeness import LikenessSums
from gpgc.models.magnitudes import check_magnitudes
from gpgc.models.projection import Projection, projection_for


@dataclass(frozen=True, eq=False)
class Graph:
    """All that a fit keeps on the cluster before it looks at the labels' values.

    Attributes
    ----------
    cluster : Cluster
        Where.
    partition : Partition
        Of the nodes.
    raw : list of tasks
        Blocks of X, read again whenever they are asked for.
    settings : BlockFeatures
        What is expected of them.
    links : Links
        The graph.
    totals : list of lists of tasks
        Diffused columns of each block.
    landmarks : task of Described
        Rows of the landmarks.
    labelled : list of int arrays
        Labelled nodes of each block, counted from its first.
    labelled_rows : list of tasks of Described
        Their rows.
    reached : Reached
        Which nodes labels reach.
    likeness : float or None
        Of nodes that are linked within a block (:mod:`gpgc.models.likeness`).
    approximations : tuple of str
        What is not exact.
    """

    cluster: Cluster
    partition: Partition
    raw: Sequence[Any]
    settings: BlockFeatures
    links: Links
    totals: Sequence[Sequence[Any]]
    landmarks: Any
    labelled: Sequence[Integers]
    labelled_rows: Sequence[Any]
    reached: Reached
    likeness: float | None
    approximations: tuple[str, ...]

    @property
    def views(self) -> tuple[str, ...]:
        """Views among which labels may choose; without links all are one."""
        return VIEWS if self.links.n_links else VIEWS[:1]

    def features(self, block: int) -> Any:
        """Return the task of the checked features of a block."""
        return task(checked, self.raw[block], block, self.settings)

    def rows(self, block: int, views: Sequence[str]) -> Any:
        """Return the task of the described rows of a block, for some views."""
        pieces = self.totals[block] if "graph" in views else []
        own = self.features(block) if "features" in views else None
        return task(described, pieces, own, self.settings.dtype)

    def labelled_sample(self, few: Integers) -> list[Any]:
        """Return the tasks of the rows of some labels, sorted, by the blocks that they are in."""
        first = np.cumsum([0, *(len(nodes) for nodes in self.labelled)])
        cuts = np.searchsorted(few, first)
        return [
            task(chosen, rows, few[cuts[block] : cuts[block + 1]] - first[block])
            for block, rows in enumerate(self.labelled_rows)
            if cuts[block + 1] > cuts[block]
        ]


def graph_of(
    X: Any,
    labelled: Integers,
    adjacency: Any,
    architecture: Broad,
    normalization: Normalization,
    norm: FeatureNorm,
    dtype: str,
    cluster: Cluster,
) -> Graph:
    """Bring a graph to the cluster, diffuse its features, and find what labels reach.

    Parameters
    ----------
    X, adjacency
        As in ``fit``.
    labelled : int array of shape (D,)
        The labelled nodes, sorted.
    architecture : Broad
        Whose landmarks and seed are used.
    normalization, norm, dtype
        As the estimators' ``normalization``, ``feature_norm`` and ``dtype``.
    cluster : Cluster
        Where.
    """
    raw, partition, n_features = blocks_of_features(X)
    frames = frames_of_edges(adjacency)
    settings = BlockFeatures(partition, n_features, norm, dtype)
    sample = architecture.landmarks(partition.n_nodes)
    landmarks = np.arange(partition.n_nodes) if sample is None else sample
    wanted = partition.split(np.union1d(landmarks, labelled))
    projection = projection_for(X, architecture.seed, Context.of(dtype))
    blocks, in_blocks = range(len(partition)), partition.split(labelled)
    announce("bringing edges to the blocks of their nodes")
    links = links_of(frames, partition, cluster)
    announce("reading the features")
    prepared = cluster.finish(
        task(
            prepare,
            task(checked, raw[b], b, settings),
            links.rows[b],
            links.degrees[b],
            wanted[b],
            projection,
            settings,
        )
        for b in blocks
    )
    starts, own, found = (
        cluster.keep(task(part_of, block, part) for block in prepared) for part in (0, 1, 3)
    )
    largest = max(cluster.fetch(task(part_of, block, 2) for block in prepared))
    alike = reduce(LikenessSums.joined, cluster.fetch(task(part_of, b, 4) for b in prepared))
    del prepared
    diagonal = sp.csr_array(np.array([[links.least_diagonal]]))
    check_magnitudes(architecture, diagonal, np.array([[largest]]), np.dtype(dtype))
    is_reached = reached(links, found, in_blocks, cluster)
    propagation = propagation_of(links, normalization, dtype, cluster)
    slices = column_slices(partition.n_nodes, projection.n_columns, np.dtype(dtype).itemsize)
    totals, taken = diffused(
        starts, propagation, links, wanted, slices, REACHES, STEPS, dtype, cluster
    )
    rows = cluster.keep(task(described, taken[b], own[b], dtype) for b in blocks)
    places = [np.searchsorted(wanted[b], part) for b, part in enumerate(partition.split(landmarks))]
    known = [np.searchsorted(wanted[b], in_blocks[b]) for b in blocks]
    seen = [task(chosen, rows[b], places[b]) for b in blocks if len(places[b])]
    kept = cluster.keep([task(stacked, seen), *(task(chosen, rows[b], known[b]) for b in blocks)])
    return Graph(
        cluster,
        partition,
        raw,
        settings,
        links,
        totals,
        kept[0],
        in_blocks,
        kept[1:],
        is_reached,
        alike.likeness,
        _approximations(sample, projection),
    )


def _approximations(sample: Integers | None, projection: Projection) -> tuple[str, ...]:
    found = []
    if projection.matrix is not None:
        wide, narrow = projection.matrix.shape
        found.append(f"features projected from {wide:,} to {narrow:,} columns")
    if sample is not None:
        found.append(f"squares over {len(sample):,} landmarks")
    found.append(f"views by {' and '.join(VIEWS)} alone, the others are not computed in blocks")
    return tuple(found)
