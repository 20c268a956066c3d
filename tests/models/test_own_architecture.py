"""The architecture that the documentation builds is accepted by everything that tests ours."""

from pathlib import Path

import numpy as np
import pytest

from gpgc import GPGCClassifier, load
from gpgc.graph import Nodes, as_adjacency
from gpgc.models import REGISTRY, Prior
from tests.docs.code_blocks import blocks_of
from tests.laws import check_laws

PAGE = Path(__file__).parents[2] / "docs" / "own-architecture.md"


@pytest.fixture
def own():
    names: dict = {"__name__": "own_architecture"}
    exec(blocks_of(PAGE.read_text())[0].code, names)
    yield names["Hops"]
    del REGISTRY["hops"]


@pytest.mark.parametrize("kernel", ["nngp", "ntk"])
def test_laws_and_landmarks(awkward, own, kernel):
    nodes = Nodes(as_adjacency(awkward[0]), awkward[1])
    check_laws(Prior(own(bias_variance=0.2, kernel=kernel), nodes).covariance())
    few = Prior(own(exact_nodes=10, n_landmarks=14, kernel=kernel), nodes)
    check_laws(few.covariance(), 1e-5)
    assert few.approximations() == ("Nyström layers over 14 landmarks",)


def test_the_finite_network_tends_to_it(awkward, own):
    nodes, network = Nodes(as_adjacency(awkward[0]), awkward[1]), own(bias_variance=0.2)
    limit, rng = Prior(network, nodes).covariance().block(), np.random.default_rng(0)
    mean = np.mean([network.sample(nodes, 300, rng) for _ in range(40)], axis=0)
    np.testing.assert_allclose(mean, limit, atol=0.1 * limit.max())


def test_saved_joined_and_learnt(two_moons, own, tmp_path):
    features, labels, truth = two_moons
    estimator = GPGCClassifier("hops", learn=True).fit(features, labels)
    estimator.save(tmp_path / "model.gpgc")
    assert (load(tmp_path / "model.gpgc").predict() == estimator.predict()).all()
    assert (estimator.predict(features + 0.01) == truth).all()
