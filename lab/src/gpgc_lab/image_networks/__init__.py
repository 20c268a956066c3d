"""Networks that learn features of images from few labels.

Names that need PyTorch are imported when they are first asked for.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gpgc_lab.image_networks.base_schedule import BaseSchedule
from gpgc_lab.image_networks.pseudo_label_schedule import COMPACT, PseudoLabelSchedule
from gpgc_lab.image_networks.schedule import BRIEF, PAPER, Schedule

PLANS: dict[str, Mapping[str, BaseSchedule]] = {"conv-large": BRIEF, "compact": COMPACT}
"""Schedules by the name of the network and of the data set."""

PRETRAINED = "efficientnet-lite0"
"""The network that was trained elsewhere and is only looked through."""

if TYPE_CHECKING:
    from gpgc_lab.image_networks.checkpoint import checkpoint_schedule
    from gpgc_lab.image_networks.time_budget import schedule_for_minutes, with_fastest_precision
    from gpgc_lab.image_networks.training import (
        TrainedFeatures,
        TrainingProgress,
        checkpoint_features,
        train_features,
    )

_NEEDS_TORCH = {
    "checkpoint_schedule": "gpgc_lab.image_networks.checkpoint",
    "TrainingProgress": "gpgc_lab.image_networks.training",
    "TrainedFeatures": "gpgc_lab.image_networks.training",
    "checkpoint_features": "gpgc_lab.image_networks.training",
    "schedule_for_minutes": "gpgc_lab.image_networks.time_budget",
    "train_features": "gpgc_lab.image_networks.training",
    "with_fastest_precision": "gpgc_lab.image_networks.time_budget",
}


def __getattr__(name: str) -> Any:
    if name not in _NEEDS_TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_NEEDS_TORCH[name]), name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(
            f'gpgc_lab.image_networks.{name} needs PyTorch: pip install "./lab[images]"',
            name="torch",
        ) from error


__all__ = [
    "BRIEF",
    "COMPACT",
    "PAPER",
    "PLANS",
    "PRETRAINED",
    "PseudoLabelSchedule",
    "Schedule",
    "TrainedFeatures",
    "TrainingProgress",
    "checkpoint_features",
    "checkpoint_schedule",
    "schedule_for_minutes",
    "train_features",
    "with_fastest_precision",
]
