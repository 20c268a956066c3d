"""Which labels are wrong."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from gpgc import GPGCClassifier, load
from gpgc.probability.error_rate import label_errors
from gpgc.probability.temperature import Sharpness, usual_sharpness


def clouds(seed, n_each=60, n_wrong=6):
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], n_each)
    features = rng.normal(size=(len(truth), 4)) + 4 * np.eye(3, 4)[truth]
    labelled = rng.choice(len(truth), n_each, replace=False)
    wrong = labelled[:n_wrong]
    y = np.full(len(truth), -1)
    y[labelled] = truth[labelled]
    y[wrong] = (y[wrong] + rng.integers(1, 3, n_wrong)) % 3
    return features, y, truth, wrong


def test_flipped_labels_come_first():
    hits, expected = 0, []
    for seed in range(5):
        features, y, truth, wrong = clouds(seed)
        found = GPGCClassifier().fit(features, y).check_labels()
        assert (np.diff(found.probability) <= 0).all()
        assert sorted(found.nodes) == sorted(np.flatnonzero(y >= 0))
        assert (found.given == y[found.nodes]).all()
        top = np.isin(found.nodes[:6], wrong)
        hits += top.sum()
        assert (found.likely[:6][top] == truth[found.nodes[:6]][top]).mean() > 0.6
        expected.append(found.expected_errors)
    assert hits >= 24
    assert 3.5 < np.mean(expected) < 9


def test_right_labels_are_not_suspected():
    features, y, _, _ = clouds(0, n_wrong=0)
    found = GPGCClassifier().fit(features, y).check_labels()
    assert found.expected_errors < 3
    assert (found.probability < 0.5).mean() > 0.95


def test_probabilities_are_bayes_rule_of_a_known_error_rate():
    rng = np.random.default_rng(0)
    means = rng.normal(size=(4000, 3))
    chances = np.exp(3 * means) / np.exp(3 * means).sum(axis=1, keepdims=True)
    truth = np.array([rng.choice(3, p=row) for row in chances])
    wrong = rng.random(4000) < 0.15
    codes = np.where(wrong, (truth + rng.integers(1, 3, 4000)) % 3, truth)
    usual = Sharpness(1.3, 0.5)
    found = label_errors(means, codes, np.ones(4000), 1.0, usual, np.full(3, 1 / 3))
    assert found.rate == pytest.approx(0.15, abs=0.02)
    assert found.wrong.sum() == pytest.approx(wrong.sum(), rel=0.15)
    for low, high in ((0.05, 0.3), (0.3, 0.7), (0.7, 1.0)):
        inside = (found.wrong >= low) & (found.wrong < high)
        assert wrong[inside].mean() == pytest.approx(found.wrong[inside].mean(), abs=0.1)


def test_awkward_labels(awkward):
    graph, features = awkward
    y = np.full(24, -1)
    y[[0, 5, 1, 2, 3]] = [0, 1, 0, 1, 1]  # nodes 0 and 5 are isolated, 5 without features
    found = GPGCClassifier().fit(features, y, graph).check_labels()
    assert np.isfinite(found.probability).all()
    assert found.likely[found.nodes == 5] == [1]
    one_each = GPGCClassifier().fit(None, [0, -1, 1], ([0, 1], [1, 2])).check_labels()
    assert (one_each.probability < 0.2).all()
    with pytest.warns(match="one class"):
        alone = GPGCClassifier().fit(None, [4, -1, 4], ([0, 1], [1, 2])).check_labels()
    assert alone.expected_errors == 0
    with pytest.raises(NotFittedError):
        GPGCClassifier().check_labels()


def test_it_is_printed_as_a_table():
    features, y, _, _ = clouds(0)
    text = str(GPGCClassifier().fit(features, y).check_labels())
    assert text.startswith("60 labels, ")
    assert len(text.splitlines()) == 13
    assert text.endswith("and 50 less suspicious")


def test_without_any_label_to_leave_out_one_in_twenty_is_wrong():
    means, codes, usual = np.zeros((10, 2)), np.arange(10) % 2, Sharpness(0.0, 0.5)
    found = label_errors(means, codes, np.zeros(10), 1.0, usual, np.full(2, 0.5))
    assert found.rate == pytest.approx(0.05, rel=0.01)


def test_right_labels_count_against_ten_of_the_prior():
    means, codes, usual = np.repeat(np.eye(2), 45, axis=0), np.repeat([0, 1], 45), Sharpness(3, 0.5)
    found = label_errors(means, codes, np.ones(90), 0.5, usual, np.full(2, 0.5))
    assert found.rate == pytest.approx(0.5 / 100, rel=0.05)


def test_labels_that_nothing_explains_are_not_suspected():
    """Where neighbors are unlike, labels are judged by probabilities as flat as the predicted."""
    rng = np.random.default_rng(5)
    suspected = []
    for _ in range(5):
        links = rng.integers(0, 500, (2, 1500))
        y = np.full(500, -1)
        y[:30] = np.arange(30) % 3
        fitted = GPGCClassifier().fit(rng.normal(size=(500, 8)), y, tuple(links))
        suspected.append(fitted.check_labels().probability.max())
    assert np.median(suspected) < 0.2


def test_labels_are_judged_by_the_sharpness_of_their_graph():
    rng = np.random.default_rng(6)
    means, codes = rng.normal(size=(40, 3)), rng.integers(3, size=40)
    weights, even = np.full(40, 0.1), np.full(3, 1 / 3)
    found = [
        label_errors(means, codes, weights, 1.7, usual_sharpness(40, alike, 3), even).wrong.max()
        for alike in (0.0, 1.0)
    ]
    assert found[0] < 0.5 * found[1]


def test_equal_labels_are_in_the_order_of_their_nodes_also_from_a_file(tmp_path):
    """Rounding told equal labels apart, so that a loaded model listed them in another order."""
    y = np.where(np.arange(300) % 23 == 0, np.arange(300) % 3, -1)
    fitted = GPGCClassifier().fit(np.ones((300, 4)), y)
    fitted.save(tmp_path / "model.gpgc")
    for model in (fitted, load(tmp_path / "model.gpgc")):
        check, why = model.check_labels(), model.explain(1)
        for code in range(3):
            for found in (check, why):
                nodes = found.nodes[found.given == code]
                assert (np.diff(nodes) > 0).all()
