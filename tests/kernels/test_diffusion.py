"""Propagation over many hops, squares over nodes and unit variance, against plain matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc.compute import Context
from gpgc.errors import InputError
from gpgc.graph import as_adjacency, normalize
from gpgc.kernels import Activate, DenseLayer, Diffuse, Features, InnerProduct, Mix, Square
from gpgc.kernels.diffuse import PageRank
from gpgc.kernels.pageranks import pagerank_weights, pageranks, pageranks_at
from tests.laws import check_laws


@pytest.fixture
def parts(awkward):
    graph, features = awkward
    propagation = normalize(as_adjacency(graph), "row")
    return propagation, Activate(Features.of(InnerProduct(), propagation @ features))


def test_pagerank_tends_to_its_closed_form(parts):
    matrix = parts[0].toarray()
    closed = 0.3 * np.linalg.inv(np.eye(24) - 0.7 * matrix)
    np.testing.assert_allclose(PageRank(parts[0], 0.3, 80).apply(np.eye(24)), closed, atol=1e-10)
    np.testing.assert_allclose(
        PageRank(parts[0], 0.3, 80).apply(sp.eye_array(24), transposed=True), closed.T, atol=1e-10
    )


def test_diffusion_after_the_activation_obeys_the_laws(parts):
    propagation, inner = parts
    check_laws(Diffuse(PageRank(propagation), inner))
    check_laws(Activate(DenseLayer(Diffuse(PageRank(propagation), inner), 1.0, 0.1)))


@pytest.mark.parametrize("landmarks", [None, np.array([3, 9, 4, 20])])
def test_squares_obey_the_laws(parts, landmarks):
    square = Square(parts[1], landmarks)
    check_laws(square)
    check_laws(Mix([square, Square(DenseLayer(parts[1], 2.0, 0.3))]))
    check_laws(Diffuse(PageRank(parts[0]), square))


def test_squares_that_are_not_kept_obey_the_laws_too(parts, monkeypatch):
    monkeypatch.setattr("gpgc.kernels.square.STORE_BYTES", 0)
    check_laws(Square(parts[1], np.array([3, 9, 4, 20])))
    check_laws(Square(parts[1]))


def test_a_square_over_all_nodes_is_the_matrix_squared_at_unit_variance(parts):
    squared = parts[1].dense() @ parts[1].dense()
    std = np.sqrt(np.diagonal(squared))
    expected = Square(parts[1]).block() * np.outer(std, std)
    np.testing.assert_allclose(expected, squared, atol=1e-10)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda S: PageRank(S, teleport=0.0), "teleport"),
        (lambda S: PageRank(S, teleport=1.5), "teleport"),
        (lambda S: PageRank(S, steps=0), "steps"),
        (lambda S: PageRank(S, steps=1.5), "steps"),
    ],
)
def test_wrong_settings_are_named(parts, make, words):
    with pytest.raises(InputError, match=words):
        make(parts[0])


def test_several_pageranks_share_their_powers(parts):
    values = np.random.default_rng(0).normal(size=(24, 3))
    found = pageranks(parts[0], values.copy(), (0.05, 0.3), 30, Context.of(n_jobs=2))
    for teleport, ranks in zip((0.05, 0.3), found, strict=True):
        limit = np.linalg.inv(np.eye(24) - (1 - teleport) * parts[0].toarray())
        np.testing.assert_allclose(ranks, teleport * limit @ values, atol=1e-3)


@pytest.mark.parametrize("steps", [1, 2, 7, 12])
@pytest.mark.parametrize("teleport", [0.05, 0.1, 0.3, 1.0])
def test_the_polynomial_of_a_pagerank_is_positive_and_1_at_1(steps, teleport):
    (powers,) = pagerank_weights([teleport], steps, np.float64)
    at = np.polynomial.polynomial.polyval(np.linspace(-1, 1, 501), powers)
    assert len(powers) == steps + 1
    assert at[-1] == pytest.approx(1)
    assert steps < 7 or at.min() > 0  # so that no direction of the features is turned round


@pytest.mark.parametrize("steps", [6, 7])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_large_values_are_diffused_in_parts(dtype, steps, monkeypatch):
    rng = np.random.default_rng(1)
    n_nodes = 10_050 if dtype == np.float32 else 300  # compiled loops, where there are any
    graph = sp.random_array((n_nodes, n_nodes), density=5 / n_nodes, rng=rng)
    matrix = normalize(as_adjacency(graph))
    values = rng.normal(size=(n_nodes, 35)).astype(dtype)
    context = Context.of(dtype, n_jobs=2)
    powers = [values]
    for _ in range(steps):
        powers.append(matrix @ powers[-1])
    weights = pagerank_weights((0.05, 0.3), steps, np.float64)
    expected = [sum(w * power for w, power in zip(row, powers, strict=True)) for row in weights]
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    few = np.array([7, 250, 7])
    for width in (35, 20):
        monkeypatch.setattr("gpgc.kernels.pageranks.POWER_BYTES", n_nodes * values.itemsize * width)
        found = pageranks(matrix, values.copy(), (0.05, 0.3), steps, context)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, atol=tolerance)
    for width in (35, 5):
        monkeypatch.setattr("gpgc.kernels.pageranks.POWER_BYTES", n_nodes * values.itemsize * width)
        some = pageranks_at(matrix, values.copy(), few, (0.05, 0.3), steps, context)
        for one, other in zip(some, expected, strict=True):
            np.testing.assert_allclose(one, other[few], atol=tolerance)


def test_few_variances_and_products_from_roots(parts, monkeypatch):
    kept = Square(parts[1], np.array([3, 9, 4, 20]))
    monkeypatch.setattr("gpgc.kernels.square.STORE_BYTES", 0)
    streamed = Square(parts[1], np.array([3, 9, 4, 20]))
    some, V = np.array([2, 7, 7]), np.random.default_rng(0).normal(size=(3, 2))
    np.testing.assert_allclose(streamed.block(some, some), kept.block(some, some))
    for rows in (None, some, slice(4, 9)):
        np.testing.assert_allclose(
            streamed.matmul(rows, some, V), kept.matmul(rows, some, V), atol=1e-12
        )
        np.testing.assert_allclose(
            streamed.matmul(rows, some, sp.csr_array(V)), kept.matmul(rows, some, V), atol=1e-12
        )
