"""Training on labels that the average of the network's own weights gives to unlabelled images."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from gpgc.errors import InputError
from gpgc_lab.image_networks.augmentation import Augmentation
from gpgc_lab.image_networks.base_schedule import BaseSchedule


@dataclass(frozen=True, kw_only=True)
class PseudoLabelSchedule(BaseSchedule):
    """The steps of one training run with pseudo-labels.

    The first ``warm_up`` steps take ``labelled_batch`` labelled images each and minimise the
    cross-entropy. Afterwards each step adds ``unlabelled_batch`` images drawn from all: the average
    of the weights over past steps sees a weakly changed copy (shifted and mirrored), and where it
    is surer than ``threshold`` its answer is the label of a strongly changed copy. Before that its
    probabilities are multiplied by (class frequency among the labels) / (its own mean answer) and
    normalised, so that easy classes do not take over. The averaged weights are those that are
    validated and that give the features.

    Parameters
    ----------
    steps, decay, network, learning_rate, shift, rotation, zoom, flip, validate_every, precision, \
seed
        See :class:`~gpgc_lab.image_networks.base_schedule.BaseSchedule`.
    warm_up : int
        Steps on labelled images alone.
    labelled_batch, unlabelled_batch : int, default 100
        Images of a step.
    threshold : float, default 0.7
        Probability above which an answer becomes a label.
    average : float, default 0.99
        Weight of the past in the average of the weights.
    momentum, weight_decay : float, default 0.85 and 5e-4
        Of stochastic gradient descent with Nesterov's momentum.
    smoothing : float, default 0.1
        Probability mass that the labelled images' targets give to all classes alike.
    cutout, colour
        Of the strong change, see :class:`~gpgc_lab.image_networks.augmentation.Augmentation`.

    Examples
    --------
    >>> schedule = PseudoLabelSchedule(steps=1200, warm_up=300, decay=600)
    >>> schedule.with_steps(120).warm_up
    30
    >>> [round(schedule.work(step)) for step in (0, 300)]
    [100, 233]

    References
    ----------
    Sohn et al., *FixMatch*; Berthelot et al., *ReMixMatch* (2020), distribution alignment.
    """

    method: ClassVar[str] = "pseudo-labels"
    parts: ClassVar[tuple[str, ...]] = ("warm_up", "decay")

    warm_up: int
    network: str = "compact"
    learning_rate: float = 0.08
    labelled_batch: int = 100
    unlabelled_batch: int = 100
    threshold: float = 0.7
    average: float = 0.99
    momentum: float = 0.85
    weight_decay: float = 5e-4
    smoothing: float = 0.1
    shift: int = 4
    cutout: int = 16
    colour: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        self.demand(1, "labelled_batch", "unlabelled_batch")
        for name in ("threshold", "average", "momentum", "weight_decay", "smoothing"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} must be in [0, 1), got {getattr(self, name)}")

    @property
    def augmentation(self) -> Augmentation:
        """How images are changed strongly."""
        return replace(super().augmentation, cutout=self.cutout, colour=self.colour)

    @property
    def mirror_answers(self) -> bool:
        """Whether features and answers are means over an image and its mirror image."""
        return self.flip

    def work(self, step: int) -> float:
        """Cost of a step, in passes of one image; a look without gradients is a third of one."""
        unlabelled = 0 if step < self.warm_up else self.unlabelled_batch
        return self.labelled_batch + unlabelled * 4 / 3

    def timed(self, images: int) -> Self:
        """Return a schedule whose every step has labelled and unlabelled images, but few."""
        return replace(self, warm_up=0, labelled_batch=images, unlabelled_batch=images)


COMPACT = {
    "mnist": PseudoLabelSchedule(
        steps=1000, warm_up=250, decay=500, shift=2, rotation=12.0, zoom=0.1, cutout=8
    ),
    "svhn": PseudoLabelSchedule(
        steps=1200,
        warm_up=300,
        decay=600,
        rotation=5.0,
        zoom=0.1,
        cutout=8,
        labelled_batch=64,
        unlabelled_batch=128,
    ),
    "cifar10": PseudoLabelSchedule(
        steps=2400,
        warm_up=300,
        decay=1200,
        flip=True,
        labelled_batch=64,
        unlabelled_batch=128,
    ),
}
"""Schedules for about an hour of one core in all; stretch them with ``with_steps``.

Turning and scaling interpolate pixels: plain images, as in validation, are sharper than the images
of training. CIFAR-10 does without: in the one run that changed over, at step 952 and with a higher
rate and fewer unlabelled images, validation accuracy rose from 65 to 68 % within 50 steps.
"""
