"""From images to feature vectors: a trained network, or without torch pixels and components.

Names that need PyTorch are imported when they are first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gpgc.features.schedule import BRIEF, PAPER, Schedule
from gpgc.features.simple import pca_features, pixel_features
from gpgc.features.store import FeatureSet, load_features, save_features

if TYPE_CHECKING:
    from gpgc.features.checkpoint import checkpoint_schedule
    from gpgc.features.speed import schedule_for_minutes, with_fastest_precision
    from gpgc.features.training import (
        Progress,
        TrainedFeatures,
        checkpoint_features,
        train_features,
    )

_NEEDS_TORCH = {
    "checkpoint_schedule": "gpgc.features.checkpoint",
    "Progress": "gpgc.features.training",
    "TrainedFeatures": "gpgc.features.training",
    "checkpoint_features": "gpgc.features.training",
    "schedule_for_minutes": "gpgc.features.speed",
    "train_features": "gpgc.features.training",
    "with_fastest_precision": "gpgc.features.speed",
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
            f'gpgc.features.{name} needs PyTorch: pip install "gpgc[images]"', name="torch"
        ) from error


__all__ = [
    "BRIEF",
    "PAPER",
    "FeatureSet",
    "Progress",
    "Schedule",
    "TrainedFeatures",
    "checkpoint_features",
    "checkpoint_schedule",
    "load_features",
    "pca_features",
    "pixel_features",
    "save_features",
    "schedule_for_minutes",
    "train_features",
    "with_fastest_precision",
]
