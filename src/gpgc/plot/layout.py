"""Where nodes stand on the map: neighbors together, at once and then better."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc._typing import Array
from gpgc.graph import neighbor_graph, normalize

COLUMNS = 32
"""Random directions of the features that are diffused over the graph."""

STEPS, TELEPORT = 8, 0.1
EMBED_NODES = 40_000
"""Number of nodes up to which neighbors are drawn together one by one."""

EPOCHS, NEGATIVES = 150, 4
REPULSION = 8.0
"""Strength of what is pushed apart; with 1, 80 % of 3,000 texts lie in a twentieth of the map."""


def layouts(features: Any, adjacency: sp.csr_array, seed: int = 0) -> Iterator[NDArray[np.uint16]]:
    """Give places of the nodes as whole numbers (N, 2): first at once, then better ones."""
    rng = np.random.default_rng(seed)
    rows = diffuse(features, adjacency, rng)
    places = principal(rows)
    yield to_grid(places)
    if 10 < len(rows) <= EMBED_NODES:
        # sums of neighbors that are near in what was diffused
        graph = neighbor_graph(rows, 10)
        for found in embed(places, graph, rng):
            yield to_grid(found)


def diffuse(features: Any, adjacency: sp.csr_array, rng: np.random.Generator) -> Array:
    """Return features in few random directions, spread over the graph by personalised PageRank."""
    n_nodes = adjacency.shape[0]
    if features is None:
        start = rng.normal(size=(n_nodes, COLUMNS)).astype(np.float32)
    else:
        n_features = features.shape[1]
        directions = rng.normal(size=(n_features, COLUMNS)).astype(np.float32)
        if not sp.issparse(features) and n_features <= COLUMNS:
            directions = np.eye(n_features, dtype=np.float32)
        start = np.asarray(features @ directions, dtype=np.float32)
        start -= start.mean(axis=0)
        start /= np.maximum(np.linalg.norm(start, axis=1, keepdims=True), 1e-9)
    walk = normalize(adjacency, "row").astype(np.float32)
    rows = start
    for _ in range(STEPS if features is not None else 4 * STEPS):
        rows = (1 - TELEPORT) * (walk @ rows) + TELEPORT * start
    return np.asarray(rows)


def principal(rows: Array) -> Array:
    """Return the two leading principal components."""
    centered = rows - rows.mean(axis=0)
    _, vectors = np.linalg.eigh(centered.T.astype(np.float64) @ centered)
    if vectors.shape[1] < 2:
        vectors = np.hstack([vectors, np.zeros_like(vectors)])
    return np.asarray(centered @ vectors[:, -1:-3:-1])


def embed(places: Array, graph: sp.csr_array, rng: np.random.Generator) -> Iterator[Array]:
    """Draw linked nodes together and push random pairs apart, by the gradients of UMAP's loss."""
    found = np.array(places / max(float(places.std()), 1e-12), dtype=np.float32) * 5
    pull = sp.csr_array(graph, dtype=np.float32)
    pull.data[:] = 1.0
    links = pull.tocoo()
    degree = np.maximum(np.diff(pull.indptr), 1).astype(np.float32)[:, None]
    for epoch in range(EPOCHS):
        rate = 1.0 - epoch / EPOCHS
        apart = found[links.coords[0]] - found[links.coords[1]]
        weight = 2 / (1 + np.einsum("ij,ij->i", apart, apart))
        pulled = sp.csr_array((weight, links.coords), shape=graph.shape)
        step = pulled @ found - found * np.asarray(pulled.sum(axis=1))[:, None]
        step /= degree
        for _ in range(NEGATIVES):
            away = found - found[rng.permutation(len(found))]
            distance = np.einsum("ij,ij->i", away, away)
            push = 2 * REPULSION / ((0.05 + distance) * (1 + distance)) / NEGATIVES
            step += np.clip(away * push[:, None], -2, 2)
        found += rate * step
        if epoch in (EPOCHS // 3, EPOCHS - 1):
            yield found


def to_grid(places: Array) -> NDArray[np.uint16]:
    """Return places as whole numbers from 0 to 65,535, a few outliers pulled in to the edge."""
    tail = min(0.002, 20 / len(places))
    low, high = np.quantile(places, [tail, 1 - tail], axis=0)
    middle, half = (low + high) / 2, max(float((high - low).max()) / 2, 1e-9)
    scaled = np.clip((places - middle) / half, -1.05, 1.05) / 1.05
    return np.asarray(np.rint((scaled + 1) / 2 * 65_535), dtype=np.uint16)
