"""Every system of a comparison by its name: the paper's, ours, and a user's own."""

from __future__ import annotations

import time
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from gpgc.errors import InputError
from gpgc.estimators import GPGCClassifier
from gpgc.gp import NoisePath
from gpgc.selection.noise_choice import choose_noise
from gpgc_lab import baselines, select, settings
from gpgc_lab.baselines import SYSTEMS, Prediction, Problem, System, system
from gpgc_lab.code_digest import core_digest, digest, find_module, module_files
from gpgc_lab.studies.citation import FEATURE_NORMS, KERNELS, RELATIVE_NOISE

OURS: dict[str, dict[str, Any]] = {
    "GPGC-small": {"model": "small"},
    "GPGC-big": {"model": "big"},
    "GPGC": {},
    "GPGC-X": {"model": "big", "learn_from_validation": True},
}
"""Our systems and what they are run with; nothing in them is drawn at random."""

LEARN_FROM_VALIDATION = ("GGP-X", "GPGC-X")
NAMES = (
    *(name for name in (*SYSTEMS, *OURS) if name not in LEARN_FROM_VALIDATION),
    *LEARN_FROM_VALIDATION,
)
"""All systems in the order of the paper's table, those that learn from validation labels last."""

LIBRARIES = ("torch", "torch_geometric", "gensim", "cleanlab")
"""What the extra ``baselines`` brings."""


def find_system(name: str, options: dict[str, Any]) -> System:
    """Return a system by its name, or by ``module:function`` where a user brings one.

    Parameters
    ----------
    name : str
        One of `NAMES`, or the place of a function that takes a problem and a seed.
    options : dict
        Further keyword arguments of the system, such as ``epochs``.
    """
    check_name(name)
    if name in SYSTEMS:
        found = system(name)
    elif name == "GPGC":
        found = run_default
    elif name in OURS:
        found = partial(run_paper, **OURS[name])
    else:
        module, _, function = name.partition(":")
        found = getattr(import_module(module), function)
    return partial(found, **options) if options else found


def check_name(name: str) -> None:
    """Raise where no system can have this name."""
    if name not in NAMES and not all(name.partition(":")):
        raise InputError(
            f"methods must be among {', '.join(NAMES)}, or module:function of your own, "
            f"got {name!r}"
        )


def settings_of(name: str) -> dict[str, Any]:
    """Return what a system is run with besides the problem and the seed."""
    return SYSTEMS[name][1] if name in SYSTEMS else OURS.get(name, {})


def code_of(name: str) -> str:
    """Return a digest of the code that a system runs: its own module, for ours all of gpgc.

    Modules in the same folder that it imports count as its own. A user's module that is not found
    has the digest of nothing.
    """
    if name in OURS:
        own = __file__, select.__file__, settings.__file__
        return core_digest(*map(Path, own))
    if name in SYSTEMS:
        file: Path | None = Path(baselines.__file__).parent / f"{SYSTEMS[name][0]}.py"
    else:
        file = find_module(name.partition(":")[0])
    return digest([] if file is None else module_files(file))


def missing_library(error: ImportError) -> str:
    """Return which library a system needs, and the extra that brings it.

    Examples
    --------
    >>> missing_library(ModuleNotFoundError("No module named 'torch'", name="torch"))
    'needs torch, which is not installed: pip install "./lab[baselines]"'
    """
    library = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or library == "gpgc":
        return f"ImportError: {error}"
    extra = ': pip install "./lab[baselines]"' if library in LIBRARIES else ""
    return f"needs {library}, which is not installed{extra}"


def run_default(problem: Problem, seed: int) -> Prediction:
    """Fit the default model to the training labels; validation labels play no part.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> path = csr_array(np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1))
    >>> problem = Problem(path, np.eye(4), np.array([0, -1, -1, 1]), np.array([0, 3]),
    ...                   np.array([], dtype=int), 2)
    >>> run_default(problem, seed=0).probabilities.argmax(axis=1)
    array([0, 0, 1, 1])
    """
    start = time.process_time()
    estimator = GPGCClassifier(random_state=seed, n_jobs=1)
    estimator.fit(problem.features, _only(problem, problem.train), adjacency=problem.adjacency)
    return _prediction(problem, estimator, start)


def run_paper(
    problem: Problem,
    seed: int,
    *,
    model: str,
    learn_from_validation: bool = False,
    count_choice: bool = True,
) -> Prediction:
    """Fit one of the paper's models with settings chosen by validation labels, else leave-one-out.

    Parameters
    ----------
    problem : Problem
        The graph and its labels.
    seed : int
        Of no effect.
    model : {"small", "big"}
        Which one.
    learn_from_validation : bool
        Whether, once the settings are chosen, validation labels are learnt from too, with the
        noise chosen again by leave-one-out on all labels.
    count_choice : bool
        Whether the search for the settings counts as training; the paper's seconds leave it out.
    """
    start = time.process_time()
    seen = np.concatenate([problem.train, problem.validation])
    setting = select.select(
        problem.features,
        problem.labels,
        problem.adjacency,
        validation=problem.validation if len(problem.validation) else None,
        models=(model,),
        base_kernels=KERNELS,
        feature_norms=FEATURE_NORMS,
        relative_noise=RELATIVE_NOISE,
        calibrate=False,
        n_jobs=1,
    ).best
    if not count_choice:
        start = time.process_time()
    estimator = GPGCClassifier(**setting.parameters(), class_prior="labels", n_jobs=1)
    labelled = seen if learn_from_validation else problem.train
    y = _only(problem, labelled)
    estimator.fit(problem.features, y, adjacency=problem.adjacency)
    if learn_from_validation:
        nodes = estimator.labelled_nodes_
        targets = np.eye(problem.n_classes)[problem.labels[nodes]]
        path = NoisePath(estimator.covariance_.block(nodes, nodes), targets)
        noise = choose_noise(path, "cross_entropy").noise_variance
        estimator.set_params(noise_variance=noise).relabel(y)
    return _prediction(problem, estimator, start)


def _only(problem: Problem, nodes: Any) -> Any:
    labels = np.full(len(problem.labels), -1)
    labels[nodes] = problem.labels[nodes]
    return labels


def _prediction(problem: Problem, estimator: GPGCClassifier, start: float) -> Prediction:
    fitted = time.process_time()
    probabilities = np.zeros((len(problem.labels), problem.n_classes))
    probabilities[:, estimator.classes_] = estimator.predict_proba()
    return Prediction(probabilities, fitted - start, time.process_time() - fitted)
