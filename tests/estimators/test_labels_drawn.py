"""How labels were drawn settles the class prior and what is said of the accuracy."""

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc import GPGCClassifier, load
from gpgc.errors import InputError

FRACTIONS = np.array([0.85, 0.1, 0.05])


@pytest.fixture(scope="module")
def world():
    """A graph of unequal blocks, weak features, and its classes."""
    rng = np.random.default_rng(7)
    truth = rng.choice(3, p=FRACTIONS, size=1500)
    source, target = rng.integers(1500, size=(2, 90_000))
    keep = rng.random(90_000) < np.where(truth[source] == truth[target], 1.0, 0.15)
    source, target = source[keep][:12_000], target[keep][:12_000]
    graph = sp.csr_array((np.ones(len(source)), (source, target)), shape=(1500, 1500))
    features = rng.normal(size=(1500, 10)) + 0.6 * rng.normal(size=(3, 10))[truth]
    return features, graph + graph.T, truth


def labels(truth, nodes):
    y = np.full(len(truth), -1)
    y[nodes] = truth[nodes]
    return y


def balanced(truth, per_class, seed=0):
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(np.flatnonzero(truth == code))[:per_class] for code in range(3)]
    return np.concatenate(drawn)


def test_random_labels_keep_their_fractions(world):
    features, graph, truth = world
    y = labels(truth, np.random.default_rng(1).permutation(1500)[:60])
    told = GPGCClassifier(labels_drawn="random").fit(features, y, graph)
    same = GPGCClassifier(class_prior="labels").fit(features, y, graph)
    np.testing.assert_array_equal(told.predict_proba(), same.predict_proba())
    assert str(told.expected_accuracy()) == str(same.expected_accuracy("random"))


def test_balanced_labels_are_no_fractions(world):
    features, graph, truth = world
    y = labels(truth, balanced(truth, 20))
    told = GPGCClassifier(labels_drawn="balanced").fit(features, y, graph)
    np.testing.assert_allclose(told.class_prior_, FRACTIONS, atol=0.1)
    assert "class by class" in told.expected_accuracy().reason


def test_balanced_labels_that_say_little_may_still_move(world):
    features, graph, truth = world
    y = labels(truth, balanced(truth, 3))
    unknown = GPGCClassifier().fit(features, y, graph).class_prior_
    told = GPGCClassifier(labels_drawn="balanced").fit(features, y, graph).class_prior_
    assert np.abs(told - FRACTIONS).sum() <= np.abs(unknown - FRACTIONS).sum()
    assert np.abs(told - 1 / 3).sum() > 0


def test_some_nodes_drawn_at_random_correct_labels_that_were_chosen(world):
    features, graph, truth = world
    random = np.random.default_rng(2).permutation(1500)[:100]
    y = labels(truth, np.union1d(random, balanced(truth, 40)))
    told = GPGCClassifier(labels_drawn=random).fit(features, y, graph)
    counts = np.bincount(truth[random], minlength=3) / 100
    np.testing.assert_allclose(told.class_prior_, counts, atol=0.05)
    found = told.expected_accuracy()
    assert found.counted == 100
    assert str(found) == str(told.expected_accuracy(random))
    assert told.expected_accuracy("chosen").estimate is None


def test_words_that_say_nothing_change_nothing_and_a_given_prior_wins(world):
    features, graph, truth = world
    y = labels(truth, balanced(truth, 10))
    usual = GPGCClassifier().fit(features, y, graph).predict_proba()
    chosen = GPGCClassifier(labels_drawn="chosen").fit(features, y, graph).predict_proba()
    np.testing.assert_array_equal(chosen, usual)
    for drawn in ("random", "balanced", np.flatnonzero(y >= 0)[:5]):
        known = GPGCClassifier(class_prior=FRACTIONS, labels_drawn=drawn).fit(features, y, graph)
        np.testing.assert_allclose(known.class_prior_, FRACTIONS)


def test_it_is_saved_and_goes_by_name(world, tmp_path):
    features, graph, truth = world
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(features, index=[f"n{node}" for node in range(1500)])
    random = np.random.default_rng(3).permutation(1500)[:50]
    y = labels(truth, random)
    names = [f"n{node}" for node in random]
    model = GPGCClassifier(labels_drawn=names).fit(frame, y, graph)
    model.save(tmp_path / "model.gpgc")
    assert str(load(tmp_path / "model.gpgc").expected_accuracy()) == str(model.expected_accuracy())


@pytest.mark.parametrize("drawn", ["luck", [1499], None, [0.5]])
def test_other_values_are_refused(world, drawn):
    features, graph, truth = world
    y = labels(truth, np.arange(40))
    with pytest.raises(InputError, match="labels_drawn must"):
        GPGCClassifier(labels_drawn=drawn).fit(features, y, graph)
