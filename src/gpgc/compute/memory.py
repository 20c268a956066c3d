"""How much memory the work may take."""

from __future__ import annotations

from dataclasses import dataclass

from gpgc.errors import InputError
from gpgc.files import physical_memory


@dataclass(frozen=True)
class Memory:
    """A limit on the memory that the work takes beside its input.

    Parameters
    ----------
    limit : int, optional
        Bytes. Buffers and tiles are cut to it; what cannot be cut is refused. None (the default)
        stands for the memory that the machine has.

    Examples
    --------
    >>> Memory(2**20).budget(2**20, n_threads=2)
    65536
    """

    limit: int | None = None

    def __post_init__(self) -> None:
        if self.limit is not None and not self.limit > 0:
            raise InputError(
                f"memory_limit must be None or a positive number of bytes, got {self.limit!r}"
            )

    def require(self, needed: int, what: str) -> None:
        """Refuse work whose arrays cannot fit, before any of it is done."""
        limit = self.limit or physical_memory()
        if needed > limit:
            raise InputError(
                f"memory_limit is {limit / 2**20:,.0f} MiB, but {what} alone needs "
                f"{needed / 2**20:,.0f} MiB"
            )

    def fits(self, needed: int) -> bool:
        """Tell whether arrays of so many bytes fit."""
        return needed <= (self.limit or physical_memory())

    def budget(self, wanted: int, n_threads: int) -> int:
        """Return the size of a buffer: what is wanted, cut to a thread's part of the limit."""
        if self.limit is None:
            return wanted
        return max(2**14, min(wanted, self.limit // (8 * n_threads)))

    def whole(self, wanted: int) -> int:
        """Return the size of a buffer of which there is one at a time, not one in each thread."""
        return wanted if self.limit is None else min(wanted, self.limit // 4)
