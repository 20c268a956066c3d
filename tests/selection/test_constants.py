"""Numbers that steer the default: each has a docstring, and there are no more than 35."""

import ast
from importlib import import_module
from pathlib import Path

import gpgc

STEERING = {
    "gpgc.selection.constants": (
        *("LABELS_FOR_VIEWS", "MANY_LABELS", "CALIBRATION_LABELS", "RELATIVE_NOISE"),
        *("NOISE_PULL", "CLASS_PULL", "VALUE_PULL", "CLASS_STD", "VALUE_STD", "OTHER_STD"),
        "LEAST_SHARE",
    ),
    "gpgc.probability.temperature": (
        *("SURE", "AGREEING", "ALIKE_STD", "UNLIKE", "SHARPEST", "CHANCE_GAIN", "LABELS_A_NAT"),
    ),
    "gpgc.probability.class_prior": ("SYSTEMATIC", "PSEUDO_LABELS", "RATIO_STD"),
    "gpgc.probability.score_curve": ("CURVATURES", "FEWEST_LABELS", "N_ERRORS"),
    "gpgc.models.broad": ("NEIGHBOR_NOISE", "WALK_SHARE", "WALK_SHARE_UNLIKE"),
    "gpgc.models.homophily": ("UNLIKE_UP_TO", "ALIKE_FROM", "RELATED_ERRORS"),
    "gpgc.models.graph_view": ("TELEPORTS", "STEPS"),
    "gpgc.models.walk": ("TELEPORT",),
    "gpgc.models.degrees": ("DEGREE_SCALE",),
}
"""By module; the usual noise is a parameter of `Broad` beside them."""

OTHERS = {
    "gpgc.selection.constants": (
        *("NOISE_SAMPLE", "LEAST_BETWEEN", "DECADE", "LEAST_RELATIVE_NOISE", "MANY_SCORES"),
        *("COARSE", "NOISE_STEP", "VALUE_ROUNDS", "STACKING_CONVERGED", "VALUE_ROUNDING"),
    ),
    "gpgc.probability.temperature": (
        *("LEAST_CONTRAST", "SHARPNESS_STEPS", "BISECTIONS", "NEWTON_STEPS"),
    ),
    "gpgc.probability.class_prior": ("LEAST_VARIANCE",),
    "gpgc.probability.score_curve": ("FEWEST_DIFFERENCES",),
}
"""Of searches, samples, memory and rounding."""


def documented(module):
    """Return the constants of a module, and whether a docstring follows each."""
    body = ast.parse(Path(import_module(module).__file__).read_text(encoding="utf-8")).body
    found = {}
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign):
            targets = [name.id for name in ast.walk(node.targets[0]) if isinstance(name, ast.Name)]
            said = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            found.update(dict.fromkeys((name for name in targets if name.isupper()), said))
    return found


def test_no_more_than_thirty_five_numbers_steer_the_default():
    assert sum(map(len, STEERING.values())) + 1 <= 35
    for module, names in STEERING.items():
        found = documented(module)
        assert all(found[name] for name in names), module


def test_every_constant_of_a_choice_is_counted():
    for module in ("selection.constants", *("probability." + m for m in probability_modules())):
        name = f"gpgc.{module}"
        known = {*STEERING.get(name, ()), *OTHERS.get(name, ())}
        assert set(documented(name)) == known, name


def probability_modules():
    """Return the modules of probabilities that a fit of the default runs through."""
    folder = Path(gpgc.__file__).parent / "probability"
    asked_for = {"__init__", "error_rate", "fraction", "label_thresholds", "calibration"}
    return sorted(file.stem for file in folder.glob("*.py") if file.stem not in asked_for)
