"""How the arithmetic is run: rows cut into tiles, tiles run in threads, memory kept in bounds."""

from gpgc.engine.blas import small_matrices
from gpgc.engine.tiles import Engine

__all__ = ["Engine", "small_matrices"]
