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
from gpgc_lab.image_networks.base_schedule import BaseSchedule
from gpgc_lab.image_networks.networks import FeatureNetwork, build_network
from gpgc_lab.image_networks.pseudo_label_schedule import PseudoLabelSchedule
from gpgc_lab.image_networks.schedule import Schedule
from gpgc_lab.image_networks.views import ImageViews
from gpgc_lab.image_networks.weight_average import WeightAverage

_FORMAT = "gpgc features checkpoint 2"
_SCHEDULES = {kind.method: kind for kind in (Schedule, PseudoLabelSchedule)}


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
    schedule : BaseSchedule
    data : str
        Fingerprint of images, labels and validation, so that no run goes on with other data.
    channels, classes : int
        Of the images, and of their labels.
    network : FeatureNetwork
    optimiser : torch.optim.Optimizer
    average : WeightAverage or None
        For schedules that average the weights.
    earlier : tuple of dict
        Schedules that the run followed before, each with the step ``until`` which it did.
    step : int
        Steps taken.
    best : Best or None
        None before the first validation.
    seconds, processor_seconds : float
        Time taken so far by the clock and by the processor, over all sittings.
    """

    schedule: BaseSchedule
    data: str
    channels: int
    classes: int
    network: FeatureNetwork
    optimiser: torch.optim.Optimizer
    average: WeightAverage | None = None
    earlier: tuple[dict[str, Any], ...] = ()
    step: int = 0
    best: Best | None = None
    seconds: float = 0.0
    processor_seconds: float = 0.0

    @classmethod
    def start(cls, schedule: BaseSchedule, data: str, views: ImageViews, classes: int) -> Self:
        """Seed the generator, draw the weights and fit what depends on the images."""
        run = cls._blank(schedule, data, views.channels, classes)
        run.network.adapt(views.plain(torch.arange(min(len(views), 2000)), views.side))
        if run.average is not None:
            run.average = WeightAverage(run.network, classes)
        return run

    @classmethod
    def _blank(cls, schedule: BaseSchedule, data: str, channels: int, classes: int) -> Self:
        torch.manual_seed(schedule.seed)
        network = build_network(schedule.network, channels, classes)
        run = cls(schedule, data, channels, classes, network, _optimiser(schedule, network))
        if isinstance(schedule, PseudoLabelSchedule):
            run.average = WeightAverage(network, classes)
        return run

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a run and set torch's random state to what it was."""
        content = _read(path)
        run = cls._blank(
            _schedule(content), content["data"], content["channels"], content["classes"]
        )
        run.network.load_state_dict(content["network"])
        run.optimiser.load_state_dict(content["optimiser"])
        if run.average is not None:
            run.average.load_state_dict(content["average"])
        run.earlier = tuple(content["earlier"])
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
            "method": self.schedule.method,
            "schedule": asdict(self.schedule),
            "data": self.data,
            "channels": self.channels,
            "classes": self.classes,
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "average": self.average.state_dict() if self.average is not None else None,
            "earlier": list(self.earlier),
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

    def follow(self, schedule: BaseSchedule) -> None:
        """Go on with another schedule, and remember the one until now."""
        if schedule != self.schedule:
            self.earlier += ({"until": self.step, **asdict(self.schedule)},)
            self.schedule = schedule

    def judged(self) -> FeatureNetwork:
        """Return the network that is validated and gives features: the average where there is one.

        It is in evaluation mode.
        """
        network = self.network if self.average is None else self.average.network
        network.eval()
        return network

    def note_validation(self, accuracy: float, side: int) -> None:
        """Keep the present weights if none did better; of equals the latest, at the lowest rate."""
        if self.best is None or accuracy >= self.best.accuracy:
            weights = {name: value.clone() for name, value in self.judged().state_dict().items()}
            self.best = Best(accuracy, self.step, side, weights)

    def best_network(self) -> tuple[FeatureNetwork, Best]:
        """Return the network with its best weights, in evaluation mode."""
        if self.best is None:
            raise InputError(f"the run has no validated network yet at step {self.step}")
        network = build_network(self.schedule.network, self.channels, self.classes)
        network.load_state_dict(self.best.weights)
        return network.eval(), self.best


def _optimiser(schedule: BaseSchedule, network: FeatureNetwork) -> torch.optim.Optimizer:
    trained = [weight for weight in network.parameters() if weight.requires_grad]
    if isinstance(schedule, PseudoLabelSchedule):
        return torch.optim.SGD(
            trained,
            lr=schedule.learning_rate,
            momentum=schedule.momentum,
            nesterov=True,
            weight_decay=schedule.weight_decay,
        )
    return torch.optim.Adam(trained, lr=schedule.learning_rate)


def checkpoint_schedule(path: str | Path) -> BaseSchedule | None:
    """Schedule of the run that a checkpoint holds, or None where there is no such file yet."""
    path = Path(path)
    return _schedule(_read(path)) if path.exists() else None


def _schedule(content: dict[str, Any]) -> BaseSchedule:
    return _SCHEDULES[content["method"]].from_dict(content["schedule"])


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
