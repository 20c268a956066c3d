"""What every training run has in common, as plain numbers that a checkpoint can hold."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

from gpgc.errors import InputError
from gpgc_lab.image_networks.augmentation import Augmentation

PRECISIONS = ("float32", "bfloat16")


@dataclass(frozen=True, kw_only=True)
class BaseSchedule(ABC):
    """The steps of one training run: what its kinds share.

    Parameters
    ----------
    steps : int
        Number of steps in all.
    decay : int
        The learning rate is constant and falls linearly to zero over the last ``decay`` steps.
    network : str
        Name of the network, see :data:`gpgc_lab.image_networks.networks.NETWORKS`.
    learning_rate : float
        The optimiser's step size before the decay.
    shift, rotation, zoom, flip
        See :class:`~gpgc_lab.image_networks.augmentation.Augmentation`.
    validate_every : int, default 50
        Steps between two looks at the validation accuracy, which chooses the checkpoint.
    precision : {"float32", "bfloat16"}, default "float32"
        Arithmetic of the convolutions.
    seed : int, default 0
        Seed of the weights, batches, augmentation, dropout and perturbations.
    """

    method: ClassVar[str]
    """Name of the kind of training, by which a checkpoint finds its schedule again."""
    parts: ClassVar[tuple[str, ...]] = ("decay",)
    """Fields that count steps and are stretched with their number."""

    steps: int
    decay: int
    network: str
    learning_rate: float
    shift: int = 2
    rotation: float = 0.0
    zoom: float = 0.0
    flip: bool = False
    validate_every: int = 50
    precision: str = "float32"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise InputError(f"precision must be one of {PRECISIONS}, got {self.precision!r}")
        self.demand(1, "steps", "validate_every")
        self.demand(0, "seed", *self.parts)
        if not self.learning_rate > 0:
            raise InputError(f"learning_rate must be positive, got {self.learning_rate}")
        for name in self.parts:
            if getattr(self, name) > self.steps:
                raise InputError(
                    f"{name} must be at most steps = {self.steps}, got {getattr(self, name)}"
                )
        _ = self.augmentation

    def demand(self, at_least: int, *names: str) -> None:
        """Check that fields are not smaller than a number."""
        for name in names:
            if getattr(self, name) < at_least:
                raise InputError(f"{name} must be at least {at_least}, got {getattr(self, name)}")

    @property
    def augmentation(self) -> Augmentation:
        """How images are changed at random before the network sees them."""
        return Augmentation(self.shift, self.rotation, self.zoom, self.flip)

    @property
    def mirror_answers(self) -> bool:
        """Whether features and answers are means over an image and its mirror image."""
        return False

    def learning_rate_at(self, step: int) -> float:
        """Step size of the optimiser at a step."""
        remaining = self.steps - step
        return self.learning_rate * (min(1.0, remaining / self.decay) if self.decay else 1.0)

    def side(self, step: int, full: int) -> int:
        """Height and width at a step of images that are ``full`` pixels high and wide."""
        return full

    @abstractmethod
    def work(self, step: int) -> float:
        """Cost of a step, in forward and backward passes of one image of full size."""

    @abstractmethod
    def timed(self, images: int) -> Self:
        """Return a schedule whose every step is of the costly kind, with few images."""

    def total_work(self, start: int = 0) -> float:
        """Cost of the steps from ``start`` to the end, in the unit of :meth:`work`."""
        return sum(self.work(step) for step in range(start, self.steps))

    def with_steps(self, steps: int) -> Self:
        """Return the same schedule stretched or shortened to a number of steps."""
        if steps < 1:
            raise InputError(f"steps must be at least 1, got {steps}")
        parts = {name: round(getattr(self, name) * steps / self.steps) for name in self.parts}
        return replace(self, steps=steps, **parts)

    def continues(self, other: "BaseSchedule") -> bool:
        """Whether a run that followed ``other`` may go on with this one.

        The kind of training, the network and the seed must be the same.
        """
        return (type(self), self.network, self.seed) == (type(other), other.network, other.seed)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Rebuild a schedule from ``dataclasses.asdict`` of one."""
        expected = {field.name for field in fields(cls)}
        if set(values) != expected:
            raise InputError(f"a schedule has the fields {sorted(expected)}, got {sorted(values)}")
        return cls(**values)
