"""Every option of every command is used, or refused by its name: none is dropped in silence.

For each command a small job is run without and with each of its options. A table says how the
effect is seen: the answer differs, the option is refused with its name in the message, or another
test looks at it. An option that is missing from the table fails, so that none is forgotten.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets
import typer
from typer.testing import CliRunner

from gpgc.cli.app import COMMANDS, app
from gpgc.cli.options import IN_BLOCKS, SEVERAL_LABELS
from gpgc.errors import InputError

GROUP = typer.main.get_command(app)
BASIC = ("--help",)


@dataclass(frozen=True)
class Differs:
    """The option, with what the job needs beside it, changes what is written or printed."""

    arguments: str
    beside: str = ""
    without: str = ""


@dataclass(frozen=True)
class Refused:
    """The option, beside others, is refused by its name before anything is written."""

    arguments: str
    beside: str = ""


@dataclass(frozen=True)
class Elsewhere:
    """The effect cannot be seen in an answer here; this test looks at it."""

    where: str


ON_FEATURES, TWICE = "--features x.csv", "--splits 2"
NEEDED = Elsewhere("every job needs it")
PRINTED = Elsewhere("tests/cli/test_cli.py")
PAGE = Elsewhere("tests/labelling/test_command.py")
SAME = Elsewhere("tests/estimators/test_decision.py")
IMAGES = Elsewhere("tests/cli/test_image_features.py")

FILES = {
    "--edges": Differs("--edges edges.csv"),
    "--features": Differs("--features other.csv"),
    "--nodes": Differs("--nodes nodes.csv", beside="--edges edges.csv", without=ON_FEATURES),
    "--column": Differs("--column label=second"),
    "--encode": Differs("--encode x=category"),
    "--unlabelled": Differs("--unlabelled r"),
}
MODEL = {
    "--model": Differs("--model gcnii"),
    "--base-kernel": Differs("--base-kernel arc_cosine"),
    "--depth": Differs("--depth 1", beside="--model gcnii"),
    "--noise": Differs("--noise 0.5"),
    "--activation": Differs("--activation erf", beside="--model gcnii"),
    "--kernel": Differs("--kernel ntk", beside="--model big"),
    "--learn": Differs("--learn", beside="--model small"),
    "--standardize": Differs("--standardize no"),
    "--neighbors": Differs("--neighbors 2"),
}
VOTES = Differs("--several votes --labels votes.csv", beside="--labels once.csv")
CLASSES = MODEL | {
    "--decision": Differs(
        "--decision balanced", beside="--labels few.csv --standardize yes --noise 1"
    ),
}
SHOWN = {"--json": PRINTED, "--quiet": PRINTED}
USUAL = {"--labels": NEEDED, "--out": NEEDED} | SHOWN

TABLE = {
    "run": CLASSES
    | SHOWN
    | {
        "--decision": SAME,
        "--features": Refused("--features pixels"),
        "--data-dir": Refused("--data-dir ."),
        "--seed": Differs("--seed 1"),
    },
    "classify": FILES
    | CLASSES
    | USUAL
    | {
        "--several": VOTES,
        "--sets": Differs("--sets 0.8"),
        "--held-out": Differs("--held-out held_out.csv", beside="--sets 0.8"),
        "--probabilities": Differs("--probabilities all"),
        "--save": Differs("--save model.gpgc"),
        "--novelty": Differs("--novelty"),
        "--report": Differs("--report report.html"),
        "--std": Elsewhere("tests/cli/test_further.py"),
        "--calibrate": Differs("--calibrate held_out.csv"),
        "--labels-drawn": Differs("--labels-drawn random"),
        "--scheduler": Elsewhere("tests/dask/test_files.py"),
        "--workers": Refused("--workers 2", beside="--edges edges.csv"),
        "--memory-limit": Refused("--memory-limit 1GB", beside="--edges edges.csv"),
    },
    "regress": FILES
    | MODEL
    | USUAL
    | {
        "--column": Differs("--column value=second"),
        "--unlabelled": Differs("--unlabelled 3 --unlabelled NA"),
        "--level": Differs("--level 0.5"),
        "--save": Differs("--save model.gpgc"),
    },
    "predict": SHOWN
    | {
        "--out": NEEDED,
        "--features": Differs("--features newer.csv"),
        "--edges": Differs("--edges new_edges.csv"),
        "--column": Differs("--column target=other", beside="--edges new_edges.csv"),
        "--level": Refused("--level 0.5"),
    },
    "check": FILES | CLASSES | USUAL | {"--several": VOTES, "--decision": SAME},
    "explain": FILES | CLASSES | USUAL | {"--several": VOTES, "--decision": SAME},
    "evaluate": FILES
    | CLASSES
    | USUAL
    | {
        "--decision": SAME,
        "--splits": Differs("--splits 3", without=TWICE),
        "--seed": Differs("--seed 1", beside="--noise 0.5"),
    },
    "suggest": FILES
    | CLASSES
    | USUAL
    | {
        "--decision": SAME,
        "--labels": Differs("--labels few.csv"),
        "--unlabelled": Differs("--unlabelled r"),
        "--n": Differs("--n 3"),
        "--strategy": Differs("--strategy variance"),
        "--candidates": Differs("--candidates some.csv"),
        "--costs": Differs("--costs costs.csv"),
    },
    "label": dict.fromkeys(CLASSES, PAGE)
    | {
        "--images": PAGE,
        "--texts": PAGE,
        "--features": PAGE,
        "--edges": PAGE,
        "--labels": PAGE,
        "--nodes": Refused("--nodes nodes.csv"),
        "--column": Refused("--column weight=w"),
        "--encode": Refused("--encode x=text"),
        "--classes": PAGE,
        "--journal": PAGE,
        "--goal": PAGE,
        "--suggestions": PAGE,
        "--show": PAGE,
        "--guide": PAGE,
        "--by": PAGE,
        "--overlap": PAGE,
        "--host": PAGE,
        "--seed": PAGE,
        "--port": PAGE,
        "--no-browser": PAGE,
    },
    "features": SHOWN
    | {"--network": IMAGES, "--out": IMAGES, "--side": IMAGES, "--batch-size": IMAGES},
}

JOBS = {
    "run": "run digits",
    "classify": "classify --features x.csv --labels y.csv --out out.csv",
    "regress": "regress --features x.csv --labels v.csv --out out.csv",
    "predict": "predict fitted.gpgc --features new.csv --out out.csv",
    "check": "check --features x.csv --labels y.csv --out out.csv",
    "explain": "explain n7 --features x.csv --labels y.csv --out out.csv",
    "evaluate": f"evaluate --features x.csv --labels y.csv --out out.csv {TWICE}",
    "suggest": "suggest --features x.csv --labels y.csv --out out.csv --n 5",
    "label": "label digits --no-browser",
}


IN_MODES = {
    "--several labels": ("--features x.csv --labels many.csv", SEVERAL_LABELS),
    "--scheduler local": ("--features x.csv --edges edges.csv --labels y.csv", IN_BLOCKS),
}
"""Ways to call gpgc classify → the files, and the parameters that have a meaning there."""

GIVEN = {
    option: case.arguments
    for option, case in TABLE["classify"].items()
    if not isinstance(case, Elsewhere)
} | {"--std": "--std", "--scheduler": "--scheduler local", "--several": "--several votes"}

ALSO_TRUST = ("classify", "regress", "check", "explain", "evaluate")
WITH_SEVERAL = (
    FILES
    | MODEL
    | {
        "--probabilities": Differs("--probabilities all"),
    }
)


def options_of(command: str) -> list[str]:
    found = [param for param in GROUP.commands[command].params if param.param_type_name == "option"]
    return [option.opts[0] for option in found if option.opts[0] not in BASIC]


def write_rows(name: str, header: str, rows) -> None:
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows([header.split(","), *rows])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Fill a folder with two overlapping clouds of 40 nodes, and files of every kind on them."""
    place = tmp_path_factory.mktemp("options")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 3)) * [1, 1, 30] + np.repeat([[0, 0, 0], [2, 1, 0]], 20, axis=0)
        X = X.round(2)
        ids = [f"n{node}" for node in range(40)]
        side = np.repeat(["l", "r"], 20)
        known = [*range(0, 12), *range(20, 32)]
        write_rows("x.csv", "id,x,y,z", zip(ids, *X.T.tolist(), strict=True))
        write_rows("other.csv", "id,x,y,z", zip(ids, *(X[::-1] ** 2).T.tolist(), strict=True))
        chain = [(ids[i], ids[i + step]) for step in (1, 3) for i in range(40 - step)]
        write_rows("edges.csv", "source,target", chain)
        write_rows("nodes.csv", "id", [(name,) for name in [*ids, "z"]])
        write_rows("some.csv", "id", [(name,) for name in ids[12:18]])
        labels = [(ids[i], side[i] if i != 3 else "r", side[i - 20]) for i in known]
        third = [("n15", "s", "l"), ("n16", "s", "l"), ("n35", "s", "r"), ("n36", "s", "r")]
        write_rows("y.csv", "id,label,second", [*labels, *third])
        write_rows("few.csv", "id,label,second", [labels[0], *labels[12:]])
        votes = [(name, "l", "l") for name, _, _ in labels[:6]]
        write_rows("votes.csv", "id,label,second", [*labels, *votes])
        once = {name: label for name, label, _ in votes} | {name: y for name, y, _ in labels}
        write_rows("once.csv", "id,label", once.items())
        values = [(ids[i], round(X[i, 0] * 2 + 1, 2), round(X[i, 1], 2)) for i in known]
        write_rows("v.csv", "id,value,second", [*values, ("n15", "3", "4"), ("n16", "NA", "NA")])
        write_rows(
            "many.csv", "id,label,second", [*labels, *[(*row[:1], "s", "l") for row in third]]
        )
        trusted = [(*row, 1 + 8 * (place % 3)) for place, row in enumerate([*labels, *third])]
        write_rows("trust.csv", "id,label,second,w", trusted)
        write_rows(
            "trust_v.csv", "id,value,second,w", [(*v, 1 + i % 5) for i, v in enumerate(values)]
        )
        held = [(ids[i], side[i]) for i in (12, 13, 14, 17, 32, 33, 34)]
        write_rows("held_out.csv", "id,label", [*held, ("n37", "l")])
        write_rows("named.csv", "id,label,second", [(*row, "l") for row in [*held, ("n38", "-")]])
        write_rows("costs.csv", "id,cost", [(name, 1 + i % 7) for i, name in enumerate(ids)])
        write_rows("new.csv", "id,x,y,z", [("m0", 0.5, 0, 0), ("m1", 2, 1, 9)])
        write_rows("newer.csv", "id,x,y,z", [("m0", -2, 1, 0), ("m1", 3, 1, 9)])
        joins = [("m0", "n3", "n30"), ("m0", "n4", "n31"), ("m1", "n5", "n32")]
        write_rows("new_edges.csv", "source,target,other", joins)
        call("classify --features x.csv --labels y.csv --out o.csv --save fitted.gpgc")
    return place


def call(line: str) -> str:
    done = CliRunner().invoke(app, line.split())
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def answer(line: str) -> tuple[str, str]:
    """Return what a job writes and prints, without what changes by itself."""
    Path("out.csv").unlink(missing_ok=True)
    printed = [
        row
        for row in call(line).splitlines()
        if not any(word in row for word in ("seconds", "peak memory", "gpgc ·"))
    ]
    written = Path("out.csv").read_text() if Path("out.csv").exists() else ""
    return written, "\n".join(printed)


plain_answer = cache(answer)
"""The answer of a job without the option that is tried, once for all of them."""

PIXELS, DIGITS = sklearn.datasets.load_digits(return_X_y=True)


def few_digits(return_X_y: bool):
    return PIXELS[:300], DIGITS[:300]


CASES = [
    (command, option, case)
    for command, options in TABLE.items()
    for option, case in options.items()
    if not isinstance(case, Elsewhere)
]


@pytest.mark.parametrize("command", [command.__name__.lower() for command in COMMANDS])
def test_the_table_names_every_option(command):
    assert sorted(TABLE[command]) == sorted(options_of(command))


@pytest.mark.parametrize(
    ("command", "option", "case"), CASES, ids=[f"{one} {other}" for one, other, _ in CASES]
)
def test_every_option_has_an_effect_or_is_refused(folder, monkeypatch, command, option, case):
    monkeypatch.setattr(sklearn.datasets, "load_digits", few_digits)
    if command == "label":
        pytest.importorskip("uvicorn", reason="the labelling page needs the extra label")
    monkeypatch.chdir(folder)
    job = JOBS[command].replace(case.without, "") if isinstance(case, Differs) else JOBS[command]
    job = f"{job} {case.beside}"
    if isinstance(case, Refused):
        with pytest.raises(InputError, match=option):
            call(f"{job} {case.arguments}")
        return
    assert case.arguments.startswith(option)
    assert plain_answer(job) != answer(f"{job} {case.arguments}")


@pytest.mark.parametrize(
    ("mode", "option"),
    [
        (mode, param.opts[0])
        for mode, (_, allowed) in IN_MODES.items()
        for param in GROUP.commands["classify"].params
        if param.name not in allowed and param.opts[0] in GIVEN
    ],
)
def test_options_without_a_meaning_in_a_mode_are_refused(folder, monkeypatch, mode, option):
    monkeypatch.chdir(folder)
    files, _ = IN_MODES[mode]
    with pytest.raises(InputError, match=f"^{option} is not available with {mode.split()[0]}"):
        call(f"classify {files} --out new {GIVEN[option]} {mode}")


@pytest.mark.filterwarnings("ignore:the features are not scaled")
@pytest.mark.parametrize("option", WITH_SEVERAL)
def test_options_with_a_meaning_for_several_labels_have_an_effect(folder, monkeypatch, option):
    monkeypatch.chdir(folder)
    case = WITH_SEVERAL[option]
    job = f"{JOBS['classify']} --labels many.csv --several labels".replace(case.without, "")
    job = f"{job} {case.beside}"
    assert plain_answer(job) != answer(f"{job} {case.arguments}")


def test_the_modes_name_every_option():
    known = {param.name for param in GROUP.commands["classify"].params}
    assert known >= SEVERAL_LABELS | IN_BLOCKS
    meant = {p.opts[0] for p in GROUP.commands["classify"].params if p.name in SEVERAL_LABELS}
    assert meant == {*WITH_SEVERAL, "--labels", "--out", "--several", "--json", "--quiet"}


@pytest.mark.parametrize("command", ALSO_TRUST)
def test_trust_in_labels_has_an_effect(folder, monkeypatch, command):
    monkeypatch.chdir(folder)
    job = f"{JOBS[command]} --labels {'trust_v' if command == 'regress' else 'trust'}.csv"
    assert plain_answer(job)[0] != answer(f"{job} --column trust=w")[0]


@pytest.mark.parametrize(
    "job",
    [
        f"{JOBS['suggest']} --labels trust.csv",
        f"{JOBS['classify']} --labels trust.csv --several labels",
        "label --features x.csv --labels trust.csv --no-browser",
    ],
)
def test_trust_in_labels_is_refused_where_it_would_not_count(folder, monkeypatch, job):
    if job.startswith("label"):
        pytest.importorskip("uvicorn", reason="the labelling page needs the extra label")
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match="--column trust=COLUMN"):
        call(f"{job} --column trust=w")


@pytest.mark.parametrize("option", ["--calibrate named.csv", "--sets 0.8 --held-out named.csv"])
def test_labels_that_were_kept_out_are_read_as_the_labels_are(folder, monkeypatch, option):
    monkeypatch.chdir(folder)
    plain = "--unlabelled - --unlabelled s"
    with pytest.raises(InputError, match="expected labels that --labels has too, got '-'"):
        call(f"{JOBS['classify']} {option}")
    first = answer(f"{JOBS['classify']} {plain} {option}")
    assert first != answer(f"{JOBS['classify']} {plain} {option} --column label=second")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("--model gcnii", "--model must be broad with --scheduler"),
        ("--learn", "--learn is not available with --scheduler"),
        ("--neighbors 3", "--neighbors is not available with --scheduler"),
        ("--features -", "--features must not be - with --scheduler"),
        ("--noise x", "noise"),
        ("--labels nowhere.csv", "nowhere.csv: expected a file"),
        ("--out x.csv", "--out must be a new folder"),
    ],
)
def test_what_a_cluster_would_refuse_is_refused_before_one_starts(folder, monkeypatch, more, said):
    pytest.importorskip("distributed")
    from gpgc.dask import files

    def start(*_):
        raise AssertionError("a cluster was started")

    monkeypatch.chdir(folder)
    monkeypatch.setattr(files, "connected", start)
    with pytest.raises(InputError, match=said):
        call(f"classify {IN_MODES['--scheduler local'][0]} --out new --scheduler local {more}")
