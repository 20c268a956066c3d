"""Nobody labelled a nine: novelty tells which images belong to none of the known digits."""

import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from gpgc import GPGCClassifier

folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "pictures")

X, truth = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
known = np.concatenate(
    [rng.choice(np.flatnonzero(truth == digit), 10, replace=False) for digit in range(9)]
)
y = np.full(len(truth), -1)
y[known] = truth[known]
score = GPGCClassifier().fit(X, y).novelty()
is_new = truth == 9
print(f"area under the curve {roc_auc_score(is_new, score):.3f}")

figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
bins = np.linspace(score.min(), score.max(), 40)
axes.hist(score[~is_new], bins, alpha=0.7, label="digits with labels, 0 to 8")
axes.hist(score[is_new], bins, alpha=0.7, label="nines, none labelled")
axes.set(xlabel="novelty", ylabel="images", title="A class that nobody labelled")
axes.legend()
figure.savefig(folder / "new_class.png", dpi=90)
