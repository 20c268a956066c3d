"""One system on one task in a process of its own: ``python -m`` this module, a job, an answer.

What goes wrong ends the process; the last line on standard error says what it was.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gpgc_lab.comparison.systems import find_system, missing_library
from gpgc_lab.process_memory import process_memory
from gpgc_lab.scores import score_classes
from gpgc_lab.task import Task


def run_job(job: dict[str, Any]) -> dict[str, Any]:
    """Run a system and score what it says of the test nodes.

    Parameters
    ----------
    job : dict
        ``task``, the file of one; ``system``, ``options``, ``seed``.

    Returns
    -------
    dict
        Scores of `score_classes`, seconds, epochs and peak memory in MB.
    """
    task = Task.load(Path(job["task"]))
    prediction = find_system(job["system"], job["options"])(task.problem, seed=job["seed"])
    expected = len(task.problem.labels), task.problem.n_classes
    is_finite = np.isfinite(prediction.probabilities)
    if prediction.probabilities.shape != expected or not is_finite.all():
        raise SystemExit(
            f"expected finite probabilities of shape {expected}, got shape "
            f"{prediction.probabilities.shape}, {is_finite.mean():.0%} finite"
        )
    forecast = np.asarray(prediction.probabilities[task.test], dtype=np.float64)
    return {
        **score_classes(forecast, task.truth),
        "train_seconds": prediction.train_seconds,
        "predict_seconds": prediction.predict_seconds,
        "epochs": prediction.epochs,
        "peak_memory_mb": _peak_memory_mb(),
    }


def _peak_memory_mb() -> float | None:
    memory = process_memory()
    return None if memory is None else round(memory.peak / 2**20, 1)


def main() -> None:
    """Do the job in the file that the first argument names, and write the answer to the second."""
    job, answer = map(Path, sys.argv[1:])
    try:
        result = run_job(json.loads(job.read_text()))
    except ImportError as error:
        raise SystemExit(missing_library(error)) from error
    answer.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
