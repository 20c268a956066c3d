"""``gpgc train``: features of images from a network trained here, with the time left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpgc.errors import InputError
from gpgc_lab.step_line import step_line

if TYPE_CHECKING:
    from gpgc_lab.datasets.feature_files import FeatureSet
    from gpgc_lab.datasets.images import ImageDataset
    from gpgc_lab.image_networks import TrainingProgress

app = typer.Typer(add_completion=False, context_settings={"help_option_names": ["-h", "--help"]})

COMPONENTS = 128
"""Principal components that are stored of wider features, so that a file has less than 3 MB."""


@app.command()
def train(
    dataset: Annotated[str, typer.Argument(help="mnist, svhn or cifar10.")],
    out: Annotated[Path, typer.Option(help="The .npz to write.")],
    minutes: Annotated[
        float | None, typer.Option(help="Time to train; the speed is measured once.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Steps to train, in place of it.")
    ] = None,
    network: Annotated[
        str,
        typer.Option(
            help="compact (pseudo-labels), conv-large (adversarial training) or "
            "efficientnet-lite0 (trained elsewhere, frozen)."
        ),
    ] = "compact",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the split and of the network.")] = 0,
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Folder with the data; else $GPGC_DATA, the cache, a download."),
    ] = None,
) -> None:
    """Train a network on few labels and many images and write its features (needs PyTorch).

    The run is kept beside the output as a checkpoint; the same command goes on with it, and with
    more --steps a finished run is prolonged.
    """
    from gpgc_lab.datasets import load_images
    from gpgc_lab.datasets.feature_files import save_features
    from gpgc_lab.datasets.image_graphs import IMAGES
    from gpgc_lab.image_networks import PLANS, PRETRAINED

    if dataset not in IMAGES:
        raise InputError(f"dataset must be one of {', '.join(IMAGES)}, got {dataset!r}")
    if network not in (*PLANS, PRETRAINED):
        names = ", ".join((*PLANS, PRETRAINED))
        raise InputError(f"network must be one of {names}, got {network!r}")
    if network in PLANS and (minutes is None) == (steps is None):
        raise InputError("one of --minutes and --steps must be given")
    data = load_images(dataset, data_dir=data_dir, seed=seed)
    with step_line() as line:
        made = (
            _frozen(data, line)
            if network == PRETRAINED
            else _trained(data, network, minutes, steps, out.with_suffix(".checkpoint"), line)
        )
    made = replace(made, provenance={**made.provenance, "dataset": dataset, "split_seed": seed})
    save_features(out, made)


def _frozen(data: ImageDataset, line: Callable[[str], None]) -> FeatureSet:
    from gpgc.image_features import load_network
    from gpgc_lab.image_networks import PRETRAINED
    from gpgc_lab.image_networks.frozen import SIDES, frozen_features

    network = load_network(PRETRAINED, SIDES[data.name])
    return frozen_features(
        data, network, progress=lambda done, count: line(f"{data.name}: {done} of {count} images")
    )


def _trained(
    data: ImageDataset,
    network: str,
    minutes: float | None,
    steps: int | None,
    checkpoint: Path,
    line: Callable[[str], None],
) -> FeatureSet:
    import numpy as np

    from gpgc_lab import image_networks
    from gpgc_lab.datasets.feature_files import FeatureSet
    from gpgc_lab.datasets.pixel_features import principal_components

    schedule = image_networks.checkpoint_schedule(checkpoint)
    if schedule is None:
        plan = image_networks.PLANS[network][data.name]
        schedule = (
            image_networks.schedule_for_minutes(minutes, plan, data.images)
            if minutes is not None
            else image_networks.with_fastest_precision(plan, data.images)
        )
    elif schedule.network != network:
        raise InputError(
            f"network must be that of {checkpoint}, {schedule.network!r}, got {network!r}"
        )
    if steps is not None:
        schedule = schedule.with_steps(steps)
    labels = np.full(len(data.labels), -1)
    labels[data.train] = data.labels[data.train]
    trained = image_networks.train_features(
        data.images,
        labels,
        (data.validation, data.labels[data.validation]),
        schedule,
        checkpoint,
        progress=lambda now: line(f"{data.name}: {describe(now)}"),
    )
    features, provenance = trained.features.astype(np.float32), trained.provenance
    components = min(COMPONENTS, len(features))
    if features.shape[1] > components:
        features = principal_components(features, components)
        provenance = {**provenance, "components": components}
    parts = data.train, data.validation, data.test
    return FeatureSet(features, data.labels, *parts, provenance, trained.probabilities)


def describe(now: TrainingProgress) -> str:
    """Return how far a training run is, in a line."""
    seen, loss = now.best_validation_accuracy, now.losses["cross_entropy"]
    best = "" if seen is None else f", best on validation {seen:.1%}"
    return (
        f"step {now.step} of {now.steps}, loss {loss:.3f}{best}, "
        f"{now.seconds_left / 60:.0f} minutes left"
    )
