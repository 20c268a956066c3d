"""The same job by rivals: seconds, peak memory and accuracy, each in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import gpgc
from gpgc.datasets import Dataset
from gpgc.gp import NoisePath
from gpgc_lab.speed.formulations import nystrom_map
from gpgc_lab.speed.measure import in_own_process
from gpgc_lab.speed.variants import NOTE, variants
from gpgc_lab.tables import Table
from gpgc_lab.task import Task

NOISE_LEVELS = np.logspace(-3, 1, 101)
"""Relative to the mean prior variance of all nodes."""

QUICK_ROWS = 1024
LARGE = 10_000
"""Nodes from which some rows stand for all of the N × N formulation when quick."""

HOW_TO = (
    "neural-tangents runs on request, in an environment of its own: `python3.11 -m venv tangents "
    "&& tangents/bin/pip install . numpy==1.26.4 neural-tangents==0.6.5 jax==0.4.30 "
    "jaxlib==0.4.30 tf2jax==0.3.6`, then `--neural-tangents tangents/bin/python`."
)


def rival_tables(
    datasets: Sequence[Dataset], quick: bool = False, neural_tangents: str | None = None
) -> list[Table]:
    """Return seconds, memory and accuracy of gpgc and its rivals on each data set."""
    table = Table(
        "rivals",
        "The same job by rivals: label all nodes (big, inner product, float32)",
        ["data set", "system", "cores", "seconds", "times gpgc", "peak MB", "accuracy, per cent"],
        notes=[
            "Each in a process of its own, least of its turns; MB at the peak over those after "
            "the imports, data included. Noise is chosen beforehand on the validation labels, by "
            "the same rule for the exact and the approximate kernel: the best of 101 levels of "
            "the mean prior variance, the first of equals. Accuracy is on the public test nodes. "
            "N × N, dense is the paper's formulation in NumPy; N × N, sparse keeps Â sparse. "
            "The Nyström approximation takes the training nodes as landmarks after each layer. "
            "To reach on Pubmed: N × N at least 500 times gpgc, which takes at most 250 MB, and "
            "Nyström no faster than gpgc.",
            NOTE,
            HOW_TO,
        ],
    )
    with TemporaryDirectory() as folder:
        for data in datasets:
            task = Task.of(data)
            path = Path(folder) / f"{data.name}.npz"
            task.save(path)
            table.rows += _rows(data.name, task, str(path), quick, neural_tangents)
    return [table]


def _rows(
    name: str, task: Task, path: str, quick: bool, neural_tangents: str | None
) -> list[list[Any]]:
    covariance = gpgc.covariance(task.problem.adjacency, task.problem.features)
    features = nystrom_map(task.problem.adjacency, task.problem.features, task.problem.train)
    noise = choose_noise(task, covariance.block(None, task.problem.train), covariance.diag())
    approximate = choose_noise(
        task, features @ features[task.problem.train].T, np.einsum("ij,ij->i", features, features)
    )
    repeats = 5 if quick else 15
    rows: list[list[Any]] = []
    order: dict[str, Any]

    def add(system: str, cores: int | None, answer: dict[str, Any], of: float | None) -> float:
        seconds: float = answer["seconds"]
        scales = (("peak", 1e-6), ("accuracy", 100))
        shown = [answer[key] and scale * answer[key] for key, scale in scales]
        rows.append([name, system, cores or "all", seconds, seconds / (of or seconds), *shown])
        return seconds

    def alone(system: str, cores: int | None, noise: float, repeats: int) -> dict[str, Any]:
        order = {"system": system, "task": path, "noise": noise, "repeats": repeats}
        return in_own_process("gpgc_lab.speed.formulations:run", order, cores=cores)

    def ours(cores: int | None) -> float:
        plain, *others = (
            (suffix, alone("exact" + suffix, cores, noise, repeats)) for suffix in ways
        )
        seconds = add("gpgc", cores, plain[1], None)
        for suffix, answer in others:
            add("gpgc" + suffix, cores, answer, seconds)
        return seconds

    ways = variants(len(task.problem.labels))
    single = ours(1)
    add("Nyström per layer", 1, alone("nystrom", 1, approximate, repeats), single)
    full = ours(None)
    large = len(task.problem.labels) > LARGE
    for sparse in (True, False):
        kind = f"N × N, {'sparse' if sparse else 'dense'}"
        if quick and large:
            order = {"task": path, "sparse": sparse, "n_rows": QUICK_ROWS}
            answer = in_own_process("gpgc_lab.speed.formulations:run_share", order)
            answer.update(peak=None, accuracy=None)
            kind += f" (estimated from {QUICK_ROWS:,} rows)"
        else:
            system = "square, sparse" if sparse else "square"
            answer = alone(system, None, noise, 1 if large else 3)
        add(kind, None, answer, full)
    if find_spec("torch_geometric"):
        order = {"task": path, "epochs": 200, "seeds": 1 if quick else 3}
        add("GCN, 200 epochs", None, in_own_process("gpgc_lab.speed.trained_gcn:run", order), full)
    else:
        rows.append([name, "GCN: torch_geometric is not installed", None, None, None, None, None])
    if neural_tangents and not large:
        order = {"task": path, "noise": noise, "repeats": 2}
        answer = in_own_process("gpgc_lab.speed.tangents:run", order, python=neural_tangents)
        add("neural-tangents 0.6.5", None, answer, full)
    elif neural_tangents:
        rows.append([name, "neural-tangents: N × N too large", None, None, None, None, None])
    return rows


def choose_noise(task: Task, columns: Any, variances: Any) -> float:
    """Return the noise with the best validation accuracy, given Γ[:, train] and its diagonal."""
    path = NoisePath(columns[task.problem.train], task.targets())
    noise = NOISE_LEVELS * float(np.mean(variances))
    weights = path.inverse(noise).solve(path.targets)
    scores = columns[task.problem.validation].astype(np.float64) @ weights
    right = scores.argmax(axis=2) == task.problem.labels[task.problem.validation]
    return float(noise[right.mean(axis=1).argmax()])
