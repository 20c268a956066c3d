"""``gpgc features``: training with progress and the time left."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpgc.cli.output import Progress as Line
from gpgc.datasets import load_images
from gpgc.errors import InputError
from gpgc.experiments.images.graphs import IMAGES


def train(
    name: str,
    out: Path,
    minutes: float | None,
    steps: int | None,
    seed: int,
    data_dir: Path | None,
) -> None:
    """Train, or go on from the checkpoint beside ``out``, and write the features."""
    from gpgc import features

    if name not in IMAGES:
        raise InputError(f"dataset must be one of {', '.join(IMAGES)}, got {name!r}")
    if (minutes is None) == (steps is None):
        raise InputError("one of --minutes and --steps must be given")
    data = load_images(name, data_dir=data_dir, seed=seed)
    labels = np.full(len(data.labels), -1)
    labels[data.train] = data.labels[data.train]
    checkpoint = out.with_suffix(".checkpoint")
    schedule = features.checkpoint_schedule(checkpoint)
    if schedule is None and minutes is not None:
        schedule = features.schedule_for_minutes(minutes, features.BRIEF[name], data.images)
    elif schedule is None:
        fastest = features.with_fastest_precision(features.BRIEF[name], data.images)
        schedule = fastest.with_steps(int(steps or 1))
    with Line() as line:

        def report(now: features.Progress) -> None:
            seen = now.best_validation_accuracy
            best = "" if seen is None else f", best on validation {seen:.1%}"
            line(
                f"{name}: step {now.step} of {now.steps}, loss {now.cross_entropy:.3f}{best}, "
                f"{now.seconds_left / 60:.0f} minutes left"
            )

        made = features.train_features(
            data.images,
            labels,
            (data.validation, data.labels[data.validation]),
            schedule,
            checkpoint,
            progress=report,
        )
    features.save_features(
        out,
        features.FeatureSet(
            made.features,
            data.labels,
            data.train,
            data.validation,
            data.test,
            {**made.provenance, "dataset": name, "split_seed": seed},
            made.probabilities,
        ),
    )
