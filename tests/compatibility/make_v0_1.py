"""Make the files of version 0.1 that later versions must still read; run with gpgc 0.1.0 only.

python tests/compatibility/make_v0_1.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp

import gpgc

FOLDER = Path(__file__).parent / "v0_1"


def cases() -> dict[str, tuple[object, object, object, object]]:
    """Return name → (estimator, X, y, adjacency) of what is saved."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    dense = rng.normal(size=(60, 6)) + 3 * np.eye(6)[truth]
    words = sp.csr_array(rng.poisson(0.4, size=(60, 12)) + 2 * np.eye(12, dtype=int)[truth])
    links = rng.random((60, 60)) < np.where(truth[:, None] == truth, 0.2, 0.02)
    edges = np.nonzero(np.triu(links, 1))
    few = np.full(60, -1)
    few[::5] = truth[::5]
    names = np.array(["red", "green", "blue"], dtype=object)[truth]
    names[few < 0] = None
    values = np.where(few < 0, np.nan, truth + 0.1 * dense[:, 0])
    classifier, regressor = gpgc.GPGCClassifier, gpgc.GPGCRegressor
    polynomial = gpgc.kernels.Polynomial(0.5, 3)
    return {
        "classifier_graph": (classifier(dtype="float64"), None, few, edges),
        "classifier_dense": (classifier(), dense, names, None),
        "classifier_words": (classifier(noise_variance="evidence"), words, few, edges),
        "classifier_big": (classifier("big", polynomial, feature_norm="l2"), words, few, edges),
        "classifier_small": (classifier("small", depth=3, noise_variance=0.1), dense, few, edges),
        "regressor": (regressor(), dense, values, edges),
        "regressor_two": (regressor("big"), dense, np.column_stack([values, -values]), edges),
    }


def main() -> None:
    assert gpgc.__version__ == "0.1.0"
    FOLDER.mkdir(exist_ok=True)
    for name, (estimator, X, y, adjacency) in cases().items():
        model = estimator.fit(X, y, adjacency)
        model.save(FOLDER / f"{name}.gpgc")
        mean, std = model.predict_latent(return_std=True)
        answers = {"mean": mean, "std": std}
        if isinstance(model, gpgc.GPGCClassifier):
            answers |= {"probability": model.predict_proba(), "label": model.predict().astype(str)}
        else:
            answers |= {"prediction": model.predict()}
        np.savez_compressed(FOLDER / f"{name}_answers.npz", **answers)


if __name__ == "__main__":
    import gpgc.kernels

    main()
