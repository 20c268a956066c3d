"""The closing audit: a frozen model, fresh random nodes, an exact interval."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpgc.probability.fraction import exact_interval

if TYPE_CHECKING:
    from gpgc.labelling.session import Session


class Certificate:
    """What the closing audit measures: the model on all labels given before it began.

    Parameters
    ----------
    session : Session
        Whose ledger says when the audit began and what was answered.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._frozen: tuple[tuple[str, ...], Future[NDArray[Any]]] | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="gpgc-certificate")

    def freeze(self) -> None:
        """Fit the model that is audited, in the background, if an audit is on."""
        closing, ledger = self._session.ledger.closing, self._session.ledger
        if not closing:
            self._frozen = None
        elif self._frozen is None or self._frozen[0] != closing:
            known = {
                self._session.index[name]: given.label
                for name, given in ledger.labels.items()
                if name not in set(closing)
            }
            self._frozen = closing, self._pool.submit(self._predict, known)

    def result(self) -> dict[str, Any] | None:
        """Return hits, answers, skips and interval so far; None without an audit or its model."""
        self.freeze()
        if self._frozen is None or not self._frozen[1].done():
            return None
        predicted, ledger = self._frozen[1].result(), self._session.ledger
        answered = {n: ledger.labels[n].label for n in self._frozen[0] if n in ledger.labels}
        hits = sum(predicted[self._session.index[n]] == label for n, label in answered.items())
        skipped = sum(name in ledger.skipped for name in self._frozen[0])
        return {
            "right": int(hits),
            "answered": len(answered),
            "skipped": skipped,
            "of": len(self._frozen[0]),
            **exact_interval(int(hits), len(answered)).as_dict(),
        }

    def wait(self) -> dict[str, Any] | None:
        """Return the result once the model is there."""
        self.freeze()
        if self._frozen is not None:
            self._frozen[1].result()
        return self.result()

    def _predict(self, known: dict[int, str]) -> NDArray[Any]:
        n_nodes = len(self._session.ids)
        if not known:
            return np.full(n_nodes, None, dtype=object)
        predicted = self._session.live.fit(known).result().predict()
        self._session.announce("estimate")
        return np.asarray(predicted)
