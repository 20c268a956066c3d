"""The answers that are pinned: what a change of structure must not change.

python -m tests.pins.answers      writes tests/pins/*.npz (needs GPGC_DATA)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gpgc
from gpgc.datasets import load_digits

FOLDER = Path(__file__).parent
DATASETS = ("digits", "cora", "citeseer", "pubmed")
MODELS = ("broad", "big")

Answers = dict[str, NDArray[Any]]


def cases() -> Iterator[tuple[str, str]]:
    """Give each data set and model."""
    for dataset in DATASETS:
        for model in MODELS:
            yield dataset, model


def path_of(dataset: str, model: str) -> Path:
    """Return where the answers of a case in float64 are kept."""
    return FOLDER / f"{dataset}-{model}.npz"


def answers(dataset: str, model: str, dtype: str, data_dir: Path | None) -> Answers:
    """Compute the answers of one case, on a sample of the nodes.

    ``margin``, by how much the label of each node is likelier than the next, is not pinned: it
    tells the nodes whose label is a matter of rounding.
    """
    if dataset == "digits":
        data = load_digits()
    else:
        from gpgc_lab.datasets import load_planetoid

        data = load_planetoid(dataset, data_dir)
    n_nodes = len(data.labels)
    y = np.full(n_nodes, -1)
    y[data.train] = data.labels[data.train]
    estimator = gpgc.GPGCClassifier(model=model, dtype=dtype)
    estimator.fit(data.features, y, adjacency=data.adjacency)
    sample = np.linspace(0, n_nodes - 1, 150).astype(np.intp)
    mean, std = estimator.predict_latent(sample, return_std=True)
    left_out, left_out_std = estimator.leave_one_out()
    table = estimator.predict_proba()
    second, first = np.sort(table, axis=1)[:, -2:].T
    found: Answers = {
        "margin": first - second,
        "label": estimator.predict().astype(np.int16),
        "probability": table[sample],
        "mean": mean,
        "std": std,
        "left_out_mean": left_out,
        "left_out_std": left_out_std,
        "noise": np.array(estimator.noise_variance_),
        "temperature": np.array(estimator.temperature_),
        "class_prior": estimator.class_prior_,
        "evidence": np.array(estimator.log_marginal_likelihood_),
    }
    newcomers = sample[::15]
    rows = data.features[newcomers]
    links = None if data.adjacency is None else estimator.adjacency_[newcomers]
    found["joined"] = estimator.predict_proba(rows, links)
    if dataset != "pubmed":
        labelling = gpgc.Labelling.on(
            data.features, adjacency=data.adjacency, model=model, dtype=dtype
        )
        chosen = labelling.suggest(5).nodes
        labelling.add(chosen, data.labels[chosen])
        found["suggested"] = np.concatenate([chosen, labelling.suggest(3).nodes])
    return found


def main() -> None:
    """Write the answers of every case."""
    folder = os.environ.get("GPGC_DATA")
    for case in cases():
        found = answers(*case, "float64", Path(folder) if folder else None)
        del found["margin"]
        np.savez_compressed(path_of(*case), **found)


if __name__ == "__main__":
    main()
