"""Tasks on a cluster: pure functions of blocks, never bound to a worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from distributed import Client, as_completed, default_client, wait

from dask import delayed
from gpgc.errors import InputError

WORKER_SECONDS = 30
"""How long a cluster may be without any worker while something waits for it."""

LOOK_SECONDS = 1.0
"""How often those who wait look whether there are workers."""

FILE_SECONDS = 0.05
"""How often those who wait for one result after the other look for the next."""


def task(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the call of a function as a task that has not run.

    The scheduler may run it on any worker, and again on another one if that worker dies.
    """
    return delayed(function, pure=False, traverse=False)(*arguments)


def tree(add: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    """Return the sum of parts by a fixed binary tree, so that its bits never change.

    Examples
    --------
    >>> tree(lambda a, b: a + b, [1, 2, 3]).compute()
    6
    """
    level = list(parts)
    while len(level) > 1:
        pairs = [task(add, *level[at : at + 2]) for at in range(0, len(level) - 1, 2)]
        level = pairs + level[2 * len(pairs) :]
    return level[0]


class Cluster:
    """What is kept on a cluster, and what is fetched from it.

    Parameters
    ----------
    client : distributed.Client
        The connection.
    """

    def __init__(self, client: Client) -> None:
        self.client = client

    def keep(self, tasks: Iterable[Any]) -> list[Any]:
        """Start tasks whose results stay on the cluster for as long as they are referred to."""
        wanted = list(tasks)
        return list(self.client.persist(wanted, optimize_graph=False)) if wanted else []

    def finish(self, tasks: Iterable[Any]) -> list[Any]:
        """Start tasks, and return them when all are done; the error of one that fails is raised."""
        kept = self.keep(tasks)
        futures = [future for one in kept for future in one.dask.values()]
        self._wait(futures)
        for future in futures:
            if future.status == "error":
                future.result()
        return kept

    def fetch(self, tasks: Iterable[Any]) -> list[Any]:
        """Return the results of tasks in this process."""
        futures = self.client.compute(list(tasks), optimize_graph=False)
        self._wait(futures)
        return list(self.client.gather(futures))

    def fetch_one(self, wanted: Any) -> Any:
        """Return the result of one task in this process."""
        return self.fetch([wanted])[0]

    def completed(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Start tasks, and give the result of one after the other as they are done."""
        patience, waiting = Patience(self.client), as_completed(self.client.compute(list(tasks)))
        while not waiting.is_empty():
            done = list(waiting.next_batch(block=False))
            if not done:
                time.sleep(FILE_SECONDS)
                patience.check()
            for future in done:
                yield future.result()

    def _wait(self, futures: Sequence[Any]) -> None:
        """Return when all are done, failed ones too; refuse where there is nobody to do them."""
        patience = Patience(self.client)
        while futures:
            try:
                wait(futures, timeout=min(LOOK_SECONDS, WORKER_SECONDS))
                return
            except TimeoutError:
                patience.check()


class Patience:
    """Waits for workers for ``WORKER_SECONDS``, each time anew when there was one.

    Parameters
    ----------
    client : distributed.Client
        The connection.
    """

    def __init__(self, client: Client) -> None:
        self._client, now = client, time.monotonic()
        self._seen = self._looked = now

    def check(self) -> None:
        """Raise where no worker was there for too long."""
        now = time.monotonic()
        if now - self._looked < min(LOOK_SECONDS, WORKER_SECONDS) / 2:
            return
        self._looked = now
        if self._client.nthreads():
            self._seen = now
        elif now - self._seen >= WORKER_SECONDS:
            raise InputError(
                f"client must be of a cluster with workers, got none for {WORKER_SECONDS} s: "
                "start some (cluster.scale(2), or dask worker ADDRESS), then fit again"
            )


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
