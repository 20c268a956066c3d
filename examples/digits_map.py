"""A hundred labels of handwritten digits, a map of all 1,797, and how far to trust it."""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from gpgc import GPGCClassifier, plot

folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "pictures")

X, truth = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
known = np.concatenate(
    [rng.choice(np.flatnonzero(truth == digit), 10, replace=False) for digit in range(10)]
)
y = np.full(len(truth), -1)
y[known] = truth[known]

model = GPGCClassifier().fit(X, y)
hidden = np.flatnonzero(y == -1)
print(f"{np.mean(model.predict()[hidden] == truth[hidden]):.1%} of {len(hidden)} digits right")

plot.node_map(model).figure.savefig(folder / "map.png", dpi=90)
plot.reliability(model, hidden, truth[hidden]).figure.savefig(folder / "reliability.png", dpi=90)
