"""How arithmetic is done: dtype, threads, memory, innermost loops. Knows no kernels."""

from gpgc.compute.context import Context
from gpgc.compute.native import is_forked, one_blas_thread, openmp_threads, small_matrices
from gpgc.compute.runner import Threads, split

__all__ = [
    "Context",
    "Threads",
    "is_forked",
    "one_blas_thread",
    "openmp_threads",
    "small_matrices",
    "split",
]
