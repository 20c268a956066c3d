"""Train a network on few labels and many images, and read the features off its last layer."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from gpgc.errors import InputError
from gpgc_lab.image_networks.base_schedule import BaseSchedule
from gpgc_lab.image_networks.checkpoint import TrainingRun
from gpgc_lab.image_networks.image_labels import ImageLabels
from gpgc_lab.image_networks.step import answers, take_step, validation_accuracy
from gpgc_lab.image_networks.views import ImageViews


@dataclass(frozen=True)
class TrainingProgress:
    """What a run reports after each step.

    Attributes
    ----------
    step, steps : int
        Steps taken, and in all.
    losses : dict
        The losses of this step by name; ``cross_entropy`` is always there.
    validation_accuracy, best_validation_accuracy : float or None
        Last and best seen so far, None before the first look.
    seconds_left : float
        Estimate from the cost of the steps to come and the median speed of the last steps, so that
        a pause of the process does not disturb it.
    """

    step: int
    steps: int
    losses: dict[str, float]
    validation_accuracy: float | None
    best_validation_accuracy: float | None
    seconds_left: float


@dataclass(frozen=True)
class TrainedFeatures:
    """What a trained network says of every image.

    Attributes
    ----------
    features : ndarray of float16, shape (n, d)
    probabilities : ndarray of float32, shape (n, classes)
        The network's own answer.
    provenance : dict
        How they were made, ready for JSON.
    """

    features: NDArray[np.float16]
    probabilities: NDArray[np.float32]
    provenance: dict[str, Any]


def train_features(
    images: NDArray[np.uint8],
    labels: ArrayLike,
    validation: tuple[ArrayLike, ArrayLike],
    schedule: BaseSchedule,
    checkpoint: str | Path,
    *,
    progress: Callable[[TrainingProgress], None] | None = None,
    checkpoint_seconds: float = 120.0,
) -> TrainedFeatures:
    """Train the network, or go on from a checkpoint, and compute the features of all images.

    All images, whatever their part of the split, serve as unlabelled ones. Gradients come from
    ``labels`` alone; the validation labels only choose among the networks that the run passes
    through. For one schedule, number of threads and machine, a run that was interrupted anywhere
    and called again ends with the same bits as one that was not.

    Parameters
    ----------
    images : ndarray of uint8, shape (n, side, side) or (n, side, side, channels)
    labels : array of int, shape (n,)
        Class of each labelled image, -1 for all others.
    validation : pair of arrays of int, shape (v,)
        Indices of the validation images, and their labels.
    schedule : BaseSchedule
    checkpoint : path
        Where the run is kept. If the file exists the run goes on from it; its data must be those
        given here, and its schedule may differ in all but the kind of training, the network and the
        seed (see :func:`checkpoint_schedule`): a run can be prolonged, and the learning rate goes
        on as the schedule given here has it at that step. Earlier schedules are in the provenance.
    progress : callable, optional
        Called with a :class:`TrainingProgress` after each step.
    checkpoint_seconds : float, optional
        Time between two checkpoints.

    Returns
    -------
    TrainedFeatures
    """
    checkpoint = Path(checkpoint)
    views = ImageViews(images)
    task = ImageLabels.checked(len(views), labels, validation)
    with torch.random.fork_rng(devices=[]):
        if checkpoint.exists():
            run = _resumed(checkpoint, schedule, task.fingerprint(images))
        else:
            run = TrainingRun.start(schedule, task.fingerprint(images), views, task.classes)
        _train(run, views, task, checkpoint, progress, checkpoint_seconds)
    return _read_off(run, views)


def checkpoint_features(images: NDArray[np.uint8], checkpoint: str | Path) -> TrainedFeatures:
    """Features of all images from the best network of a run, finished or not.

    Parameters
    ----------
    images : ndarray of uint8, shape (n, side, side) or (n, side, side, channels)
        The images of the run.
    checkpoint : path
    """
    with torch.random.fork_rng(devices=[]):
        return _read_off(TrainingRun.load(Path(checkpoint)), ImageViews(images))


def _resumed(checkpoint: Path, schedule: BaseSchedule, data: str) -> TrainingRun:
    run = TrainingRun.load(checkpoint)
    if run.data != data:
        raise InputError(f"{checkpoint} belongs to a run on other images, labels or validation")
    if not schedule.continues(run.schedule):
        raise InputError(f"{checkpoint} must follow {schedule}, but it follows {run.schedule}")
    run.follow(schedule)
    return run


def _train(
    run: TrainingRun,
    views: ImageViews,
    task: ImageLabels,
    checkpoint: Path,
    progress: Callable[[TrainingProgress], None] | None,
    checkpoint_seconds: float,
) -> None:
    schedule = run.schedule
    speeds: deque[float] = deque(maxlen=15)
    accuracy = None
    saved = time.perf_counter()
    while run.step < schedule.steps:
        began, processor = time.perf_counter(), time.process_time()
        work = schedule.work(run.step)
        side = schedule.side(run.step, views.side)
        losses = take_step(run, views, task)
        speeds.append((time.perf_counter() - began) / work)
        finished = run.step == schedule.steps
        if finished or run.step % schedule.validate_every == 0:
            accuracy = validation_accuracy(run, views, task, side)
            run.note_validation(accuracy, side)
        run.seconds += time.perf_counter() - began
        run.processor_seconds += time.process_time() - processor
        if finished or time.perf_counter() - saved >= checkpoint_seconds:
            run.save(checkpoint)
            saved = time.perf_counter()
        if progress is not None:
            best = run.best.accuracy if run.best else None
            left = median(speeds) * schedule.total_work(run.step)
            progress(TrainingProgress(run.step, schedule.steps, losses, accuracy, best, left))


def _read_off(run: TrainingRun, views: ImageViews) -> TrainedFeatures:
    network, best = run.best_network()
    everything = torch.arange(len(views))
    features, logits = answers(network, views, everything, best.side, run.schedule)
    provenance = {
        "network": run.schedule.network,
        "method": f"{run.schedule.network} network, {run.schedule.method}",
        "schedule": asdict(run.schedule),
        "earlier_schedules": list(run.earlier),
        "steps": run.step,
        "best_step": best.step,
        "image_side": best.side,
        "seconds": round(run.seconds, 1),
        "processor_seconds": round(run.processor_seconds, 1),
        "threads": torch.get_num_threads(),
        "torch": str(torch.__version__),
        "network_validation_accuracy": best.accuracy,
        "labels_used": (
            "training labels for gradients; validation labels only to choose the checkpoint; all "
            "images, unlabelled, for the loss that asks for no labels; no test label"
        ),
    }
    return TrainedFeatures(
        features.numpy().astype(np.float16), logits.softmax(dim=1).numpy(), provenance
    )
