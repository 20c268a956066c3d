"""An estimator is fitted in full or not at all."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import gpgc
from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.errors import InputError

CHAIN = ([0, 1, 2], [1, 2, 3])


@pytest.mark.parametrize("kind", [GPGCClassifier, GPGCRegressor])
@pytest.mark.parametrize("wrong", [{"noise_variance": -1}, {"depth": 0}, {"dtype": "int8"}])
def test_a_fit_that_fails_leaves_nothing_that_passes_for_fitted(kind, wrong):
    fresh, again = kind(**wrong), kind().fit(None, [0, 1, 0, 1], adjacency=CHAIN)
    again.set_params(**wrong)
    for estimator in (fresh, again):
        with pytest.raises(InputError):
            estimator.fit(None, [0, 1, 1], adjacency=([0, 1], [1, 2]))
        with pytest.raises(NotFittedError):
            check_is_fitted(estimator)
        for answer in (estimator.predict, estimator.predict_latent, estimator.leave_one_out):
            with pytest.raises(NotFittedError):
                answer()


def test_a_graph_without_labels_is_not_fitted():
    labelling = gpgc.Labelling.on(None, adjacency=CHAIN)
    with pytest.raises(NotFittedError):
        check_is_fitted(labelling._estimator)


def test_labels_that_do_not_fit_change_nothing():
    fitted = GPGCClassifier().fit(None, ["a", None, None, "b"], adjacency=CHAIN)
    before = fitted.predict_proba()
    for wrong in (["c", "d"], [None] * 4):
        with pytest.raises(InputError):
            fitted.relabel(wrong)
    assert fitted.classes_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(fitted.predict_proba(), before)


def test_relabel_needs_a_graph():
    with pytest.raises(NotFittedError):
        GPGCClassifier().relabel([0, 1])


def test_novelty_is_a_function_of_the_package():
    fitted = GPGCClassifier().fit(None, [0, -1, -1, 1], adjacency=CHAIN)
    assert gpgc.uncertainty.novelty(fitted).shape == (4,)
    from gpgc.uncertainty import novelty

    assert callable(novelty)
