"""Names of the systems and where each is found."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from gpgc.errors import InputError
from gpgc_lab.problem import System

SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "LP": ("label_propagation", {}),
    "SemiEmb": ("semi_supervised_embedding", {}),
    "ManiReg": ("manifold_regularisation", {}),
    "DeepWalk": ("deep_walk", {}),
    "Planetoid": ("planetoid", {}),
    "ICA": ("iterative_classification", {}),
    "DCNN": ("diffusion_convolution", {}),
    "GCN": ("graph_convolution", {"hidden": 16}),
    "GCN-64": ("graph_convolution", {"hidden": 64}),
    "GCN-256": ("graph_convolution", {"hidden": 256}),
    "MoNet": ("mixture_model", {}),
    "GGP": ("graph_gaussian_process", {}),
    "GGP-X": ("graph_gaussian_process", {"learn_from_validation": True}),
    "GAT": ("graph_attention", {}),
    "GLCN": ("graph_learning", {}),
}
"""Name, module of this package whose ``run`` it is, and the settings that it runs with."""


def system(name: str) -> System:
    """Return a system by its name; its libraries are imported now, not before.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from gpgc_lab.baselines import Problem
    >>> path = csr_array(np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1))
    >>> problem = Problem(path, np.eye(4), np.array([0, -1, -1, 1]), np.array([0, 3]),
    ...                   np.array([], dtype=int), 2)
    >>> system("LP")(problem, seed=0).probabilities.argmax(axis=1)
    array([0, 0, 1, 1])
    """
    if name not in SYSTEMS:
        raise InputError(f"system must be one of {', '.join(SYSTEMS)}, got {name!r}")
    module, settings = SYSTEMS[name]
    return partial(import_module(f"gpgc_lab.baselines.{module}").run, **settings)
