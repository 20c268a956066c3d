"""Places on the map: linked and alike nodes stand together."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from gpgc.graph import neighbor_graph
from gpgc.plot.layout import layouts, to_grid


def same_class_nearby(places, labels):
    near = neighbor_graph(places.astype(np.float64), 10)
    rows, columns = near.nonzero()
    return np.mean(labels[rows] == labels[columns])


def test_neighbors_stand_together_better_and_better():
    pixels, labels = load_digits(return_X_y=True)
    pixels, labels = pixels[:500], labels[:500]
    found = list(layouts(pixels, neighbor_graph(pixels, 10)))
    assert [each.dtype for each in found] == [np.dtype(np.uint16)] * 3
    first, *_, last = (same_class_nearby(each, labels) for each in found)
    assert first > 0.4
    assert last > 0.85


@pytest.mark.parametrize("features", [None, np.eye(6)[:, :1], sp.csr_array(np.eye(6))])
def test_small_graphs_have_places_too(features):
    triangles = sp.csr_array(np.kron(np.eye(2), 1 - np.eye(3)))
    (places,) = layouts(features, triangles)
    assert places.shape == (6, 2)


def test_outliers_do_not_press_the_rest_together():
    places = np.random.default_rng(0).normal(size=(2000, 2))
    places[0] = 1e6
    grid = to_grid(places).astype(float)
    assert grid[1:].std() > 5000


def test_groups_spread_over_the_map():
    rng = np.random.default_rng(0)
    labels = rng.integers(8, size=1000)
    rows = rng.normal(size=(8, 16))[labels] * 2 + rng.normal(size=(1000, 16))
    *_, places = layouts(rows, neighbor_graph(rows, 10))
    cells = np.bincount((places // 1639).astype(int) @ [40, 1], minlength=1600)
    held = np.cumsum(np.sort(cells)[::-1])
    assert np.searchsorted(held, 800) + 1 >= 100
    assert same_class_nearby(places, labels) > 0.9
