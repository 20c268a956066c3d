"""How the arithmetic is run: rows cut into tiles, tiles run in threads, memory kept in bounds."""

from gpgc.engine.tiles import Engine, small_matrices

__all__ = ["Engine", "small_matrices"]
