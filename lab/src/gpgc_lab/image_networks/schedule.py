"""What a training run does at each of its steps, as plain numbers that a checkpoint can hold."""

from dataclasses import dataclass, fields, replace
from typing import Any, Self

from gpgc.errors import InputError

PRECISIONS = ("float32", "bfloat16")


@dataclass(frozen=True)
class Schedule:
    """The steps of one training run.

    The run has two phases. The *warm-up* takes batches of labelled images and minimises the
    cross-entropy; the *adversarial* phase adds, on batches drawn from all images, the virtual
    adversarial loss and the entropy, whose weight grows linearly from 0 to 1 over ``ramp`` steps.
    The first ``small`` steps see images of half the width and height, at a quarter of the cost:
    the network is convolutional up to its global pooling, so the same weights take both sizes. A
    change of size unsettles it (on MNIST the validation accuracy was still six points lower forty
    steps later), so the full size wants hundreds of steps or none; features are computed at the
    size at which the best network was validated. The learning rate is
    constant and falls linearly to zero over the last ``decay`` steps.

    Parameters
    ----------
    steps, warm_up, ramp, small, decay : int
        Number of steps in all, of the warm-up, of the ramp, at half size, of the decay.
    warm_up_batch, labelled_batch, unlabelled_batch : int
        Images of a step: labelled ones in the warm-up; labelled and unlabelled ones after it.
    learning_rate : float
        Adam's step size before the decay.
    epsilon : float
        Norm of the adversarial perturbation of a whole image of standardised pixels; for images of
        half the size it is halved, so that the change per pixel stays the same.
    shift : int
        Augmentation: each image moves by up to this many pixels in both directions,
    rotation : float
        turns by up to this many degrees,
    zoom : float
        is scaled by a factor between ``1 - zoom`` and ``1 + zoom``,
    flip : bool
        and is mirrored with probability ½.
    validate_every : int
        Steps between two looks at the validation accuracy, which chooses the checkpoint.
    precision : {"float32", "bfloat16"}
        Arithmetic of the convolutions.
    seed : int
        Seed of the weights, batches, augmentation, dropout and perturbations.

    Examples
    --------
    >>> schedule = Schedule(steps=900, warm_up=300, ramp=150, small=600, decay=300)
    >>> [schedule.adversarial_weight(step) for step in (299, 300, 375, 450)]
    [0.0, 0.0, 0.5, 1.0]
    >>> [schedule.learning_rate_at(step) for step in (0, 600, 750, 900)]
    [0.001, 0.001, 0.0005, 0.0]
    """

    steps: int
    warm_up: int
    ramp: int
    small: int
    decay: int
    warm_up_batch: int = 64
    labelled_batch: int = 32
    unlabelled_batch: int = 128
    learning_rate: float = 1e-3
    epsilon: float = 2.5
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
        for name in ("steps", "warm_up_batch", "labelled_batch", "unlabelled_batch"):
            self._demand(name, at_least=1)
        for name in ("warm_up", "ramp", "small", "decay", "shift", "rotation", "seed"):
            self._demand(name, at_least=0)
        self._demand("validate_every", at_least=1)
        if not (self.learning_rate > 0 and self.epsilon > 0 and 0 <= self.zoom < 1):
            raise InputError(
                "learning_rate and epsilon must be positive and zoom in [0, 1), got "
                f"{self.learning_rate}, {self.epsilon} and {self.zoom}"
            )
        if max(self.warm_up, self.small, self.decay) > self.steps:
            raise InputError(
                f"warm_up, small and decay must be at most steps = {self.steps}, got "
                f"{self.warm_up}, {self.small} and {self.decay}"
            )

    def _demand(self, name: str, at_least: int) -> None:
        if getattr(self, name) < at_least:
            raise InputError(f"{name} must be at least {at_least}, got {getattr(self, name)}")

    def adversarial_weight(self, step: int) -> float:
        """Weight of the adversarial loss and the entropy at a step, from 0 to 1."""
        if step < self.warm_up:
            return 0.0
        return min(1.0, (step - self.warm_up) / self.ramp) if self.ramp else 1.0

    def learning_rate_at(self, step: int) -> float:
        """Adam's step size at a step."""
        remaining = self.steps - step
        return self.learning_rate * (min(1.0, remaining / self.decay) if self.decay else 1.0)

    def side(self, step: int, full: int) -> int:
        """Height and width at a step of images that are ``full`` pixels high and wide."""
        return full // 2 if step < self.small else full

    def work(self, step: int) -> float:
        """Cost of a step, in forward and backward passes of one image of full size.

        An unlabelled image costs 8/3 passes: its own, that of its perturbed copy, and a pass
        without gradients of the weights to find the perturbation.
        """
        images = (
            self.warm_up_batch
            if step < self.warm_up
            else self.labelled_batch + self.unlabelled_batch * 8 / 3
        )
        return images / 4 if step < self.small else float(images)

    def total_work(self, start: int = 0) -> float:
        """Cost of the steps from ``start`` to the end, in the unit of :meth:`work`."""
        return sum(self.work(step) for step in range(start, self.steps))

    def with_steps(self, steps: int) -> Self:
        """Return the same schedule stretched or shortened to a number of steps.

        Examples
        --------
        >>> Schedule(steps=900, warm_up=300, ramp=150, small=600, decay=300).with_steps(90).warm_up
        30
        """
        if steps < 1:
            raise InputError(f"steps must be at least 1, got {steps}")
        parts = {
            name: round(getattr(self, name) * steps / self.steps)
            for name in ("warm_up", "ramp", "small", "decay")
        }
        return replace(self, steps=steps, **parts)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Rebuild a schedule from ``dataclasses.asdict`` of one."""
        expected = {field.name for field in fields(cls)}
        if set(values) != expected:
            raise InputError(f"a schedule has the fields {sorted(expected)}, got {sorted(values)}")
        return cls(**values)


PAPER = Schedule(steps=120 * 400, warm_up=0, ramp=0, small=0, decay=40 * 400, validate_every=400)
"""The schedule of the paper: for a graphics processor, or for days."""

BRIEF = {
    "mnist": Schedule(
        steps=1600,
        warm_up=400,
        ramp=100,
        small=1600,
        decay=550,
        unlabelled_batch=64,
        epsilon=3.0,
        rotation=10.0,
        zoom=0.1,
    ),
    "svhn": Schedule(
        steps=1400,
        warm_up=700,
        ramp=150,
        small=1400,
        decay=400,
        unlabelled_batch=64,
        epsilon=2.5,
        rotation=5.0,
        zoom=0.1,
    ),
    "cifar10": Schedule(
        steps=1900,
        warm_up=1000,
        ramp=200,
        small=1900,
        decay=600,
        unlabelled_batch=64,
        epsilon=8.0,
        zoom=0.1,
        flip=True,
    ),
}
"""Schedules for about an hour of one core; stretch them with ``with_steps``."""
