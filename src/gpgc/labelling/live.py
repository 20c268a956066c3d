"""The model behind a labelling session: one thread owns it and keeps it up with the labels."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from gpgc.errors import DataError
from gpgc.estimators import GPGCClassifier
from gpgc.labelling.label_posterior import LabelPosterior
from gpgc.labelling.labelling import Labelling
from gpgc.labelling.opinion import NOTHING, Opinion, recode, strongest

QUEUE = 6
"""Suggestions that are kept ready, so that a person never waits for the model."""


class LiveModel:
    """A :class:`gpgc.Labelling` that follows the wanted labels in a thread of its own."""

    def __init__(
        self, build: Callable[[], Labelling], n_nodes: int, publish: Callable[[str], None]
    ) -> None:
        self._build, self._n_nodes, self._publish = build, n_nodes, publish
        self._changed = threading.Condition()
        self._wanted: tuple[dict[int, str], frozenset[int], tuple[int, ...]] | None = None
        self.is_stopping = self.is_exhausted = self.is_ready = False
        self._is_busy = True
        self._chosen: LabelPosterior | None = None
        self._is_choosing = False
        self._background = ThreadPoolExecutor(1, thread_name_prefix="gpgc-choice")
        self._ready = threading.Event()
        self._pending: tuple[int, ...] = ()
        self.labelling: Labelling | None = None
        self.failure: BaseException | None = None
        self.queue: list[int] = []
        self.opinion = Opinion(
            0,
            0,
            (),
            np.full(n_nodes, NOTHING, dtype=np.uint8),
            np.zeros(n_nodes, dtype=np.uint8),
            None,
            np.empty((0, 0)),
        )
        self._thread = threading.Thread(target=self._run, name="gpgc-labelling", daemon=True)

    def start(self) -> None:
        """Begin to build the model, in the thread."""
        self._thread.start()

    def want(self, labels: dict[int, str], excluded: Iterable[int], pending: Iterable[int]) -> None:
        """Say what the model shall learn from, never suggest, and take as labelled soon."""
        with self._changed:
            self._wanted = (labels, frozenset(excluded), tuple(pending))
            self._changed.notify_all()

    def take(self, taken: Callable[[int], bool], timeout: float) -> int | None:
        """Return the best suggestion that is not taken, waiting for one if need be."""
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    self.is_stopping
                    or self.failure is not None
                    or self.is_exhausted
                    or any(not taken(node) for node in self.queue)
                ),
                timeout,
            )
            free = [node for node in self.queue if not taken(node)]
            if not free:
                return None
            self.queue.remove(free[0])
            return free[0]

    def settle(self, timeout: float = 60.0) -> bool:
        """Wait until the model has done all that is wanted; returns whether it has."""
        with self._changed:
            return bool(
                self._changed.wait_for(
                    lambda: (
                        self.failure is not None
                        or self.is_stopping
                        or not (self._is_busy or self._wanted or self._chosen or self._is_choosing)
                    ),
                    timeout,
                )
            )

    def fit(self, labels: dict[int, str]) -> Future[GPGCClassifier]:
        """Fit the classifier to labels of one's own choice, beside the live model."""

        def work() -> GPGCClassifier:
            self._ready.wait()
            if self.labelling is None:
                raise DataError(f"the model failed: {self.failure}")
            y = np.full(self._n_nodes, None, dtype=object)
            y[list(labels)] = list(labels.values())
            return self.labelling.estimator(y)

        return self._background.submit(work)

    def stop(self) -> None:
        """End the thread after what it is at."""
        with self._changed:
            self.is_stopping = True
            self._changed.notify_all()
        self._background.shutdown(wait=False, cancel_futures=True)

    def _run(self) -> None:
        try:
            labelling = self._build()
            self.labelling = labelling
            self._ready.set()
            self._publish("ready")
            self._background.submit(labelling.warm)
            while self._step(labelling):
                pass
        except BaseException as error:
            self.failure = error
            self._ready.set()
            with self._changed:
                self._changed.notify_all()
            self._publish("failure")

    def _step(self, labelling: Labelling) -> bool:
        """Do what is wanted by now; wait where nothing is."""
        with self._changed:
            self._is_busy = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.is_stopping or self._wanted or self._chosen)
            if self.is_stopping:
                return False
            self._is_busy = True
            wanted, self._wanted = self._wanted, None
            chosen, self._chosen = self._chosen, None
        if wanted is not None:
            self._pending = wanted[2]
            _follow(labelling, wanted[0], wanted[1])
        if chosen is not None:
            labelling.adopt(chosen)
        self._suggest(labelling)
        if labelling.labels and labelling.is_conditioned:
            self._opine(labelling, chosen)
        elif not labelling.labels and self.opinion.classes:
            self._forget()
        if labelling.labels and labelling.stale and not self._is_choosing:
            self._is_choosing = True
            self._background.submit(self._choose, labelling.chooser())
        return True

    def _suggest(self, labelling: Labelling) -> None:
        strategy = "weighted" if labelling.is_conditioned else "variance"
        queue = labelling.suggest(QUEUE, strategy, pending=self._pending).nodes.tolist()  # type: ignore[arg-type]
        with self._changed:
            self.queue, self.is_exhausted, self.is_ready = queue, not queue, True
            self._changed.notify_all()
        self._publish("queue")

    def _choose(self, choose: Callable[[], LabelPosterior]) -> None:
        try:
            chosen = choose()
        except BaseException as error:
            self.failure = error
            self._publish("failure")
            raise
        with self._changed:
            self._chosen, self._is_choosing = chosen, False
            self._changed.notify_all()

    def _opine(self, labelling: Labelling, chosen: LabelPosterior | None) -> None:
        if len(labelling.classes) < 2:  # with one class all nodes would be that one, for certain
            self._forget(len(labelling.labels), labelling.explained())
            return
        probability = labelling.predict_proba()
        before, classes = self.opinion, tuple(labelling.classes)
        n_pictured = before.n_pictured if before.classes else 0
        last = recode(before.codes, before.classes, classes)
        if labelling.nodes is None:
            codes, certainty = strongest(probability)
            n_pictured = len(labelling.labels)
        else:
            codes, certainty = last.copy(), before.certainty.copy()
            if chosen is not None and chosen.overview is not None and len(chosen.classes) > 1:
                n_pictured = chosen.n_chosen_by
                codes = recode(chosen.overview[0], chosen.classes, classes)
                certainty = chosen.overview[1].copy()
            codes[labelling.nodes], certainty[labelling.nodes] = strongest(probability)
        self.opinion = Opinion(
            before.revision + 1,
            len(labelling.labels),
            classes,
            codes,
            certainty,
            labelling.nodes,
            probability,
            int(np.count_nonzero(codes != last)) if before.classes else 0,
            labelling.explained(),
            n_pictured,
        )
        self._publish("opinion")

    def _forget(self, n_labels: int = 0, explained: float = 0.0) -> None:
        """Have no opinion, with no label or with labels of one class."""
        self.opinion = replace(
            self.opinion,
            revision=self.opinion.revision + 1,
            n_labels=n_labels,
            n_pictured=n_labels,
            explained=explained,
            n_changed=0,
            classes=(),
            codes=np.full(self._n_nodes, NOTHING, dtype=np.uint8),
            certainty=np.zeros(self._n_nodes, dtype=np.uint8),
            probability=np.empty((0, 0)),
        )
        self._publish("opinion")


def _follow(labelling: Labelling, labels: dict[int, str], excluded: frozenset[int]) -> None:
    """Make the labelling hold exactly these labels, and suggest none of the excluded nodes."""
    now = labelling.labels
    gone = [node for node in now if node not in labels]
    others = [node for node, label in labels.items() if node in now and now[node] != label]
    fresh = [node for node in labels if node not in now]
    free = [node for node in labelling.skipped if node not in excluded]
    if gone or free:
        labelling.remove(np.array([*gone, *free], dtype=np.intp))
    if others:
        labelling.correct(others, [labels[node] for node in others])
    if fresh:
        labelling.add(fresh, [labels[node] for node in fresh])
    labelling.skip(np.array(sorted(excluded), dtype=np.intp))
