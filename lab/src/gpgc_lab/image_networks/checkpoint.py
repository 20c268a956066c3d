"""A training run at one step, and the file that lets it go on from there."""

import io
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Self

import torch
from torch import Tensor

from gpgc.errors import InputError
from gpgc.files import write_file
from gpgc_lab.image_networks.conv_large import ConvLarge
from gpgc_lab.image_networks.schedule import Schedule

_FORMAT = "gpgc features checkpoint 1"


@dataclass
class Best:
    """The network that did best on the validation images so far."""

    accuracy: float
    step: int
    side: int
    weights: dict[str, Tensor]


@dataclass
class TrainingRun:
    """All that the rest of a training run depends on.

    Attributes
    ----------
    schedule : Schedule
    data : str
        Fingerprint of images, labels and validation, so that no run goes on with other data.
    network : ConvLarge
    optimiser : torch.optim.Adam
    step : int
        Steps taken.
    best : Best or None
        None before the first validation.
    seconds, processor_seconds : float
        Time taken so far by the clock and by the processor, over all sittings.
    """

    schedule: Schedule
    data: str
    network: ConvLarge
    optimiser: torch.optim.Adam
    step: int = 0
    best: Best | None = None
    seconds: float = 0.0
    processor_seconds: float = 0.0

    @classmethod
    def start(cls, schedule: Schedule, data: str, channels: int, classes: int) -> Self:
        """Seed the generator and draw the weights."""
        torch.manual_seed(schedule.seed)
        network = ConvLarge(channels, classes)
        optimiser = torch.optim.Adam(network.parameters(), lr=schedule.learning_rate)
        return cls(schedule, data, network, optimiser)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a run and set torch's random state to what it was."""
        content = _read(path)
        run = cls.start(
            Schedule.from_dict(content["schedule"]),
            content["data"],
            channels=content["network"]["features.0.weight"].shape[1],
            classes=content["network"]["classifier.0.bias"].shape[0],
        )
        run.network.load_state_dict(content["network"])
        run.optimiser.load_state_dict(content["optimiser"])
        run.step = content["step"]
        run.best = Best(**content["best"]) if content["best"] else None
        run.seconds = content["seconds"]
        run.processor_seconds = content["processor_seconds"]
        torch.set_rng_state(content["random_state"])
        return run

    def save(self, path: Path) -> None:
        """Write the run; a reader, or a later sitting, sees the old file or the new one whole."""
        content = {
            "format": _FORMAT,
            "schedule": asdict(self.schedule),
            "data": self.data,
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "step": self.step,
            "best": vars(self.best) if self.best else None,
            "seconds": self.seconds,
            "processor_seconds": self.processor_seconds,
            "random_state": torch.get_rng_state(),
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        buffer = io.BytesIO()
        torch.save(content, buffer)
        write_file(path, buffer.getvalue(), sync=True)

    def note_validation(self, accuracy: float, side: int) -> None:
        """Keep the present weights if none did better; of equals the latest, at the lowest rate."""
        if self.best is None or accuracy >= self.best.accuracy:
            weights = {name: value.clone() for name, value in self.network.state_dict().items()}
            self.best = Best(accuracy, self.step, side, weights)

    def best_network(self) -> tuple[ConvLarge, Best]:
        """Return the network with its best weights, in evaluation mode."""
        if self.best is None:
            raise InputError(f"the run has no validated network yet at step {self.step}")
        channels = self.best.weights["features.0.weight"].shape[1]
        classes = self.best.weights["classifier.0.bias"].shape[0]
        network = ConvLarge(channels, classes)
        network.load_state_dict(self.best.weights)
        return network.eval(), self.best


def checkpoint_schedule(path: str | Path) -> Schedule | None:
    """Schedule of the run that a checkpoint holds, or None where there is no such file yet."""
    path = Path(path)
    return Schedule.from_dict(_read(path)["schedule"]) if path.exists() else None


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file() or not zipfile.is_zipfile(path):
        raise InputError(f"{path} must be a checkpoint of gpgc train; it is cut short or other")
    try:
        content = torch.load(path, weights_only=True)
    except (RuntimeError, UnpicklingError) as error:
        raise InputError(f"{path} must be a checkpoint of gpgc train; it is damaged") from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise InputError(f"{path} must be a checkpoint of the form {_FORMAT!r}; it is another file")
    return content
