"""Numbers at the nodes of graphs: public targets, and made-up ones whose signal is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_diabetes

from gpgc.graph import neighbor_graph
from gpgc_lab.array_types import Array, Integers
from gpgc_lab.datasets import load_npz_graph, load_planetoid
from gpgc_lab.studies.graphs.graph_sources import N_NEIGHBORS, find_graph

MADE_UP_NODES, MADE_UP_FEATURES = 1500, 20

PUBLIC = ("diabetes", "chameleon, traffic", "minesweeper, mines around", "pubmed, a word's weight")
MADE_UP = ("smooth on the graph", "own features", "neighbours' mean", "no signal")
TARGETS = (*PUBLIC, *MADE_UP)

ABOUT = (
    "Diabetes: scikit-learn's, a year's progression of 442 patients, graph of 10 nearest "
    "neighbours. Chameleon, traffic: the class as a number, 0 to 4 by monthly traffic of the page. "
    "Minesweeper: how many of a node's neighbours are mines, at the nodes whose own number is "
    "hidden. Pubmed: the TF-IDF weight of the most frequent word, taken out of X. Made up, "
    f"{MADE_UP_NODES:,} nodes and {MADE_UP_FEATURES} normal features, in a plane with links to the "
    "nearest 6: a wave over the plane that features know nothing of; a linear function of a node's "
    "own features; the mean of that over its neighbours; noise alone. The first three have noise "
    "of half the signal's standard deviation."
)


@dataclass(frozen=True, eq=False)
class ValuedGraph:
    """A graph with a number at its nodes.

    Attributes
    ----------
    adjacency : csr_array of shape (N, N)
    features : csr_array or ndarray of shape (N, F)
    values : ndarray of shape (N,)
        NaN at nodes that are neither given nor judged.
    """

    adjacency: csr_array
    features: csr_array | Array
    values: Array


def load_target(name: str, data_dir: Path | None, seed: int) -> ValuedGraph:
    """Return one of `TARGETS`; the seed draws what is made up.

    Raises
    ------
    DataError
        If its files are not at hand.
    """
    if name in MADE_UP:
        return made_up(name, seed)
    loaders: dict[str, Callable[[], ValuedGraph]] = {
        "diabetes": _diabetes,
        "chameleon, traffic": partial(_traffic, data_dir),
        "minesweeper, mines around": partial(_mines, data_dir),
        "pubmed, a word's weight": partial(_word, data_dir),
    }
    return loaders[name]()


def made_up(name: str, seed: int) -> ValuedGraph:
    """Draw a graph in the plane and one of the targets `MADE_UP`, whose standard deviation is 1.

    Examples
    --------
    >>> graph = made_up("own features", seed=0)
    >>> graph.features.shape, graph.values.shape
    ((1500, 20), (1500,))
    """
    rng = np.random.default_rng([seed, MADE_UP.index(name)])
    places = rng.random((MADE_UP_NODES, 2))
    links = neighbor_graph(places, 6, n_jobs=1)
    features = rng.standard_normal((MADE_UP_NODES, MADE_UP_FEATURES))
    noise = rng.standard_normal(MADE_UP_NODES)
    own = features @ rng.standard_normal(MADE_UP_FEATURES)
    wave = np.sin(6 * places[:, 0] + rng.random()) + np.cos(5 * places[:, 1] + rng.random())
    degrees = np.asarray(links.sum(axis=1))
    signal = {
        "smooth on the graph": wave,
        "own features": own,
        "neighbours' mean": links @ own / degrees,
        "no signal": np.zeros(MADE_UP_NODES),
    }[name]
    return ValuedGraph(links, features, _unit(_unit(signal) + noise / 2))


def _unit(values: Array) -> Array:
    return np.asarray((values - values.mean()) / (values.std() or 1.0))


def _diabetes() -> ValuedGraph:
    features, values = load_diabetes(return_X_y=True)
    return ValuedGraph(neighbor_graph(features, N_NEIGHBORS, n_jobs=1), features, values)


def _traffic(data_dir: Path | None) -> ValuedGraph:
    data = load_npz_graph(find_graph("chameleon", data_dir))
    assert data.adjacency is not None
    return ValuedGraph(data.adjacency, data.features, data.labels.astype(np.float64))


def _mines(data_dir: Path | None) -> ValuedGraph:
    data = load_npz_graph(find_graph("minesweeper", data_dir))
    assert data.adjacency is not None
    around = np.asarray(data.adjacency @ (data.labels == 1).astype(np.float64))
    hidden = np.asarray(csr_array(data.features)[:, [0]].toarray()).ravel() > 0
    return ValuedGraph(data.adjacency, data.features, np.where(hidden, around, np.nan))


def _word(data_dir: Path | None) -> ValuedGraph:
    data = load_planetoid("pubmed", data_dir)
    assert data.adjacency is not None
    columns = csr_array(data.features).toarray()
    chosen = int((columns > 0).sum(axis=0).argmax())
    rest = csr_array(np.delete(columns, chosen, axis=1))
    return ValuedGraph(data.adjacency, rest, columns[:, chosen])


def draw_values(graph: ValuedGraph, n_given: int, seed: int) -> tuple[Integers, Integers]:
    """Return the nodes whose values are given, at most half of them, and those that are judged."""
    known = np.flatnonzero(~np.isnan(graph.values))
    order = np.random.default_rng([seed, n_given]).permutation(known)
    n_given = min(n_given, len(known) // 2)
    return np.sort(order[:n_given]), np.sort(order[n_given:])
