"""Open a set of the list, whatever it comes from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from gpgc_lab.studies.core.package_sets import OpenedSet, read_package_set
from gpgc_lab.studies.graphs.graph_sources import (
    CITATION,
    WITH_MASKS,
    Nodes,
    find_graph,
    load_graph,
    read_edges,
)
from gpgc_lab.studies.graphs.value_sources import TARGETS, load_target

SKLEARN_TABLES: dict[str, Callable[..., object]] = {
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "iris": load_iris,
    "digits": load_digits,
}
TABLE_VALUES = ("diabetes",)
"""Numbers of a table: their graph is not given."""


def open_set(name: str, data_dir: Path | None = None) -> OpenedSet:
    """Return graph, features and targets of a set of `core_sets.SETS`.

    Raises
    ------
    DataError
        If its files are not at hand, or are not those that were listed.

    Examples
    --------
    >>> opened = open_set("iris")
    >>> opened.adjacency is None, opened.features.shape, np.bincount(opened.targets).tolist()
    (True, (150, 4), [50, 50, 50])
    """
    if name in SKLEARN_TABLES:
        read: Any = SKLEARN_TABLES[name]
        features, labels = read(return_X_y=True)
        return OpenedSet(None, np.asarray(features, dtype=np.float64), labels.astype(np.int64))
    if name in TARGETS:
        valued = load_target(name, data_dir, seed=0)
        graph = None if name in TABLE_VALUES else valued.adjacency
        return OpenedSet(graph, valued.features, valued.values)
    if name.partition(",")[0] in ("power_grid", "yeast_proteins"):
        file, _, which = name.partition(", ")
        graph = read_edges(find_graph(file, data_dir), which or "labels")
        return OpenedSet(graph.adjacency, graph.features, graph.labels)
    if name in (*CITATION, *WITH_MASKS, "wordnet"):
        graph_data = load_graph(name, data_dir)
        return OpenedSet(graph_data.adjacency, graph_data.features, graph_data.labels)
    return read_package_set(name)


def own_divisions(name: str, data_dir: Path | None, is_public: bool) -> list[Nodes]:
    """Return the divisions that come with a graph: the published ones, or the others."""
    graph = load_graph(name, data_dir)
    numbers = range(min(2, graph.n_masks)) if is_public else range(2, graph.n_masks)
    return [graph.mask(number) for number in numbers]
