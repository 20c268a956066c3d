"""Parameters that cannot be, or that would not count, are refused by name."""

from dataclasses import fields

import numpy as np
import pytest

from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.errors import InputError
from gpgc.kernels import ACTIVATIONS, BASE_KERNELS
from gpgc.models import GCN, REGISTRY, Broad

CHAIN = (np.arange(7), np.arange(1, 8))
X = np.random.default_rng(0).normal(size=(8, 3))
Y = [0, 0, -1, -1, -1, -1, 1, 1]

ARCHITECTURES = {name: type(make()) for name, make in REGISTRY.items()}


@pytest.mark.parametrize("estimator", [GPGCClassifier, GPGCRegressor])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("depth", 3),
        ("random_state", 5),
        ("base_kernel", "arc_cosine"),
        ("activation", "erf"),
        ("weight_variance", 2.0),
        ("bias_variance", 0.1),
        ("kernel", "ntk"),
    ],
)
def test_what_an_architecture_replaces_is_refused(estimator, name, value):
    with pytest.raises(InputError, match=f"{name} must be that of the model"):
        estimator(GCN(), **{name: value}).fit(X, Y, CHAIN)


def test_what_an_architecture_says_too_is_no_conflict():
    model = GCN(depth=3, seed=5)
    fitted = GPGCClassifier(model, depth=3, random_state=5).fit(X, Y, CHAIN)
    assert fitted.prior_.architecture is model


BAD = [0, -1, -0.5, float("nan"), float("inf"), "2", None, True, 1 + 1j]


def numbers_of(kind):
    """Return the numbers of a dataclass: their names, and those of BAD that they may be."""
    may_be = {
        "bias_variance": (0,),
        "seed": (0,),
        "exact_nodes": (0,),
        "one_hot_nodes": (0,),
        "teleport": (0,) if kind.__name__ == "GCNII" else (),
        "identity": (0,),
        "own": (0,),
        "epsilon": (0, -1, -0.5),
        "offset": (0,),
        "slope": (0, -1, -0.5),
        "steps": (None,),
    }
    return [
        (part.name, may_be.get(part.name, ()))
        for part in fields(kind)
        if str(part.type).split(" ")[0] in ("int", "float")
    ]


CASES = [
    (kind, name, value)
    for kind in {*ARCHITECTURES.values(), *BASE_KERNELS.values(), *map(type, ACTIVATIONS.values())}
    if hasattr(kind, "__dataclass_fields__")
    for name, may_be in numbers_of(kind)
    for value in BAD
    if not any(value is other or (value == other and value is not True) for other in may_be)
]


@pytest.mark.parametrize(
    ("kind", "name", "value"), sorted(CASES, key=str), ids=lambda one: getattr(one, "__name__", one)
)
def test_numbers_of_architectures_and_kernels_are_checked(kind, name, value):
    with pytest.raises(InputError, match=f"^{name} must "):
        kind(**{name: value})


def test_a_graph_without_landmarks_is_refused():
    with pytest.raises(InputError, match="n_landmarks must be a whole number of at least 1"):
        Broad(n_landmarks=0)


PARAMETERS = {
    "depth": BAD,
    "weight_variance": BAD,
    "bias_variance": BAD[1:],
    "noise_variance": [-1, float("nan"), float("inf"), "2", None, 1 + 1j, [0.1, 0.2]],
    "n_neighbors": BAD,
    "random_state": [-1, 0.5, float("nan"), "2", None, True],
    "n_jobs": [0, -2, 0.5, float("nan"), "2", True],
    "memory_limit": [0, -1, float("nan"), "much", True],
    "base_kernel": ["no", None, 3],
    "activation": ["no", None, 3],
    "kernel": ["no", None, 3],
    "model": ["no", None, 3],
    "normalization": ["no", None, 3],
    "feature_norm": ["no", None, 3],
    "standardize": ["no", None, 3],
    "space": ["no", None, 3],
    "dtype": ["no", None, 3],
    "learn": ["no", None, 3],
    "class_prior": ["no", None, 3, [0.5, -0.5], [1.0], [np.nan, 1.0]],
    "decision": ["no", None, 3],
}


@pytest.mark.parametrize(
    ("estimator", "name", "value"),
    [
        (estimator, name, value)
        for estimator in (GPGCClassifier, GPGCRegressor)
        for name, bad in PARAMETERS.items()
        if name in estimator().get_params()
        for value in bad
    ],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_parameters_of_estimators_are_checked_in_fit(estimator, name, value):
    given = estimator(**{"model": "big", name: value})
    called = "seed" if name == "random_state" else name
    with pytest.raises(InputError, match=f"{called} must "):
        given.fit(X, Y)
