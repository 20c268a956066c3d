"""Which random items are mixed in, and which close a session: settled by a seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpgc.errors import InputError
from gpgc.labelling.estimate import is_audit
from gpgc.labelling.ledger import Ledger

RESERVED = 8
"""Next audit items, which are never suggested."""


class AuditOrder:
    """Two seeded orders of all nodes: one for audit items, one for the closing audit.

    Parameters
    ----------
    ids : sequence of str
        The nodes.
    seed : int
        Of the orders.

    Examples
    --------
    >>> audits = AuditOrder([f"n{node}" for node in range(100)], seed=0)
    >>> len(audits.window(Ledger())), len(audits.draw_closing(Ledger(), 30))
    (5, 30)
    """

    def __init__(self, ids: Sequence[str], seed: int) -> None:
        self._ids, self._seed = ids, seed
        self.order = np.random.default_rng([seed, 1]).permutation(len(ids))
        self._closing_order = np.random.default_rng([seed, 2]).permutation(len(ids))

    def window(self, ledger: Ledger, times: int = 1) -> list[int]:
        """Return the next audit items: the first of the order that nobody has decided.

        With ``times``, so many times as many, among which nobody can tell the next ones.
        """
        decided, window = ledger.decided, []
        size = times * min(RESERVED, 1 + len(self._ids) // 25)
        for node in self.order:
            if self._ids[node] not in decided:
                window.append(int(node))
                if len(window) == size:
                    break
        return window

    def is_due(self, ledger: Ledger, on_desks: int) -> bool:
        """Return whether the next item is an audit item, with so many shown but undecided."""
        roles = [*(given.role for given in ledger.labels.values()), *ledger.skipped.values()]
        decided = sum(role in ("suggested", "audit") for role in roles)
        return is_audit(decided + on_desks, self._seed)

    def draw_closing(self, ledger: Ledger, n: Any) -> list[str]:
        """Return n nodes that nobody has decided, for a closing audit."""
        if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= 10_000:
            raise InputError(f"n must be a whole number from 1 to 10,000, got {n!r:.40}")
        decided = ledger.decided
        order = (self._ids[node] for node in self._closing_order)
        fresh = [name for name in order if name not in decided][:n]
        if not fresh:
            raise InputError("a closing audit needs nodes without a label, got none")
        return fresh
