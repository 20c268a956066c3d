"""How the arithmetic is run: rows cut into tiles, tiles run in threads, memory kept in bounds."""

from gpgc.engine.blas import small_matrices
from gpgc.engine.openmp import is_forked, safe_after_fork
from gpgc.engine.tiles import Engine

__all__ = ["Engine", "is_forked", "safe_after_fork", "small_matrices"]
