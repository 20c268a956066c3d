"""Random graph convolutional networks of growing width tend to the Gaussian process."""

import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot

import gpgc

folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "pictures")
WIDTHS = [4, 16, 64, 256, 1024]
N_NODES, N_FEATURES, N_DRAWS = 30, 8, 20

rng = np.random.default_rng(0)
adjacency = np.triu(rng.random((N_NODES, N_NODES)) < 0.15, 1).astype(float)
adjacency += adjacency.T
X = rng.normal(size=(N_NODES, N_FEATURES))
limit = gpgc.covariance(adjacency, X, model="big").dense()

with_loops = adjacency + np.eye(N_NODES)
root = np.sqrt(with_loops.sum(axis=1))
spread = with_loops / np.outer(root, root)


def outputs_covariance(width):
    """Return the covariance over the units of one random layer of this width, He's scaling."""
    hidden = np.maximum(spread @ X @ rng.normal(size=(N_FEATURES, width)), 0)
    averaged = spread @ hidden * np.sqrt(2 / width)
    return averaged @ averaged.T


errors = [
    [np.linalg.norm(outputs_covariance(width) - limit) / np.linalg.norm(limit) for width in WIDTHS]
    for _ in range(N_DRAWS)
]
mean = np.mean(errors, axis=0)
for width, error in zip(WIDTHS, mean, strict=True):
    print(f"width {width}: {error:.1%} away from the limit")

figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
axes.loglog(WIDTHS, np.transpose(errors), "o", color="0.7", ms=3)
axes.loglog(WIDTHS, mean, "o-", label="mean of 20 networks")
axes.loglog(WIDTHS, mean[0] * np.sqrt(WIDTHS[0] / np.array(WIDTHS)), "--", label="1 / √width")
axes.set(xlabel="width of the layer", ylabel="relative distance to Γ", title="Wider and wider")
axes.legend()
figure.savefig(folder / "wider_networks.png", dpi=90)
