"""How fast this machine trains, and the schedule that fits a time."""

import time
from dataclasses import replace
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from gpgc.errors import InputError
from gpgc_lab.image_networks.base_schedule import PRECISIONS, BaseSchedule
from gpgc_lab.image_networks.checkpoint import TrainingRun
from gpgc_lab.image_networks.image_labels import ImageLabels
from gpgc_lab.image_networks.step import take_step
from gpgc_lab.image_networks.views import ImageViews

_TIMED_IMAGES = 32

S = TypeVar("S", bound=BaseSchedule)


def schedule_for_minutes(minutes: float, schedule: S, images: NDArray[np.uint8]) -> S:
    """Stretch a schedule to a time on this machine, with the precision that is faster here.

    The speed is measured once, on steps of few images; the schedule that comes back has a fixed
    number of steps, which a checkpoint keeps.

    Parameters
    ----------
    minutes : float
        Time that the training may take.
    schedule : BaseSchedule
        Its proportions are kept.
    images : ndarray of uint8, shape (n, side, side) or (n, side, side, channels)
        The images to train on, of which only the shape matters.
    """
    if not minutes > 0:
        raise InputError(f"minutes must be positive, got {minutes}")
    schedule, seconds = _fastest(schedule, images)
    per_step = seconds * schedule.total_work() / schedule.steps
    return schedule.with_steps(max(1, int(minutes * 60 / per_step)))


def with_fastest_precision(schedule: S, images: NDArray[np.uint8]) -> S:
    """Return the schedule with the precision that is measured to be faster on this machine."""
    return _fastest(schedule, images)[0]


def _fastest(schedule: S, images: NDArray[np.uint8]) -> tuple[S, float]:
    """Schedule of the faster precision, and its seconds per unit of work."""
    candidates = [replace(schedule, precision=precision) for precision in PRECISIONS]
    seconds = [_seconds_per_work(candidate, images) for candidate in candidates]
    fastest = int(np.argmin(seconds))
    return candidates[fastest], seconds[fastest]


def _seconds_per_work(schedule: BaseSchedule, images: NDArray[np.uint8]) -> float:
    """Time of a unit of work, on the second of two costly steps of a few full-size images."""
    few = schedule.timed(_TIMED_IMAGES)
    views = ImageViews(np.resize(images, (_TIMED_IMAGES, *images.shape[1:])))
    everything = torch.arange(_TIMED_IMAGES)
    task = ImageLabels(everything, everything % 2, everything, everything % 2, classes=2)
    seconds = 0.0
    with torch.random.fork_rng(devices=[]):
        run = TrainingRun.start(few, "", views, task.classes)
        for _ in range(2):
            began = time.perf_counter()
            take_step(run, views, task)
            seconds = time.perf_counter() - began
    return seconds / few.work(0)
