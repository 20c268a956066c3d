"""Every architecture, with every activation and depth: laws, oracle, joins, saving, messages."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import gpgc
from gpgc import GPGCClassifier
from gpgc.compute import Context
from gpgc.errors import InputError
from gpgc.graph import Nodes, as_adjacency
from gpgc.graph.nodes import NodeSubset
from gpgc.kernels import ACTIVATIONS, LeakyReLU
from gpgc.models import APPNP, GCNII, GIN, REGISTRY, SAGE, SGC, Prior, architecture_from
from tests.conftest import random_graph
from tests.estimators.test_join import joined_by_hand
from tests.laws import check_laws
from tests.pairwise import pairwise

NETWORKS = [name for name in REGISTRY if name not in ("small", "big", "broad", "precomputed")]
WITH_TANGENTS = [*NETWORKS, "small", "big"]
VARIANCES = {"weight_variance": 1.1, "bias_variance": 0.3}


def rounding(model, activation):
    """Each step takes the square root of the rounding before it; a GIN has two of them a hop."""
    if activation != "step":
        return 1e-7
    return 1e-2 if model == "gin" else 1e-4


def nodes_of(awkward, features=True):
    graph, X = awkward
    return Nodes(as_adjacency(graph), X if features else None)


@pytest.mark.parametrize(
    ("model", "activation", "depth"), pairwise(WITH_TANGENTS, list(ACTIVATIONS), [1, 2, 3])
)
def test_laws_of_every_network_activation_and_depth(awkward, model, activation, depth):
    """Both kernels; the bias and one-hot features alternate."""
    nodes = nodes_of(awkward, features=depth != 2)
    network = architecture_from(model, activation=activation, depth=depth, **VARIANCES)
    atol = rounding(model, activation)
    check_laws(Prior(network, nodes).covariance(), atol)
    if activation != "step":
        check_laws(Prior(replace(network, kernel="ntk"), nodes).covariance(), atol)


@pytest.mark.parametrize("kernel", ["nngp", "ntk"])
@pytest.mark.parametrize("model", NETWORKS)
def test_landmarks_obey_the_laws_and_say_so(awkward, model, kernel):
    network = architecture_from(model, depth=3, kernel=kernel, **VARIANCES)
    few = Prior(replace(network, exact_nodes=10, n_landmarks=14), nodes_of(awkward))
    check_laws(few.covariance(), 1e-5)
    said = few.approximations()
    assert said == (() if model == "sgc" else ("Nyström layers over 14 landmarks",))
    every = Prior(replace(network, exact_nodes=10, n_landmarks=24), nodes_of(awkward))
    exact = Prior(network, nodes_of(awkward)).covariance().block()
    assert Prior(network, nodes_of(awkward)).approximations() == ()
    np.testing.assert_allclose(every.covariance().block(), exact, atol=1e-4 * exact.max())


@pytest.mark.parametrize("model", ["appnp", "gcnii", "sage", "gin"])
def test_landmarks_have_a_root(awkward, model):
    network = architecture_from(model, depth=3, **VARIANCES)
    covariance = Prior(replace(network, exact_nodes=10, n_landmarks=14), nodes_of(awkward))
    assert covariance.covariance().rank == 14


@pytest.mark.parametrize("kernel", ["nngp", "ntk"])
@pytest.mark.parametrize("model", WITH_TANGENTS)
def test_relabelling_the_nodes_permutes_the_answer(awkward, model, kernel):
    graph, X = awkward
    order = np.random.default_rng(1).permutation(24)
    options = {"model": model, "depth": 3, "kernel": kernel, "activation": "gelu"}
    plain = gpgc.covariance(graph, X, **options).block()
    moved = gpgc.covariance(graph[order][:, order], X[order], **options).block()
    np.testing.assert_allclose(moved, plain[np.ix_(order, order)], atol=1e-7 * plain.max())


@pytest.mark.parametrize("activation", list(ACTIVATIONS))
@pytest.mark.parametrize("model", [*NETWORKS, "big"])
def test_error_of_finite_networks_falls_as_one_over_root_width(awkward, model, activation):
    nodes = nodes_of(awkward)
    network = architecture_from(model, activation=activation, **VARIANCES)
    limit = Prior(network, nodes).covariance().block()
    rng = np.random.default_rng(0)

    def error(width: int, draws: int) -> float:
        squares = [np.mean((network.sample(nodes, width, rng) - limit) ** 2) for _ in range(draws)]
        return float(np.sqrt(np.mean(squares)))

    narrow, wide = error(48, 24), error(192, 24)
    assert narrow / wide == pytest.approx(2.0, rel=0.4)
    assert wide < 0.6 * np.abs(limit).mean()


@pytest.mark.parametrize(
    "network",
    [APPNP(steps=None), APPNP(teleport=1.0, steps=3), GCNII(depth=3, teleport=0.4), SAGE(own=0.1)],
    ids=repr,
)
def test_parameters_of_their_own_reach_the_finite_network(awkward, network):
    nodes, rng = nodes_of(awkward), np.random.default_rng(0)
    limit = Prior(network, nodes).covariance().block()
    mean = np.mean([network.sample(nodes, 160, rng) for _ in range(30)], axis=0)
    np.testing.assert_allclose(mean, limit, atol=0.12 * limit.max())


@pytest.mark.parametrize("kernel", ["nngp", "ntk"])
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("model", NETWORKS)
def test_joining_equals_the_formula_on_all_nodes(model, depth, kernel):
    rng = np.random.default_rng(0)
    graph, features = random_graph(20, seed=1, weighted=True), rng.normal(size=(20, 3))
    y = np.where(np.arange(20) < 6, np.arange(20) % 2, -1)
    links, new = (rng.random((4, 24)) < 0.2).astype(float), rng.normal(size=(4, 3))
    estimator = GPGCClassifier(
        model, depth=depth, kernel=kernel, noise_variance=0.2, dtype="float64"
    ).fit(features, y, adjacency=graph)
    propagation, X = joined_by_hand(graph, features, links, new)
    degrees = 1 / np.diagonal(propagation)
    weights = propagation * np.sqrt(np.outer(degrees, degrees)) - np.eye(24)
    weights[np.abs(weights) < 1e-12] = 0
    matrix = sp.csr_array(propagation)
    by_hand = NodeSubset(matrix, matrix, X, sp.csr_array(weights), np.arange(24))
    network = estimator.architecture()
    gamma = network.covariance(network.inputs(by_hand, Context())).dense()
    inverse = np.linalg.inv(gamma[:6, :6] + 0.2 * np.eye(6))
    expected = gamma[20:, :6] @ inverse @ np.eye(2)[y[:6]]
    variance = np.diagonal(gamma[20:, 20:] - gamma[20:, :6] @ inverse @ gamma[:6, 20:])
    mean, std = estimator.predict_latent(X=new, adjacency=links, return_std=True)
    np.testing.assert_allclose(mean, expected, atol=1e-8)
    np.testing.assert_allclose(std**2, variance, atol=1e-7 * max(1, variance.max()))


@pytest.mark.parametrize("model", ["appnp", "gcnii"])
def test_a_twin_that_joins_with_landmarks_is_like_its_twin(model):
    rng = np.random.default_rng(0)
    graph, features = random_graph(40, seed=2), rng.normal(size=(40, 4))
    y = np.where(np.arange(40) < 8, np.arange(40) % 2, -1)
    network = replace(architecture_from(model), exact_nodes=10, n_landmarks=30)
    estimator = GPGCClassifier(network, noise_variance=0.1, dtype="float64")
    estimator.fit(features, y, adjacency=graph)
    node = int(np.flatnonzero(np.diff(estimator.adjacency_.indptr) > 4)[0])
    links = estimator.adjacency_[[node]]
    twin = estimator.predict_latent(X=features[[node]], adjacency=links)
    assert np.abs(twin - estimator.predict_latent([node])).max() < 0.2
    both = estimator.predict_latent(X=features[[node, node]], adjacency=sp.vstack([links, links]))
    np.testing.assert_allclose(both, np.vstack([twin, twin]), atol=1e-9)


OBJECTS = [
    SGC(depth=3),
    APPNP(teleport=0.2, steps=None, activation=LeakyReLU(0.1)),
    GCNII(depth=4, identity=1.0, kernel="ntk"),
    SAGE(own=0.25, activation="gelu"),
    GIN(epsilon=0.5, kernel="ntk"),
]


@pytest.mark.parametrize("network", OBJECTS, ids=repr)
def test_saved_and_loaded(two_moons, tmp_path, network):
    features, labels, truth = two_moons
    estimator = GPGCClassifier(network).fit(features, labels)
    assert np.mean(estimator.predict() == truth) > 0.9
    estimator.save(tmp_path / "model.gpgc")
    again = gpgc.load(tmp_path / "model.gpgc")
    assert again.get_params()["model"] == network
    np.testing.assert_array_equal(again.predict_proba(), estimator.predict_proba())


@pytest.mark.parametrize("kernel", ["nngp", "ntk"])
@pytest.mark.parametrize("model", WITH_TANGENTS)
def test_by_name_in_the_estimators(two_moons, tmp_path, model, kernel):
    features, labels, truth = two_moons
    estimator = GPGCClassifier(model, kernel=kernel, activation="erf").fit(features, labels)
    assert np.mean(estimator.predict() == truth) > 0.9
    estimator.save(tmp_path / "model.gpgc")
    again = gpgc.load(tmp_path / "model.gpgc")
    np.testing.assert_array_equal(again.predict_proba(), estimator.predict_proba())
    assert np.mean(estimator.predict(features[:9] + 0.01) == truth[:9]) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: APPNP(teleport=0.0), r"teleport must lie above 0 and up to 1, got 0.0"),
        (lambda: APPNP(teleport=1.5), r"teleport must lie above 0 and up to 1, got 1.5"),
        (lambda: APPNP(steps=0), r"steps must be a whole number of at least 1, or None, got 0"),
        (lambda: APPNP(steps=-1), r"steps must be a whole number of at least 1, or None, got -1"),
        (lambda: APPNP(steps="ten"), r"steps must be a whole number of at least 1.*got 'ten'"),
        (lambda: APPNP(steps=True), r"steps must be a whole number of at least 1.*got True"),
        (lambda: APPNP(teleport="high"), r"teleport must be a number, got 'high'"),
        (lambda: APPNP(teleport=np.nan), r"teleport must be finite, got nan"),
        (lambda: GCNII(identity=None), r"identity must be a number, got None"),
        (lambda: GIN(epsilon="x"), r"epsilon must be a number, got 'x'"),
        (lambda: SGC(weight_variance="x"), r"weight_variance must be a number, got 'x'"),
        (lambda: GCNII(teleport=-0.1), r"teleport must lie between 0 and 1, got -0.1"),
        (lambda: GCNII(identity=3.0), r"identity must lie between 0 and e - 1, got 3.0"),
        (lambda: SAGE(own=1.2), r"own must lie between 0 and 1, got 1.2"),
        (lambda: GIN(epsilon=np.inf), r"epsilon must be finite, got inf"),
        (lambda: gpgc.covariance(([0], [1]), model=GIN(epsilon=-2.5)), r"epsilon must be at least"),
        (lambda: SGC(n_landmarks=0), r"n_landmarks must be a whole number.*at least 1, got 0"),
        (lambda: SGC(kernel="gp"), r"kernel must be one of nngp, ntk, got 'gp'"),
        (lambda: SGC(activation="tanh"), r"activation must be one of relu"),
        (lambda: REGISTRY["broad"](kernel="ntk"), r"kernel must be 'nngp' for model='broad'"),
        (lambda: SAGE(kernel="ntk", activation="step"), r"kernel must be 'nngp' for activation"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_from_the_command_line():
    from typer.testing import CliRunner

    from gpgc.cli.app import app

    options = ["--model", "sage", "--activation", "gelu", "--kernel", "ntk", "--json"]
    found = CliRunner().invoke(app, ["run", "digits", *options])
    assert found.exit_code == 0
    assert '"accuracy": 0.9' in found.stdout
    wrong = CliRunner().invoke(app, ["run", "digits", "--model", "gat"])
    assert wrong.exit_code == 2
    assert "'gat' is not one of 'broad', 'big'" in wrong.output
