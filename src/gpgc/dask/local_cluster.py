"""Worker processes on this machine, for data that do not fit in memory."""

from __future__ import annotations

from typing import Any

from dask.system import CPU_COUNT
from distributed import LocalCluster


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
