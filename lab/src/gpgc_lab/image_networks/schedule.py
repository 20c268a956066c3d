"""Virtual adversarial training, step by step."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from gpgc.errors import InputError
from gpgc_lab.image_networks.base_schedule import BaseSchedule


@dataclass(frozen=True, kw_only=True)
class Schedule(BaseSchedule):
    """The steps of one training run with the virtual adversarial loss.

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
    steps, decay, network, learning_rate, shift, rotation, zoom, flip, validate_every, precision, \
seed
        See :class:`~gpgc_lab.image_networks.base_schedule.BaseSchedule`; the optimiser is Adam.
    warm_up, ramp, small : int
        Number of steps of the warm-up, of the ramp, and at half size.
    warm_up_batch, labelled_batch, unlabelled_batch : int, default 64, 32 and 128
        Images of a step: labelled ones in the warm-up; labelled and unlabelled ones after it.
    epsilon : float, default 2.5
        Norm of the adversarial perturbation of a whole image of standardised pixels; for images of
        half the size it is halved, so that the change per pixel stays the same.

    Examples
    --------
    >>> schedule = Schedule(steps=900, warm_up=300, ramp=150, small=600, decay=300)
    >>> [schedule.adversarial_weight(step) for step in (299, 300, 375, 450)]
    [0.0, 0.0, 0.5, 1.0]
    >>> [schedule.learning_rate_at(step) for step in (0, 600, 750, 900)]
    [0.001, 0.001, 0.0005, 0.0]
    """

    method: ClassVar[str] = "virtual adversarial training"
    parts: ClassVar[tuple[str, ...]] = ("warm_up", "ramp", "small", "decay")

    warm_up: int
    ramp: int
    small: int
    network: str = "conv-large"
    learning_rate: float = 1e-3
    warm_up_batch: int = 64
    labelled_batch: int = 32
    unlabelled_batch: int = 128
    epsilon: float = 2.5

    def __post_init__(self) -> None:
        super().__post_init__()
        self.demand(1, "warm_up_batch", "labelled_batch", "unlabelled_batch")
        if not self.epsilon > 0:
            raise InputError(f"epsilon must be positive, got {self.epsilon}")

    def adversarial_weight(self, step: int) -> float:
        """Weight of the adversarial loss and the entropy at a step, from 0 to 1."""
        if step < self.warm_up:
            return 0.0
        return min(1.0, (step - self.warm_up) / self.ramp) if self.ramp else 1.0

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

    def timed(self, images: int) -> Self:
        """Return a schedule whose every step is adversarial, with few images of full size."""
        return replace(self, warm_up=0, ramp=0, small=0, labelled_batch=8, unlabelled_batch=images)


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
