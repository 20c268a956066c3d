"""Forty thermometers in a made-up country of 500 places: temperatures with error bars."""

import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot

from gpgc import GPGCRegressor

folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "pictures")

rng = np.random.default_rng(0)
place = rng.uniform(0, 100, size=(500, 2))
height = 1500 * np.exp(-((place - [60, 40]) ** 2).sum(axis=1) / 800)
truth = 20 - 0.05 * place[:, 1] - 0.0065 * height
known = rng.choice(500, 40, replace=False)
y = np.full(500, np.nan)
y[known] = truth[known] + rng.normal(0, 0.3, size=40)

X = np.column_stack([place, height])
X = (X - X.mean(axis=0)) / X.std(axis=0)
model = GPGCRegressor(model="big", base_kernel="squared_exponential").fit(X, y)
mean, std = model.predict(return_std=True)
hidden = np.isnan(y)
inside = np.abs(mean - truth)[hidden] < 1.96 * std[hidden]
print(f"root mean square error {np.sqrt(np.mean((mean - truth)[hidden] ** 2)):.2f} degrees")
print(f"{inside.mean():.0%} of the truth inside the 95 % intervals")

figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
scale = {"cmap": "cividis", "vmin": mean.min(), "vmax": mean.max()}
points = left.scatter(*place.T, c=mean, s=15, **scale)
left.scatter(*place[known].T, c=y[known], s=60, edgecolors="black", **scale)
left.set(title="predicted temperature; rim: thermometer", xlabel="km east", ylabel="km north")
figure.colorbar(points, ax=left, label="°C")
right.errorbar(truth[hidden], mean[hidden], 1.96 * std[hidden], fmt="o", ms=3, lw=0.6, alpha=0.6)
right.axline((15, 15), slope=1, color="black", lw=0.8)
right.set(title="95 % intervals", xlabel="true °C", ylabel="predicted °C")
figure.savefig(folder / "temperatures.png", dpi=90)
