"""Random changes of an image that leave its class as it is, as plain numbers."""

from dataclasses import dataclass, replace
from typing import Self

from gpgc.errors import InputError


@dataclass(frozen=True)
class Augmentation:
    """Bounds of the random changes; every image of a batch draws its own.

    Parameters
    ----------
    shift : int, default 0
        Pixels by which an image moves at most, in both directions. What comes in from outside is
        the image's reflection.
    rotation : float, default 0
        Degrees by which it turns at most.
    zoom : float, default 0
        It is scaled by a factor between ``1 - zoom`` and ``1 + zoom``.
    flip : bool, default False
        Whether it is mirrored with probability ½.
    cutout : int, default 0
        Side in pixels of the square that is set to the mean colour.
    colour : float, default 0
        In units of the pixels' standard deviation: brightness changes by up to ``colour``, each
        channel by up to half of it, and contrast by a factor between ``1 - colour`` and
        ``1 + colour``.

    Examples
    --------
    >>> Augmentation(shift=4, rotation=10.0, cutout=16, flip=True).weak()
    Augmentation(shift=4, rotation=0.0, zoom=0.0, flip=True, cutout=0, colour=0.0)
    """

    shift: int = 0
    rotation: float = 0.0
    zoom: float = 0.0
    flip: bool = False
    cutout: int = 0
    colour: float = 0.0

    def __post_init__(self) -> None:
        for name in ("shift", "rotation", "cutout"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} must be at least 0, got {getattr(self, name)}")
        for name in ("zoom", "colour"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} must be in [0, 1), got {getattr(self, name)}")

    def weak(self) -> Self:
        """Return the shift and the mirroring alone."""
        return replace(self, rotation=0.0, zoom=0.0, cutout=0, colour=0.0)
