"""One label in ten is wrong: which, and why does the model think so?"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from gpgc import GPGCClassifier, plot

folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "pictures")

X, truth = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
known = rng.permutation(len(truth))[:300]
flipped = known[:30]
y = np.full(len(truth), -1)
y[known] = truth[known]
y[flipped] = (truth[flipped] + rng.integers(1, 10, size=30)) % 10

model = GPGCClassifier().fit(X, y)
check = model.check_labels()
print(f"{check.expected_errors:.1f} errors expected, 30 made")
found = np.isin(check.nodes[:30], flipped).sum()
print(f"{found} of the 30 most suspicious labels are wrong indeed")

worst = int(check.nodes[0])
print(f"image {worst}, given {y[worst]}, in truth {truth[worst]}")
axes = plot.contributions(model.explain(worst), n=8)
axes.figure.savefig(folder / "wrong_labels.png", dpi=90)
