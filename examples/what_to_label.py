"""Labels that were chosen because they help most, against random ones."""

import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_digits

import gpgc

folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "pictures")
SIZES = [10, 15, 20, 30, 40, 60]

X, truth = load_digits(return_X_y=True)


def accuracy(nodes):
    """Return how many of the other digits are right if these nodes are labelled."""
    y = np.full(len(truth), -1)
    y[nodes] = truth[nodes]
    predicted = model.relabel(y).predict()
    return np.mean(np.delete(predicted == truth, nodes))


labelling = gpgc.Labelling.on(X)
for _ in range(max(SIZES)):
    node = labelling.suggest().nodes[0]
    labelling.add([node], [truth[node]])  # here a person would look and answer
chosen = np.array(list(labelling.labels))
model = labelling.estimator()
by_choice = [accuracy(chosen[:size]) for size in SIZES]

rng = np.random.default_rng(0)
by_chance = np.array(
    [[accuracy(rng.permutation(len(truth))[:size]) for size in SIZES] for _ in range(5)]
)
for size, one, other in zip(SIZES, by_choice, by_chance.mean(axis=0), strict=True):
    print(f"{size} labels: {one:.1%} chosen, {other:.1%} random")

figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
axes.plot(SIZES, by_choice, "o-", label="chosen")
axes.errorbar(SIZES, by_chance.mean(axis=0), by_chance.std(axis=0), fmt="s--", label="random")
axes.set(xlabel="labels", ylabel="accuracy on all other digits", title="What to label next")
axes.grid(alpha=0.3)
axes.legend()
figure.savefig(folder / "what_to_label.png", dpi=90)
