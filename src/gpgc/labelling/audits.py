"""Which random items are mixed in, and which close a session: settled by a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpgc.errors import InputError
from gpgc.labelling.estimate import FOR_PROOF, MANY, OFTEN, SELDOM, audits_needed, is_audit
from gpgc.labelling.ledger import Ledger

RESERVED = 8
"""Next audit items, which are never suggested."""


class AuditOrder:
    """Two seeded orders of all nodes: one for audit items, one for the closing audit."""

    def __init__(self, ids: Sequence[str], seed: int) -> None:
        self._ids, self._seed = ids, seed
        self.order = np.random.default_rng([seed, 1]).permutation(len(ids))
        self._shared = np.random.default_rng([seed, 4]).random(len(ids))
        self._closing_order = np.random.default_rng([seed, 2]).permutation(len(ids))

    def window(self, ledger: Ledger, times: int = 1) -> list[int]:
        """Return the next audit items: the first of the order that nobody has decided."""
        decided, window = ledger.decided, []
        size = times * min(RESERVED, 1 + len(self._ids) // 25)
        for node in self.order:
            if self._ids[node] not in decided:
                window.append(int(node))
                if len(window) == size:
                    break
        return window

    def is_shared(self, node: int, overlap: float) -> bool:
        """Return whether a node, as an audit item, is among the share that two people answer."""
        return bool(self._shared[node] < overlap)

    def is_due(self, ledger: Ledger, on_desks: int, is_accurate: bool = False) -> bool:
        """Return whether the next item is an audit item, with so many shown but undecided."""
        counts = Counter(given.role for given in ledger.labels.values())
        counts.update(ledger.skipped.values())
        position = counts["suggested"] + counts["audit"] + on_desks
        if ledger.goal is None:
            # those that were answered while the model was built are not asked for again
            usual = min(position, OFTEN * MANY) / OFTEN + max(0, position - OFTEN * MANY) / SELDOM
            return counts["audit"] <= usual + 1 and is_audit(position, self._seed)
        is_enough = counts["audit"] >= audits_needed(ledger.goal)
        every = SELDOM if is_enough else FOR_PROOF if is_accurate else OFTEN
        return is_audit(position, self._seed, every)

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
