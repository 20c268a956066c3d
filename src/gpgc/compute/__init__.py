"""How arithmetic is done: dtype, threads, memory, innermost loops. Knows no kernels."""

from gpgc.compute.blas import one_blas_thread, small_matrices
from gpgc.compute.context import Context
from gpgc.compute.memory import Memory
from gpgc.compute.openmp import is_forked, openmp_threads
from gpgc.compute.runner import Runner, Serial, Threads, split

__all__ = [
    "Context",
    "Memory",
    "Runner",
    "Serial",
    "Threads",
    "is_forked",
    "one_blas_thread",
    "openmp_threads",
    "small_matrices",
    "split",
]
