"""`gpgc run`: the whole job on a known data set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpgc.cli.command import Shown, argument, option
from gpgc.cli.options import ClassOptions


@dataclass(frozen=True, kw_only=True)
class Run(Shown, ClassOptions):
    """Run the whole job on a known data set and print what came out."""

    dataset: str = argument(
        "digits", "digits; with gpgc-lab cora, citeseer, pubmed, mnist, svhn, cifar10."
    )
    features: str | None = option(
        None,
        "Of mnist, svhn and cifar10: pca (the default), pixels, conv-large, compact, pretrained, "
        "or an .npz that gpgc train wrote.",
    )
    data_dir: Path | None = option(
        None, "Folder with the data; else $GPGC_DATA, the cache, a download."
    )
    seed: int = option(0, "Seed of the split, where it is drawn.", min=0)

    def run(self) -> None:
        """Load, fit, test, show."""
        import time

        import numpy as np
        from sklearn.metrics import log_loss

        from gpgc.cli.extensions import load_data_set
        from gpgc.cli.output import described, show
        from gpgc.compute.progress import progress
        from gpgc.estimators import GPGCClassifier

        with progress(f"loading {self.dataset}"):
            data = load_data_set(self.dataset, self.features, self.data_dir, self.seed)
        if data.adjacency is not None:
            self.refuse_neighbors(f"{self.dataset}, which has a graph")
        y = np.full(len(data.labels), -1)
        y[data.train] = data.labels[data.train]
        start = time.perf_counter()
        with progress(f"labelling {self.dataset}"):
            estimator = GPGCClassifier(**self.settings()).fit(data.features, y, data.adjacency)
            predicted, probabilities = estimator.predict(), estimator.predict_proba()
        truth = data.labels[data.test]
        said = {
            "dataset": self.dataset,
            **described(estimator),
            "test_nodes": len(data.test),
            "accuracy": float(np.mean(predicted[data.test] == truth)),
            "log_loss": float(log_loss(truth, probabilities[data.test], labels=estimator.classes_)),
            "seconds": round(time.perf_counter() - start, 4),
        }
        show(said, self)
