"""What `gpgc classify` does beyond a label for each node: held-out labels, sets, novelty."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpgc._typing import Integers
from gpgc.cli.files import read_held_out
from gpgc.errors import InputError
from gpgc.estimators import GPGCClassifier
from gpgc.report import write_report
from gpgc.uncertainty.expected_accuracy import ExpectedAccuracy
from gpgc.uncertainty.measures import expected_calibration_error

MANY_NODES = 100_000
"""Nodes above which standard deviations, which take longest there, are computed when asked for."""


@dataclass(frozen=True)
class Further:
    """Options of `gpgc classify` that add columns to its table or change its probabilities.

    Attributes
    ----------
    calibrate : Path, optional
        Table ``id,label`` of labels that were kept out, to fit temperature and class bias to.
    sets : float, optional
        Coverage of the prediction sets in the column ``set``.
    held_out : Path, optional
        Table ``id,label`` of labels that were kept out, with which sets are guaranteed.
    novelty : bool, default False
        Whether there is a column ``novelty``.
    report : Path, optional
        Where a page about the result is written.
    std : bool, default False
        Whether the column ``std`` is filled on graphs of more than 100,000 nodes too.
    probabilities : {"best", "all"}, default "best"
        Whether there is a column for each class with its probability.
    save : Path, optional
        Where the fitted model is written.
    drawn : {"random", "chosen"}, optional
        How the labelled nodes were found.
    unlabelled : sequence of str, optional
        Marks of no label, in the tables of labels that were kept out too.
    called : mapping of str to str, optional
        Name of a column here → its name in the files, those of labels kept out among them.
    """

    calibrate: Path | None = None
    sets: float | None = None
    held_out: Path | None = None
    novelty: bool = False
    report: Path | None = None
    std: bool = False
    probabilities: str = "best"
    save: Path | None = None
    drawn: str | None = None
    unlabelled: Sequence[str] | None = None
    called: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_probabilities(self.probabilities)
        if self.drawn not in (None, "random", "chosen"):
            raise InputError(f"--labels-drawn must be random or chosen, got {self.drawn!r:.60}")
        if self.held_out is not None and self.sets is None:
            raise InputError("--held-out needs --sets")
        if self.held_out is not None and self.held_out == self.calibrate:
            raise InputError("--held-out must be other labels than --calibrate, got the same")

    @property
    def inputs(self) -> tuple[Path | None, ...]:
        """The files that are read."""
        return self.calibrate, self.held_out

    def with_std(self, n_nodes: int) -> bool:
        """Tell whether standard deviations are computed."""
        return self.std or n_nodes <= MANY_NODES

    def prepare(self, estimator: GPGCClassifier, ids: Sequence[str]) -> None:
        """Calibrate a fitted estimator by the labels that were kept out for that."""
        if self.calibrate is not None:
            estimator.calibrate(*self._held_out(self.calibrate, ids, estimator))

    def expected_accuracy(
        self, estimator: GPGCClassifier, drawn: Integers | None
    ) -> ExpectedAccuracy:
        """Return the accuracy to expect, by the option or else by the nodes of the labels file.

        Parameters
        ----------
        estimator : GPGCClassifier
            Fitted.
        drawn : int array, or None
            Labelled nodes that were drawn at random by the column role; None without it.
        """
        if self.drawn is not None:
            return estimator.expected_accuracy(self.drawn)
        return estimator.expected_accuracy("unknown" if drawn is None else drawn)

    def write_model(self, estimator: GPGCClassifier) -> None:
        """Write the fitted model, if it is wanted."""
        if self.save is not None:
            estimator.save(self.save)

    def write_report(
        self,
        estimator: GPGCClassifier,
        ids: Sequence[str],
        title: str,
        drawn: Integers | None = None,
    ) -> None:
        """Write the page about the result, if it is wanted; ``drawn`` as above."""
        if self.report is not None:
            how = self.drawn or ("unknown" if drawn is None else drawn)
            write_report(estimator, self.report, ids=ids, title=title, labels_drawn=how)

    def columns(self, estimator: GPGCClassifier) -> list[str]:
        """Return the names of the further columns."""
        named = [f"probability of {label}" for label in estimator.classes_]
        named = named if self.probabilities == "all" else []
        return [*named, *["set"] * (self.sets is not None), *["novelty"] * self.novelty]

    def rows(
        self,
        rows: Iterable[tuple[Any, ...]],
        ids: Sequence[str],
        estimator: GPGCClassifier,
    ) -> Iterator[tuple[Any, ...]]:
        """Give the rows of a table with a node each, with the further columns added."""
        added: list[Iterable[str]] = []
        if self.probabilities == "all":
            columns = estimator.predict_proba().T
            added += [[f"{value:.6g}" for value in column] for column in columns]
        if self.sets is not None:
            nodes, y = None, None
            if self.held_out is not None:
                nodes, y = self._held_out(self.held_out, ids, estimator)
            held = estimator.prediction_sets(self.sets, nodes=nodes, y=y)
            added.append(
                json.dumps([str(label) for label in estimator.classes_[row]], ensure_ascii=False)
                for row in held
            )
        if self.novelty:
            added.append(f"{value:.6g}" for value in estimator.novelty())
        for row, *more in zip(rows, *added, strict=True):
            yield (*row, *more)

    def _held_out(
        self, path: Path, ids: Sequence[str], estimator: GPGCClassifier
    ) -> tuple[Integers, list[str]]:
        """Return nodes that were kept out, and their labels, which the estimator must know."""
        nodes, labels = read_held_out(path, ids, self.unlabelled, self.called)
        known = set(estimator.classes_.tolist())
        for label in labels:
            if label not in known:
                raise InputError(
                    f"{path}: expected labels that --labels has too, got {label!r:.60}"
                )
        return nodes, labels


def check_probabilities(word: str) -> None:
    """Refuse what ``--probabilities`` does not know."""
    if word not in ("best", "all"):
        raise InputError(f"--probabilities must be best or all, got {word!r:.60}")


def calibration_error(estimator: GPGCClassifier) -> float:
    """Return the expected calibration error over the labels, each left out in turn."""
    return expected_calibration_error(estimator.leave_one_out_proba(), estimator.codes_)
