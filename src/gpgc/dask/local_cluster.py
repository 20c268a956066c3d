"""Worker processes on this machine, for data that do not fit in memory."""

from __future__ import annotations

from typing import Any

from dask.system import CPU_COUNT
from distributed import LocalCluster

import dask

ENVIRONMENT = {
    "MALLOC_MMAP_THRESHOLD_": 2**25,
    "MALLOC_TRIM_THRESHOLD_": 2**27,
    "OMP_NUM_THREADS": 1,
    "MKL_NUM_THREADS": 1,
    "OPENBLAS_NUM_THREADS": 1,
}
"""Of workers: the memory of a tile is used again for the next one. By default Dask gives it back to
the system after every array of 128 KiB and more, and fresh pages cost as much as the products."""


def local_cluster(
    workers: int = 1,
    threads: int | None = None,
    memory_limit: int | None = None,
    folder: str | None = None,
) -> Any:
    """Start worker processes that listen on the loopback interface alone, without a dashboard.

    Parameters
    ----------
    workers : int, default 1
        How many processes.
    threads : int, optional
        Threads of each; the cores are shared when not given.
    memory_limit : int, optional
        Bytes of all workers together, beyond which results go to disk; the machine's memory when
        not given.
    folder : str, optional
        Where results go to; a temporary folder when not given.

    Returns
    -------
    distributed.LocalCluster
    """
    with dask.config.set({"distributed.nanny.pre-spawn-environ": ENVIRONMENT}):
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=threads or max(1, CPU_COUNT // workers),
            processes=True,
            memory_limit="auto" if memory_limit is None else memory_limit // workers,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0", "dashboard": False},
            local_directory=folder,
        )
