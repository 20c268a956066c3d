"""A graph with features on a cluster: described rows, and which nodes labels reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.compute.progress import announce
from gpgc.dask.cluster import Cluster, task
from gpgc.dask.described import (
    BlockRows,
    Reference,
    chosen,
    described,
    landmark_places,
    stacked,
    with_views,
)
from gpgc.dask.diffusion import column_slices, diffused
from gpgc.dask.features import BlockFeatures, checked, part_of, prepare
from gpgc.dask.inputs import blocks_of_features, frames_of_edges
from gpgc.dask.keys import keys_of
from gpgc.dask.links import Links, links_of, propagation_of
from gpgc.dask.partition import Partition
from gpgc.dask.reach import Reached, reached
from gpgc.dask.standardise import standardisation_of
from gpgc.dask.surroundings import (
    FeaturesAround,
    Surroundings,
    columns_of_landmarks,
    degree_rows,
    degrees_of,
    link_rows,
    wide_rows,
)
from gpgc.estimators.inputs import FeatureNorm
from gpgc.estimators.standardise import Standardise
from gpgc.graph import Normalization
from gpgc.models.broad import REACHES, STEPS, Broad
from gpgc.models.broad_inputs import AROUND, FEATURE_VIEWS, FORMS, landmark_phrases
from gpgc.models.likeness import sampled_nodes
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
    around : Surroundings
        What nodes have around them.
    landmarks : task of Reference
        Rows of the landmarks.
    labelled : list of int arrays
        Labelled nodes of each block, counted from its first.
    labelled_rows : list of tasks of Described
        Their rows.
    reached : Reached
        Which nodes labels reach.
    likeness : float or None
        Of linked nodes (:mod:`gpgc.models.likeness`).
    projection : Projection
        Of features that are too wide to diffuse.
    sample : int array or None
        The landmarks; None where all nodes are.
    label_keys : array of shape (D,)
        Of the labelled nodes, by which they are sampled.
    """

    cluster: Cluster
    partition: Partition
    raw: Sequence[Any]
    settings: BlockFeatures
    links: Links
    totals: list[list[Any]]
    around: Surroundings
    landmarks: Any
    labelled: Sequence[Integers]
    labelled_rows: Sequence[Any]
    reached: Reached
    likeness: float | None
    projection: Projection
    sample: Integers | None
    label_keys: Array

    @property
    def views(self) -> tuple[str, ...]:
        """Views among which labels may choose; without links all are one."""
        return FEATURE_VIEWS if self.links.n_links else FEATURE_VIEWS[:1]

    def features(self, block: int) -> Any:
        """Return the task of the checked features of a block."""
        return task(checked, self.raw[block], block, self.settings)

    def keep_only(self, views: Sequence[str]) -> None:
        """Let go the diffused columns where no view needs them."""
        if "graph" not in views:
            self.totals.clear()

    def rows(self, views: Sequence[str]) -> list[BlockRows]:
        """Return the tasks of what the rows of all blocks are made of, for some views."""
        blocks = range(len(self.partition))
        features = [self.features(block) for block in blocks]
        others = {view: self.around.rows(view, features) for view in views if view in AROUND}
        return [
            BlockRows(
                self.totals[block] if "graph" in views else [],
                features[block] if "features" in views else None,
                {view: rows[block] for view, rows in others.items()},
                self.settings.dtype,
            )
            for block in blocks
        ]

    def approximations(self, architecture: Broad, views: Sequence[str]) -> tuple[str, ...]:
        """Return what is not exact in some views, a phrase each."""
        phrases = list(self.projection.approximations if "graph" in views else ())
        for view in views:
            landmarks = architecture.view_landmarks(view, self.partition.n_nodes, self.sample)
            phrases += landmark_phrases(FORMS[view], landmarks)
        return tuple(dict.fromkeys(phrases))

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
    standardise: Standardise,
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
    normalization, norm, standardise, dtype
        As the estimators' ``normalization``, ``feature_norm``, ``standardise`` and ``dtype``.
    cluster : Cluster
        Where.
    """
    raw, partition, n_features = blocks_of_features(X)
    frames = frames_of_edges(adjacency)
    settings = BlockFeatures(partition, n_features, norm, dtype)
    units = standardisation_of(raw, settings, standardise, cluster)
    settings = replace(settings, standardisation=units)
    projection = projection_for(X, architecture.seed, Context.of(dtype))
    slices = column_slices(partition.n_nodes, projection.n_columns, np.dtype(dtype).itemsize)
    blocks, in_blocks = range(len(partition)), partition.split(labelled)
    announce("bringing edges to the blocks of their nodes")
    links = links_of(frames, partition, cluster)
    keys = keys_of(raw, settings, links, normalization, architecture.seed, cluster)
    sample = architecture.landmarks_by(keys)
    landmarks = np.arange(partition.n_nodes) if sample is None else sample
    wanted = partition.split(np.union1d(landmarks, labelled))
    looked_at = partition.split(sampled_nodes(keys))
    label_keys = keys[labelled]
    del keys
    lazy = propagation_of(links, normalization, dtype)
    propagation = cluster.keep(lazy)
    wide = cluster.keep(wide_rows(propagation, links))
    needs = FeaturesAround.of(wanted, looked_at, wide, links, cluster)
    announce("reading the features")
    prepared = cluster.finish(
        task(
            prepare,
            task(checked, raw[b], b, settings),
            links.rows[b],
            links.degrees[b],
            wanted[b],
            needs.nodes[b],
            projection,
            slices,
            settings,
        )
        for b in blocks
    )
    cut, own, found, near = (
        cluster.keep(task(part_of, block, part) for block in prepared) for part in (0, 1, 3, 4)
    )
    starts = [cluster.keep(task(part_of, b, part) for b in cut) for part in range(len(slices))]
    largest = max(cluster.fetch(task(part_of, block, 2) for block in prepared))
    del prepared, cut
    diagonal = sp.csr_array(np.array([[links.least_diagonal]]))
    check_magnitudes(architecture, diagonal, np.array([[largest]]), np.dtype(dtype))
    is_reached = reached(links, found, in_blocks, cluster)
    likeness = needs.likeness(near, cluster)
    places = partition.split(landmarks)
    has_columns = architecture.view_landmarks("structure", partition.n_nodes, sample) is not None
    columns = columns_of_landmarks(wide, places, cluster) if has_columns else None
    around = Surroundings(links, lazy, columns, *degrees_of(propagation, links, cluster), dtype)
    by_view = {
        "neighbours": needs.neighbour_rows(near),
        "structure": [task(link_rows, wide[b], columns, dtype, wanted[b]) for b in blocks],
        "degrees": [
            task(degree_rows, around.numbers[b], around.moments, dtype, wanted[b]) for b in blocks
        ],
    }
    by_view = {view: cluster.keep(tasks) for view, tasks in by_view.items()}
    del needs, near, wide  # which need not be held while features diffuse
    totals, taken = diffused(starts, propagation, links, wanted, REACHES, STEPS, dtype, cluster)
    rows = cluster.keep(
        task(
            with_views,
            task(described, taken[b], own[b], dtype),
            {view: tasks[b] for view, tasks in by_view.items()},
        )
        for b in blocks
    )
    known = [np.searchsorted(wanted[b], in_blocks[b]) for b in blocks]
    seen = [
        task(chosen, rows[b], np.searchsorted(wanted[b], places[b]))
        for b in blocks
        if len(places[b])
    ]
    own_landmarks = landmark_places(architecture, partition.n_nodes, sample)
    reference = task(Reference, task(stacked, seen), own_landmarks)
    kept = cluster.keep([reference, *(task(chosen, rows[b], known[b]) for b in blocks)])
    return Graph(
        cluster,
        partition,
        raw,
        settings,
        links,
        totals,
        around,
        kept[0],
        in_blocks,
        kept[1:],
        is_reached,
        likeness,
        projection,
        sample,
        label_keys,
    )
