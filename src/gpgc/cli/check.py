"""`gpgc check`: which of the given labels are wrong."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpgc.cli.command import REQUIRED
from gpgc.cli.job import Answer, Job, table
from gpgc.cli.options import ClassOptions, Votes

if TYPE_CHECKING:
    from gpgc.problem.problem import Problem

SUSPICIOUS = 0.5
"""Probability of being wrong from which on a label is counted as suspicious."""


@dataclass(frozen=True, kw_only=True)
class Check(Votes, Job, ClassOptions):
    """Say which of your labels are probably wrong.

    Each label is compared with what the others say about its node. The column probability says how
    likely the given label is wrong; their sum is the expected number of errors.
    """

    out: Path = table(REQUIRED, "id, given, likely, probability, a row a label, worst first")
    doing = "checking"

    def answer(self, problem: Problem) -> Answer:
        """Compare labels with what the others say."""
        found = self.fitted(problem).check_labels()
        names = [problem.ids[node] for node in found.nodes]
        columns: dict[str, Any] = {
            "id": names,
            "given": found.given,
            "likely": found.likely,
            "probability": found.probability,
        }
        worst = int((found.probability > SUSPICIOUS).sum())
        doubtful = zip(names[:worst], found.given, found.likely, strict=False)
        said = {
            "labels": len(found),
            "expected_errors": round(found.expected_errors, 2),
            "suspicious": [f"{name}: {given} → {likely}" for name, given, likely in doubtful],
        }
        return Answer(columns, said)
