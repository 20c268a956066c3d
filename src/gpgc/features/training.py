"""Train Conv-Large on few labels and many images, and read the features off its last layer."""

import hashlib
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.nn import functional

from gpgc.errors import InputError
from gpgc.features.adversarial import adversarial_loss, entropy
from gpgc.features.checkpoint import Run
from gpgc.features.network import ConvLarge
from gpgc.features.schedule import PRECISIONS, Schedule
from gpgc.features.views import ImageViews


@dataclass(frozen=True)
class Progress:
    """What a run reports after each step.

    Attributes
    ----------
    step, steps : int
        Steps taken, and in all.
    cross_entropy, adversarial, entropy : float
        The three losses of this step; the last two are 0 in the warm-up.
    validation_accuracy, best_validation_accuracy : float or None
        Last and best seen so far, None before the first look.
    seconds_left : float
        Estimate from the cost of the steps to come and the median speed of the last steps, so that
        a pause of the process does not disturb it.
    """

    step: int
    steps: int
    cross_entropy: float
    adversarial: float
    entropy: float
    validation_accuracy: float | None
    best_validation_accuracy: float | None
    seconds_left: float


@dataclass(frozen=True)
class TrainedFeatures:
    """What a trained network says of every image.

    Attributes
    ----------
    features : ndarray of float16, shape (n, 128)
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
    schedule: Schedule,
    checkpoint: str | Path,
    *,
    progress: Callable[[Progress], None] | None = None,
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
    schedule : Schedule
    checkpoint : path
        Where the run is kept. If the file exists the run goes on from it; its schedule and data
        must be those given here (see :func:`checkpoint_schedule`).
    progress : callable, optional
        Called with a :class:`Progress` after each step.
    checkpoint_seconds : float, optional
        Time between two checkpoints.

    Returns
    -------
    TrainedFeatures
    """
    checkpoint = Path(checkpoint)
    views = ImageViews(images)
    task = _Task.checked(views, labels, validation)
    with torch.random.fork_rng(devices=[]):
        if checkpoint.exists():
            run = _resumed(checkpoint, schedule, task.fingerprint(images))
        else:
            run = Run.start(schedule, task.fingerprint(images), views.channels, task.classes)
        _train(run, views, task, checkpoint, progress, checkpoint_seconds)
    return _read_off(run, views)


def checkpoint_features(images: NDArray[np.uint8], checkpoint: str | Path) -> TrainedFeatures:
    """Features of all images from the best network of a run, finished or not."""
    with torch.random.fork_rng(devices=[]):
        return _read_off(Run.load(Path(checkpoint)), ImageViews(images))


def schedule_for_minutes(minutes: float, schedule: Schedule, images: NDArray[np.uint8]) -> Schedule:
    """Stretch a schedule to a time on this machine, with the precision that is faster here.

    The speed is measured once, on one step; the schedule that comes back has a fixed number of
    steps, which a checkpoint keeps.

    Parameters
    ----------
    minutes : float
        Time that the training may take.
    schedule : Schedule
        Its proportions are kept.
    images : ndarray of uint8, shape (n, side, side) or (n, side, side, channels)
        The images to train on, of which only the shape matters.
    """
    if not minutes > 0:
        raise InputError(f"minutes must be positive, got {minutes}")
    schedule, seconds = _fastest(schedule, images)
    per_step = seconds * schedule.total_work() / schedule.steps
    return schedule.with_steps(max(1, int(minutes * 60 / per_step)))


def with_fastest_precision(schedule: Schedule, images: NDArray[np.uint8]) -> Schedule:
    """Return the schedule with the precision that is measured to be faster on this machine."""
    return _fastest(schedule, images)[0]


def _fastest(schedule: Schedule, images: NDArray[np.uint8]) -> tuple[Schedule, float]:
    """Schedule of the faster precision, and its seconds per unit of work."""
    candidates = [replace(schedule, precision=precision) for precision in PRECISIONS]
    seconds = [_seconds_per_work(candidate, images.shape) for candidate in candidates]
    fastest = int(np.argmin(seconds))
    return candidates[fastest], seconds[fastest]


def _seconds_per_work(schedule: Schedule, shape: tuple[int, ...]) -> float:
    views = ImageViews.random(schedule.unlabelled_batch, shape[1], (*shape, 1)[3])
    labelled = torch.arange(min(schedule.labelled_batch, len(views)))
    task = _Task(labelled, torch.arange(len(labelled)) % 10, labelled, labelled, classes=10)
    last = schedule.steps - 1
    probe = replace(schedule, warm_up=0, small=0, ramp=0)
    with torch.random.fork_rng(devices=[]):
        run = Run.start(probe, "", views.channels, task.classes)
        run.step = last
        timings = []
        for _ in range(2):
            began = time.perf_counter()
            _take_step(run, views, task)
            timings.append(time.perf_counter() - began)
            run.step = last
    return min(timings) / probe.work(last)


@dataclass(frozen=True)
class _Task:
    """Which images have labels for the gradients, and which for the choice of the checkpoint."""

    labelled: Tensor
    labels: Tensor
    validation: Tensor
    validation_labels: Tensor
    classes: int

    @classmethod
    def checked(
        cls, views: ImageViews, labels: ArrayLike, validation: tuple[ArrayLike, ArrayLike]
    ) -> "_Task":
        given = np.asarray(labels, dtype=np.int64)
        index, answers = (np.asarray(part, dtype=np.int64) for part in validation)
        if given.shape != (len(views),):
            raise InputError(f"labels must have shape ({len(views)},), got {given.shape}")
        classes = int(given.max(initial=-1)) + 1
        if classes < 2:
            raise InputError(f"labels must name at least two classes, got {classes}")
        if index.ndim != 1 or index.shape != answers.shape or not index.size:
            raise InputError(
                "validation must be indices and labels of one length, got shapes "
                f"{index.shape} and {answers.shape}"
            )
        if index.min() < 0 or index.max() >= len(views):
            raise InputError(f"validation indices must be in [0, {len(views)}), got {index}")
        if (given[index] >= 0).any():
            raise InputError("validation images must have the label -1 in labels")
        labelled = np.flatnonzero(given >= 0)
        return cls(
            torch.from_numpy(labelled),
            torch.from_numpy(given[labelled]),
            torch.from_numpy(index),
            torch.from_numpy(answers),
            classes,
        )

    def fingerprint(self, images: NDArray[np.uint8]) -> str:
        digest = hashlib.sha256(np.ascontiguousarray(images).tobytes())
        for part in (self.labelled, self.labels, self.validation, self.validation_labels):
            digest.update(part.numpy().tobytes())
        return digest.hexdigest()


def _resumed(checkpoint: Path, schedule: Schedule, data: str) -> Run:
    run = Run.load(checkpoint)
    if run.data != data:
        raise InputError(f"{checkpoint} belongs to a run on other images, labels or validation")
    if run.schedule != schedule:
        raise InputError(f"{checkpoint} must follow {schedule}, but it follows {run.schedule}")
    return run


def _train(
    run: Run,
    views: ImageViews,
    task: _Task,
    checkpoint: Path,
    progress: Callable[[Progress], None] | None,
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
        losses = _take_step(run, views, task)
        speeds.append((time.perf_counter() - began) / work)
        finished = run.step == schedule.steps
        if finished or run.step % schedule.validate_every == 0:
            accuracy = _accuracy(run.network, views, task, side, schedule.precision)
            run.note_validation(accuracy, side)
        run.seconds += time.perf_counter() - began
        run.processor_seconds += time.process_time() - processor
        if finished or time.perf_counter() - saved >= checkpoint_seconds:
            run.save(checkpoint)
            saved = time.perf_counter()
        if progress is not None:
            best = run.best.accuracy if run.best else None
            left = median(speeds) * schedule.total_work(run.step)
            progress(Progress(run.step, schedule.steps, *losses, accuracy, best, left))


def _take_step(run: Run, views: ImageViews, task: _Task) -> tuple[float, float, float]:
    """One step of Adam; returns the cross-entropy, the adversarial loss and the entropy."""
    schedule, network = run.schedule, run.network.train()
    side = schedule.side(run.step, views.side)
    warm = run.step < schedule.warm_up
    for group in run.optimiser.param_groups:
        group["lr"] = schedule.learning_rate_at(run.step)

    chosen = _draw(len(task.labelled), schedule.warm_up_batch if warm else schedule.labelled_batch)
    labelled = views.augmented(task.labelled[chosen], side, schedule)
    losses = [torch.zeros(()), torch.zeros(())]
    with _arithmetic(schedule.precision):
        cross_entropy = functional.cross_entropy(network(labelled), task.labels[chosen])
        loss = cross_entropy
        if not warm:
            drawn = _draw(len(views), schedule.unlabelled_batch)
            unlabelled = views.augmented(drawn, side, schedule)
            logits = network(unlabelled)
            epsilon = schedule.epsilon * side / views.side
            losses = [adversarial_loss(network, unlabelled, logits, epsilon), entropy(logits)]
            loss = loss + schedule.adversarial_weight(run.step) * (losses[0] + losses[1])
    run.optimiser.zero_grad()
    torch.autograd.backward(loss)
    run.optimiser.step()
    run.step += 1
    return cross_entropy.item(), losses[0].item(), losses[1].item()


def _draw(population: int, count: int) -> Tensor:
    return torch.randperm(population)[:count]


def _arithmetic(precision: str) -> torch.autocast:
    return torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16")


def _accuracy(
    network: ConvLarge, views: ImageViews, task: _Task, side: int, precision: str
) -> float:
    _, logits = _answers(network.eval(), views, task.validation, side, precision)
    return float((logits.argmax(dim=1) == task.validation_labels).double().mean())


@torch.inference_mode()
def _answers(
    network: ConvLarge, views: ImageViews, index: Tensor, side: int, precision: str
) -> tuple[Tensor, Tensor]:
    """Features and logits of the images of an index."""
    features, logits = [], []
    with _arithmetic(precision):
        for part in torch.split(index, 250):
            hidden = network.features(views.plain(part, side)).float()
            features.append(hidden)
            logits.append(network.classifier(hidden).float())
    return torch.cat(features), torch.cat(logits)


def _read_off(run: Run, views: ImageViews) -> TrainedFeatures:
    network, best = run.best_network()
    everything = torch.arange(len(views))
    features, logits = _answers(network, views, everything, best.side, run.schedule.precision)
    provenance = {
        "method": "Conv-Large, virtual adversarial training",
        "schedule": asdict(run.schedule),
        "steps": run.step,
        "best_step": best.step,
        "image_side": best.side,
        "seconds": round(run.seconds, 1),
        "processor_seconds": round(run.processor_seconds, 1),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "network_validation_accuracy": best.accuracy,
        "labels_used": (
            "training labels for gradients; validation labels only to choose the checkpoint; all "
            "images, unlabelled, for the adversarial loss and the entropy; no test label"
        ),
    }
    return TrainedFeatures(
        features.numpy().astype(np.float16), logits.softmax(dim=1).numpy(), provenance
    )
