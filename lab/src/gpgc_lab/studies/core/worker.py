"""What a version of gpgc does in a process of its own, by its public names alone.

The same file runs under both versions, so nothing of gpgc may be named here that one of them lacks,
and nothing of the laboratory may be imported that needs more of gpgc than its folder.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from pathlib import Path
from time import perf_counter, process_time
from types import FrameType
from typing import Any

import numpy as np

from gpgc_lab.code_digest import CORE_ROOMS
from gpgc_lab.speed.measure import fastest
from gpgc_lab.speed.propagation import propagation
from gpgc_lab.studies.core.exchange import read_problem

LEVEL = 0.9
"""Of the intervals of numbers."""


def answer(problem: str, answers: str) -> dict[str, Any]:
    """Fit the default to each draw and write what it says of the judged nodes.

    Classes: probabilities, with a column for each class that had a label. Numbers: mean, standard
    deviation and interval. Also the processor seconds of each draw.
    """
    warm_up()
    adjacency, features, draws = read_problem(problem)
    said: dict[str, Any] = {}
    seconds = {}
    for place, (name, (given, targets, judged)) in enumerate(draws.items()):
        n_nodes = (features if adjacency is None else adjacency).shape[0]
        start = process_time()
        if targets.dtype.kind == "f":
            parts = _numbers(features, _filled(n_nodes, given, targets, np.nan), adjacency)
        else:
            parts = _classes(features, _filled(n_nodes, given, targets, -1), adjacency)
        seconds[name] = process_time() - start
        classes = parts.pop("classes", None)
        said.update({f"{part}_{place}": values[judged] for part, values in parts.items()})
        if classes is not None:
            said[f"classes_{place}"] = classes
    np.savez(answers, **said)
    return {"seconds": seconds, **about()}


def about() -> dict[str, str]:
    """Return which gpgc this is."""
    import gpgc

    return {"version": gpgc.__version__, "home": str(Path(gpgc.__file__).parent)}


def warm_up() -> None:
    """Fit a toy of each kind, so that what is timed does not import."""
    ring = np.roll(np.eye(12), 1, axis=1)
    rows, labels = np.random.default_rng(0).random((12, 3)), np.arange(12) % 2
    _classes(rows, labels, ring + ring.T)
    _numbers(rows, rows @ np.ones(3), ring + ring.T)


def _filled(n_nodes: int, given: Any, targets: Any, unknown: float) -> Any:
    whole = np.full(n_nodes, unknown, dtype=targets.dtype)
    whole[given] = targets
    return whole


def _classes(features: Any, labels: Any, adjacency: Any) -> dict[str, Any]:
    from gpgc import GPGCClassifier

    model = GPGCClassifier().fit(features, labels, adjacency)
    return {"probabilities": model.predict_proba(), "classes": model.classes_}


def _numbers(features: Any, values: Any, adjacency: Any) -> dict[str, Any]:
    from gpgc import GPGCRegressor

    model = GPGCRegressor().fit(features, values, adjacency)
    mean, std = model.predict(return_std=True)
    noise = float(np.ravel(model.noise_variance_)[0])
    # Where a value is given, a latent deviation is at most that of the noise: then noise is added.
    if (std[~np.isnan(values)] ** 2 <= noise * (1 + 1e-6)).all():
        std = np.sqrt(std**2 + noise)
    low, high = model.predict_interval(LEVEL)
    return {"mean": mean, "std": std, "low": low, "high": high}


def count_functions(problem: str, model: str | None) -> dict[str, Any]:
    """Count the functions of gpgc, and their files, that one fit and its probabilities run through.

    A first fit in the same process is not counted: it imports. Lambdas, comprehensions and class
    bodies count with the function that holds them.
    """
    from gpgc import GPGCClassifier

    adjacency, features, draws = read_problem(problem)
    given, targets, _ = next(iter(draws.values()))
    labels = _filled(adjacency.shape[0], given, targets, -1)
    home = about()["home"]
    seen: set[tuple[str, str, int]] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(home) and code.co_name[0] != "<":
            seen.add((code.co_filename, code.co_name, code.co_firstlineno))

    def job() -> None:
        settings: dict[str, Any] = {} if model is None else {"model": model}
        GPGCClassifier(**settings).fit(features, labels, adjacency).predict_proba()

    job()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        job()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {"functions": len(seen), "files": len({file for file, *_ in seen}), **about()}


def count_lines() -> dict[str, Any]:
    """Count the lines of Python in the rooms of the core."""
    home = Path(about()["home"])
    files = [file for room in CORE_ROOMS for file in (home / room).rglob("*.py")]
    return {"lines": sum(len(file.read_text().splitlines()) for file in files), **about()}


def time_fit(problem: str, model: str | None, repeats: int) -> dict[str, Any]:
    """Return the least processor seconds of a fit and its probabilities."""
    from gpgc import GPGCClassifier

    adjacency, features, draws = read_problem(problem)
    given, targets, _ = next(iter(draws.values()))
    labels = _filled(adjacency.shape[0], given, targets, -1)
    settings: dict[str, Any] = {} if model is None else {"model": model}
    warm_up()
    best = float("inf")
    for _ in range(repeats):
        start = process_time()
        GPGCClassifier(**settings).fit(features, labels, adjacency).predict_proba()
        best = min(best, process_time() - start)
    return {"seconds": best, **about()}


def time_big(problem: str, repeats: int) -> dict[str, Any]:
    """Return the seconds of *big* at fixed noise, and those of the product inside it.

    The product is one float32 GEMM, (N × F) by (F × columns); columns are the neighbors of the
    labelled nodes.
    """
    from gpgc import GPGCClassifier

    adjacency, features, draws = read_problem(problem)
    given, targets, _ = next(iter(draws.values()))
    labels = _filled(adjacency.shape[0], given, targets, -1)
    matrix = propagation(adjacency, np.float32)
    rows = matrix @ features
    rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float32)
    right = np.ascontiguousarray(rows[np.unique(matrix[given].indices)].T)
    tile = max(1, 2**24 // max(1, right.shape[1]))
    settings: dict[str, Any] = {
        "model": "big",
        "noise_variance": 0.1,
        "class_prior": "labels",
        "dtype": "float32",
    }

    def fit() -> None:
        GPGCClassifier(**settings).fit(features, labels, adjacency).predict()

    def product() -> None:
        for start in range(0, len(rows), tile):
            rows[start : start + tile] @ right

    seconds, least = fastest([fit, product], repeats)
    return {"seconds": seconds, "product": least, **about()}


def time_load(problem: str, repeats: int) -> dict[str, Any]:
    """Return the least seconds of ``load`` of a fitted default."""
    from gpgc import GPGCClassifier, load

    adjacency, features, draws = read_problem(problem)
    given, targets, _ = next(iter(draws.values()))
    labels = _filled(adjacency.shape[0], given, targets, -1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.gpgc"
        GPGCClassifier().fit(features, labels, adjacency).save(file)
        (seconds,) = fastest([lambda: load(file)], repeats)
    return {"seconds": seconds, **about()}


def time_join(problem: str, repeats: int) -> dict[str, Any]:
    """Return the least seconds of the probabilities of one node that joins."""
    from gpgc import GPGCClassifier

    adjacency, features, draws = read_problem(problem)
    given, targets, _ = next(iter(draws.values()))
    n_nodes = adjacency.shape[0]
    labels = _filled(n_nodes, given, targets, -1)
    model = GPGCClassifier().fit(features, labels, adjacency)
    model.predict_proba()
    links = np.zeros((1, n_nodes), dtype=np.float64)
    links[0, :5] = 1.0
    best = float("inf")
    for turn in range(repeats):
        row = features[[turn]]
        start = perf_counter()
        model.predict_proba(row, adjacency=links)
        best = min(best, perf_counter() - start)
    return {"seconds": best, **about()}
