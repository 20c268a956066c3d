"""Tasks on a cluster: pure functions of blocks, never bound to a worker."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

from dask.delayed import Delayed, delayed
from dask.system import CPU_COUNT
from distributed import Client, LocalCluster, default_client, wait
from distributed.scheduler import KilledWorker, Scheduler

import dask
from gpgc.compute.progress import announce, duration
from gpgc.errors import InputError

WORKER_SECONDS = 30
"""How long a cluster may be without any worker while something waits for it."""

LOOK_SECONDS = 1.0
"""How often those who wait look whether there are workers, and say how far these are."""

NOBODY = (
    "client must be of a cluster with workers that are running, got none for {} s: start some "
    "(cluster.scale(2), or dask worker ADDRESS), or give them more memory, then fit again"
)

DIED = (
    "client must be of a cluster whose workers have memory for a block of X, got {} that died one "
    "after the other: give them more (--memory-limit), or cut X into smaller blocks"
)

SETTINGS = {"distributed.admin.large-graph-warning-threshold": "4GiB"}
"""Dask does not warn of large tasks: what a fit knows is part of one."""

ENVIRONMENT = {
    "MALLOC_MMAP_THRESHOLD_": 2**25,
    "MALLOC_TRIM_THRESHOLD_": 2**27,
    "OMP_NUM_THREADS": 1,
    "MKL_NUM_THREADS": 1,
    "OPENBLAS_NUM_THREADS": 1,
    "DASK_LOGGING__DISTRIBUTED": "critical",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
}
"""Of workers: the memory of a tile is used again for the next one. By default Dask gives it back to
the system after every array of 128 KiB and more, and fresh pages cost as much as the products.
What goes wrong in a task is said once, here, and not in the log of its worker too; and nobody looks
at the profile for which Dask stops every task a hundred times a second."""

PRELOAD = "from signal import SIG_IGN, SIGINT, signal; signal(SIGINT, SIG_IGN)"
"""Run by workers: Ctrl-C in a terminal is sent to them too, but this process ends them."""


def local_cluster(
    workers: int = 1,
    threads: int | None = None,
    memory_limit: int | None = None,
    folder: str | None = None,
) -> Any:
    """Start worker processes on the loopback interface alone, with a limit in bytes for all."""
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
            preload=[PRELOAD],
        )


class Slot(NamedTuple):
    """The place of a task's argument that is the result of another task."""

    number: int


def task(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return a call as a task that any worker may run, and again where one dies.

    Results inside of lists and dictionaries become arguments: others would be let go before it.
    """
    results: list[Any] = []

    def with_slots(value: Any) -> Any:
        if not isinstance(value, Delayed):
            return _mapped(value, with_slots)
        results.append(value)
        return Slot(len(results) - 1)

    known, name = with_slots(arguments), f"{function.__name__}-{RUN}-{next(NUMBER)}"
    return CALL(function, known, *results, dask_key_name=name)


def call(function: Callable[..., Any], known: Any, *results: Any) -> Any:
    """Return the result of a function, some of whose arguments are results of others."""

    def filled(value: Any) -> Any:
        return results[value.number] if isinstance(value, Slot) else _mapped(value, filled)

    return function(*filled(known))


CALL, RUN, NUMBER = delayed(call, pure=False, traverse=False), uuid4().hex, itertools.count()
"""The call as Dask knows it; names of tasks are those of this process, and numbered."""


def _mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: function(part) for key, part in value.items()}
    if not isinstance(value, list | tuple):
        return value
    parts = [function(part) for part in value]
    return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)


def tree(add: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    """Return the sum of parts by a fixed binary tree, so that its bits never change."""
    level = list(parts)
    while len(level) > 1:
        pairs = [task(add, *level[at : at + 2]) for at in range(0, len(level) - 1, 2)]
        level = pairs + level[2 * len(pairs) :]
    return level[0]


class Cluster:
    """What is kept on the cluster of a client, and what is fetched from it."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def keep(self, tasks: Iterable[Any]) -> list[Any]:
        """Start tasks whose results stay on the cluster for as long as they are referred to."""
        wanted = list(tasks)
        with dask.config.set(SETTINGS):
            return list(self.client.persist(wanted, optimize_graph=False)) if wanted else []

    def finish(self, tasks: Iterable[Any], what: str) -> list[Any]:
        """Start tasks, and return them when all are done; the error of one that fails is raised."""
        kept = self.keep(tasks)
        futures = [future for one in kept for future in one.dask.values()]
        self._wait(futures, what)
        self._gathered([future for future in futures if future.status == "error"])
        return kept

    def fetch(self, tasks: Iterable[Any], what: str = "") -> list[Any]:
        """Return the results of tasks in this process."""
        futures = self.client.compute(list(tasks), optimize_graph=False)
        self._wait(futures, what)
        return self._gathered(futures)

    def _gathered(self, futures: Sequence[Any]) -> list[Any]:
        try:
            return list(self.client.gather(futures))
        except KilledWorker as error:
            raise InputError(DIED.format(error.allowed_failures + 1)) from error

    def _wait(self, futures: Sequence[Any], what: str) -> None:
        """Return when all are done, failed ones too, as long as workers may begin tasks."""
        start = seen = time.monotonic()
        while futures:
            try:
                wait(futures, timeout=min(LOOK_SECONDS, WORKER_SECONDS))
                return
            except TimeoutError:
                n_done, now = sum(future.done() for future in futures), time.monotonic()
                if what and n_done:
                    left = duration((now - start) / n_done * (len(futures) - n_done))
                    announce(f"{what}, {n_done} of {len(futures)} blocks, about {left} left")
                seen = now if self.client.run_on_scheduler(n_running) else seen
                if now - seen >= WORKER_SECONDS:
                    raise InputError(NOBODY.format(WORKER_SECONDS)) from None
            except KeyboardInterrupt:
                self.client.cancel(list(futures))
                raise


def n_running(dask_scheduler: Scheduler) -> int:
    """Return how many workers may begin tasks, or run some."""
    workers = dask_scheduler.workers.values()
    return sum(one in dask_scheduler.running or bool(one.executing) for one in workers)


def cluster_of(client: Any) -> Cluster:
    """Return the cluster of a client; of the current one where None is given."""
    if client is None:
        try:
            client = default_client()
        except ValueError as error:
            raise InputError(
                "client must be a distributed.Client, or one must be connected, got None and no "
                "connection: client = distributed.Client(address), or Client() for this machine"
            ) from error
    if not isinstance(client, Client) or client.asynchronous:
        raise InputError(
            f"client must be a distributed.Client that is not asynchronous, got {client!r}"
        )
    return Cluster(client)
