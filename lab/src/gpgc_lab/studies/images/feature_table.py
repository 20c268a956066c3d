"""What each network's features are worth, side by side, and what time they took."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from gpgc.datasets.feature_files import FeatureSet, load_features
from gpgc.estimators import GPGCClassifier
from gpgc_lab import published
from gpgc_lab.locations import stored_features
from gpgc_lab.studies.images.other_systems import accuracy_cell
from gpgc_lab.tables import Table

KINDS = {
    "Conv-Large, adversarial training": "{}.npz",
    "compact network, pseudo-labels": "{}-compact.npz",
    "EfficientNet-Lite0, PRETRAINED on ImageNet": "{}-pretrained.npz",
}
"""Networks, and the files of their features by the name of the data set."""

NETWORK = "the network's own classifier"
BIG = "GPGC-big, noise by leave-one-out"
DEFAULT = "GPGC, default"
_PAPER = {BIG: "GPGC-big", DEFAULT: "GPGC-big", f"{DEFAULT}, X": "GPGC-X"}


def feature_table(folder: Path | None, progress: Callable[[str], None]) -> Table:
    """Return the accuracies of the network and of two models, for each kind of features.

    Parameters
    ----------
    folder : Path, optional
        With what ``gpgc train`` wrote; that of the laboratory when not given. Files that are
        missing leave their cells empty.
    progress : callable
        Told what goes on.
    """
    table = Table(
        "images_features",
        "Features of several networks: test accuracy, per cent, ours (paper's)",
        ["features", "model", *published.IMAGES],
        notes=[
            "1,000 training labels, graphs of 10 nearest neighbours; GPGC sees no validation "
            "label, X learns from them too. Beside ours stand the paper's GPGC-big and GPGC-X. "
            "Rows PRETRAINED use a network that learnt from other images and their labels: they "
            "do not compare with the paper. The last row of each kind is the processor's time for "
            "training and features, or features alone of a pretrained network.",
        ],
    )
    root = folder or stored_features()
    for kind, pattern in KINDS.items():
        paths = {name: root / pattern.format(name) for name in published.IMAGES}
        made = {name: load_features(path) for name, path in paths.items() if path.is_file()}
        if made:
            scores = {name: _scores(name, one, progress) for name, one in made.items()}
            table.rows += _rows(kind, made, scores)
    return table


def _scores(name: str, made: FeatureSet, progress: Callable[[str], None]) -> dict[str, float]:
    """Return test accuracies by model; test labels are looked at here and nowhere before."""
    progress(f"{name}: {made.provenance.get('method', 'features')}")
    scores = {} if made.probabilities is None else {NETWORK: made.network_accuracy("test")}
    y = np.full(len(made.labels), -1)
    y[made.train] = made.labels[made.train]
    for row, model in ((BIG, "big"), (DEFAULT, "broad")):
        estimator = GPGCClassifier(model).fit(made.features.astype(np.float64), y)
        scores[row] = _accuracy(estimator, made)
    y[made.validation] = made.labels[made.validation]
    scores[f"{DEFAULT}, X"] = _accuracy(estimator.relabel(y), made)
    return scores


def _accuracy(estimator: GPGCClassifier, made: FeatureSet) -> float:
    return float(np.mean(estimator.predict()[made.test] == made.labels[made.test]))


def _rows(
    kind: str, made: Mapping[str, FeatureSet], scores: Mapping[str, Mapping[str, float]]
) -> list[list[object]]:
    models = [
        model
        for model in (NETWORK, BIG, DEFAULT, f"{DEFAULT}, X")
        if any(model in each for each in scores.values())
    ]
    rows: list[list[object]] = []
    for model in models:
        cells: list[object] = []
        for place, name in enumerate(published.IMAGES):
            values = [scores[name][model]] if model in scores.get(name, {}) else []
            paper = None
            if model in _PAPER and "PRETRAINED" not in kind:
                paper = published.IMAGE_ACCURACY[_PAPER[model]][place]
            cells.append(accuracy_cell(values, paper))
        rows.append([kind, model, *cells])
    seconds = [
        f"{made[name].provenance['processor_seconds']:,.0f} s"
        if name in made and "processor_seconds" in made[name].provenance
        else None
        for name in published.IMAGES
    ]
    rows.append([kind, "time of the processor", *seconds])
    return rows
