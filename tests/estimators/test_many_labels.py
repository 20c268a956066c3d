"""Many labels: the share of the features is chosen on some of them, the noise on all."""

import numpy as np

from gpgc import GPGCClassifier
from gpgc.estimators import choice
from gpgc.gp import choose_noise


def test_noise_is_chosen_on_all_labels(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.standard_normal((120, 4)) + 2 * y[:, None]
    y[::2] = -1
    monkeypatch.setattr(choice, "MANY_LABELS", 20)
    sizes = []

    def recorded(path, *others):
        sizes.append(len(path.targets))
        return choose_noise(path, *others)

    monkeypatch.setattr(choice, "choose_noise", recorded)
    fitted = GPGCClassifier().fit(X, y)
    assert sizes[-1] == 60
    assert set(sizes[:-1]) == {20}
    assert np.mean(fitted.predict()[1::2] == y[1::2]) > 0.9
