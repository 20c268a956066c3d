"""Many labels: views and noise are chosen on some of them, and all condition the posterior."""

import numpy as np

from gpgc import GPGCClassifier
from gpgc.selection import choice, noise_choice
from gpgc.selection.noise_choice import choose_noise


def test_many_labels_are_chosen_for_by_some(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.standard_normal((120, 4)) + 2 * y[:, None]
    y[::2] = -1
    for name in ("MANY_LABELS", "LABELS_FOR_VIEWS"):
        monkeypatch.setattr(choice, name, 20)
    sizes = []

    def recorded(path, *others):
        sizes.append(len(path.targets))
        return choose_noise(path, *others)

    monkeypatch.setattr(noise_choice, "choose_noise", recorded)
    fitted = GPGCClassifier().fit(X, y)
    assert set(sizes) == {20}
    assert len(fitted.labelled_nodes_) == 60
    assert np.mean(fitted.predict()[1::2] == y[1::2]) > 0.9
