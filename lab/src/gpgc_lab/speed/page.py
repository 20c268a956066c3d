"""What the page of ``gpgc label`` reaches: in a real Chromium, and with simulated people."""

from __future__ import annotations

import csv
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc import GPGCClassifier
from gpgc.graph import neighbor_graph
from gpgc.labelling.label import open_desk
from gpgc.labelling.labelling import Labelling
from gpgc.labelling.session import Session
from gpgc.labelling.sources import Source, digits, text_table
from gpgc.plot.layout import layouts
from gpgc_lab.datasets import load_dataset
from gpgc_lab.tables import Table

SECTIONS = ("keys", "first", "bulk", "people", "interval", "map", "order", "safe")
ITEM, CLICK = 0.8, 0.4
"""Seconds that a simulated person takes for an item, and for a click or a key."""

TILE = 1 / 6
"""A glance at one of many alike tiles, in items."""

GIVEN = 60
"""Labels before labels a minute are counted, then as many more; and those of a session."""

CELLS = 40
"""Cells along each side of the map."""

TOKEN = "a-token-for-benchmarks-1234"
SAFE = "kills and many or full_disk or not_saved or accessibility or late_answer"
"""Tests of a clone that hold what is no number."""

WATCH = """() => {
  window.taken = [];
  let pressed = null;
  document.addEventListener('keydown', () => { pressed = performance.now(); }, true);
  new MutationObserver(() => {
    if (pressed === null) return;
    const since = pressed;
    pressed = null;
    requestAnimationFrame(() => {  // a task after the frame's callbacks: it was painted
      const channel = new MessageChannel();
      channel.port1.onmessage = () => window.taken.push(performance.now() - since);
      channel.port2.postMessage(null);
    });
  }).observe(document.querySelector('.item-box'), { attributeFilter: ['data-item'] });
}"""


class Texts(NamedTuple):
    """A table of texts, and the class of each."""

    path: Path
    truth: list[str]


def page_tables(
    data_dir: Path | None, only: str | None, quick: bool, out: Path, say: Callable[[str], None]
) -> list[Table]:
    """Return what was wanted of the page beside what it reaches.

    Sections that are not measured now keep the rows that the table in ``out`` has.
    """
    wanted = only.split(",") if only else list(SECTIONS)
    columns = ["section", "what", "wanted", "reached", "measured"]
    table = Table("page", "The page in numbers", columns)
    stored, path = [], out / "page.csv"
    if path.is_file():
        with path.open(newline="") as file:
            stored = [row for row in list(csv.reader(file))[1:] if row[0] not in wanted]
    with TemporaryDirectory() as place:
        folder = Path(place)
        texts = write_texts(folder / "texts.csv")
        sections: dict[str, Callable[[], Iterator[Sequence[Any]]]] = {
            "keys": lambda: _keys(folder, texts, 20 if quick else 80),
            "first": lambda: _first(folder, texts, quick),
            "bulk": lambda: _bulk(folder, texts),
            "people": lambda: _people(folder, texts),
            "interval": lambda: _interval(folder, data_dir, 10 if quick else 100),
            "map": lambda: _map(texts),
            "order": lambda: _order(folder, 5),
            "safe": _safe,
        }
        for name in SECTIONS:
            table.rows += [row for row in stored if row[0] == name]
            for row in sections[name]() if name in wanted else ():
                load = os.getloadavg()[0]
                table.rows.append([name, *row, f"{date.today()}, load {load:.0f}"])
                say(" | ".join(map(str, table.rows[-1])))
    table.notes = [
        "Texts are made up: 3,000 of 8 classes, 36 words each of which 6 are of the class, a tenth "
        "of them near-duplicates.",
        f"Simulated people take {ITEM} s an item, {CLICK} s a click or key, and in a group "
        f"{TILE:.2f} of an item a tile.",
        "Seconds of the first item are counted from opening the address; in brackets from the "
        "start of the command.",
    ]
    return [table]


def write_texts(path: Path, n: int = 3000, n_classes: int = 8, seed: int = 0) -> Texts:
    """Write made-up texts of some classes, a tenth of them near-duplicates."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    own = [[f"word{c}x{i}" for i in range(60)] for c in range(n_classes)]
    usual = [f"usual{i}" for i in range(600)]
    texts = [" ".join([*rng.choice(own[c], 6), *rng.choice(usual, 30)]) for c in truth]
    for node in range(0, n, 10):
        texts[node], truth[node] = f"{texts[node - 1]} again", truth[node - 1]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["id", "text"], *([f"t{i}", t] for i, t in enumerate(texts))])
    return Texts(path, [str(code) for code in truth])


def write_graph(folder: Path, n: int, n_features: int, n_classes: int = 6) -> list[Any]:
    """Write a graph of classes that are mostly linked among themselves; return the options."""
    rng = np.random.default_rng(0)
    truth = rng.integers(n_classes, size=n)
    features = 2 * rng.standard_normal((n, n_features), dtype=np.float32)
    features += rng.standard_normal((n_classes, n_features), dtype=np.float32)[truth]
    order = np.argsort(truth, kind="stable")
    first = np.searchsorted(truth[order], np.arange(n_classes + 1))
    source = np.repeat(np.arange(n), 5)
    low, high = first[truth[source]], first[truth[source] + 1]
    inside = order[(low + rng.random(len(source)) * (high - low)).astype(np.int64)]
    target = np.where(rng.random(len(source)) < 0.8, inside, rng.integers(n, size=len(source)))
    folder.mkdir()
    np.save(folder / "x.npy", features)
    links = sp.csr_array((np.ones(len(source), np.float32), (source, target)), shape=(n, n))
    sp.save_npz(folder / "links.npz", links, compressed=False)
    return ["--features", folder / "x.npy", "--edges", folder / "links.npz"]


def write_images(folder: Path, n: int = 636) -> list[Any]:
    """Write photographs of noise, every fiftieth broken; return the options."""
    from PIL import Image

    folder.mkdir()
    rng = np.random.default_rng(0)
    for place in range(n):
        coarse = rng.integers(256, size=(12, 16, 3), dtype=np.uint8)
        image = Image.fromarray(coarse).resize((1024, 768), Image.Resampling.BICUBIC)
        image.save(folder / f"{place}.jpg")
        if place % 50 == 0:
            (folder / f"{place}.jpg").write_bytes(b"\xff\xd8\xff broken")
    return ["--images", folder]


class Visit(NamedTuple):
    """A page of a server that runs, and the seconds until its first item."""

    page: Any
    base: str
    from_address: float
    from_command: float


@contextmanager
def visit(folder: Path, *options: Any) -> Iterator[Visit]:
    """Start ``gpgc label`` and open its page once there is an item on it."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise RuntimeError("the page is measured in Chromium: apt-get install chromium")
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "gpgc", "label", *map(str, options), "--no-browser"]
    command += ["--journal", str(folder / "labels.jsonl")]
    started = perf_counter()
    known = {**os.environ, "GPGC_TOKEN": TOKEN, "PYTHONUNBUFFERED": "1"}
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=known) as server,
        sync_playwright() as playwright,
    ):
        try:
            assert server.stdout is not None
            found = re.search(r"(http://[^/]+)/\S+", server.stdout.readline())
            assert found is not None
            flags = ["--enable-unsafe-swiftshader", "--no-sandbox"]
            browser = playwright.chromium.launch(executable_path=chromium, args=flags)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(600_000)  # of milliseconds: a busy machine is no failure
            opened = perf_counter()
            page.goto(found[0])
            page.locator(".item-box[data-item]").wait_for()
            seen = perf_counter()
            yield Visit(page, found[1], seen - opened, seen - started)
            browser.close()
        finally:
            server.send_signal(signal.SIGINT)


def _keys(folder: Path, texts: Texts, n: int) -> Iterator[Sequence[Any]]:
    graph = write_graph(folder / "graph", 200_000, 32)
    for name, options in (("3,000 texts", ["--texts", texts.path]), ("200,000 nodes", graph)):
        with visit(folder / f"keys {name}", *options, "--classes", "a,b,c,d,e,f") as (page, *_):
            page.locator(".progress").wait_for(state="hidden")
            page.evaluate(WATCH)
            for step in range(n):
                before = page.locator(".item-box").get_attribute("data-item")
                page.wait_for_timeout(400)
                page.keyboard.press(str(1 + step % 6))
                page.locator(f".item-box[data-item]:not([data-item='{before}'])").wait_for()
            taken = page.evaluate("window.taken")
        least, median, late = np.quantile(taken, [0, 0.5, 0.95])
        reached = f"{median:.0f}; {late:.0f} (least {least:.0f})"
        yield f"key → next item, {name}, ms: median; 95 %", "≤ 15; ≤ 40", reached


def _first(folder: Path, texts: Texts, quick: bool) -> Iterator[Sequence[Any]]:
    sources: dict[str, tuple[float, Callable[[], list[Any]]]] = {
        "3,000 texts": (1.5, lambda: ["--texts", texts.path]),
        "636 images": (2.0, lambda: write_images(folder / "images")),
        "1,000,000 nodes of 32 columns": (5.0, lambda: write_graph(folder / "huge", 1_000_000, 32)),
    }
    for name, (wanted, write) in sources.items():
        options, taken = write(), []
        for turn in range(1 if quick else 3):
            with visit(folder / f"{name} {turn}", *options, "--classes", "a,b") as seen:
                taken.append(seen[2:])
        address, command = np.min(taken, axis=0)
        yield f"first item, {name}, s", f"≤ {wanted}", f"{address:.1f} ({command:.1f})"


def _bulk(folder: Path, texts: Texts) -> Iterator[Sequence[Any]]:
    with visit(folder / "bulk", "--texts", texts.path, "--classes", "a,b,c") as (page, base, *_):
        page.locator(".progress").wait_for(state="hidden")
        taken = []
        for turn in range(5):
            start = perf_counter()
            event = {"event": f"bulk {turn}", "do": "bulk", "items": [*range(220)], "label": "a"}
            saved = page.request.post(f"{base}/api/events", data=event).json()["labels"]
            taken.append(perf_counter() - start)
            undo = {"event": f"undo {turn}", "do": "undo"}
            left = page.request.post(f"{base}/api/events", data=undo).json()["labels"]
    yield f"bulk of {saved}, s", "≤ 0.5", min(taken)
    yield f"undos of a bulk of {saved}", "1", 1 if left == 0 else "more"


def _people(folder: Path, texts: Texts) -> Iterator[Sequence[Any]]:
    made = text_table(texts.path).described(lambda fraction, what: None)
    shown = load_dataset("digits").labels
    for name, source, truth in (
        ("digits", digits(), [str(code) for code in shown]),
        ("3,000 texts", made, texts.truth),
    ):
        (folder / name).mkdir(exist_ok=True)
        alone, alone_right = _pace(source, truth, folder / name / "alone.jsonl", groups=False)
        group, group_right = _pace(source, truth, folder / name / "group.jsonl", groups=True)
        reached = f"{group / alone:.1f} times ({alone:.0f} → {group:.0f})"
        yield f"labels a minute, {name}: groups over one by one", "≥ 3 times", reached
        reached = f"{100 * group_right:.1f} % ({100 * alone_right:.1f} % one by one)"
        yield f"right of the rest after {2 * GIVEN} labels, {name}, with groups", "same", reached


def _pace(source: Source, truth: Sequence[str], journal: Path, groups: bool) -> tuple[float, float]:
    """Return labels a minute and accuracy of a person who knows."""
    desk = open_desk(source, journal, sorted(set(truth)))
    session, seconds, given = desk.session, 0.0, 0
    while given < 2 * GIVEN:
        session.live.settle(300)
        label, nodes, _ = session.sure_group() if groups and given >= GIVEN else (None, [], 0)
        if nodes:
            kept = [node for node in nodes if truth[node] == label]
            wrong = [node for node in nodes if truth[node] != label]
            session.record({"do": "confirm", "label": label, "items": kept, "declined": wrong})
            cost = ITEM * (1 + TILE * len(nodes)) + CLICK * (1 + len(wrong))
        else:
            kept = session.next("", 1)
            session.record({"do": "label", "item": kept[0], "label": truth[kept[0]]})
            cost = ITEM + CLICK
        seconds += cost if given >= GIVEN else 0.0
        given += len(kept)
    known = {session.index[name]: each.label for name, each in session.ledger.labels.items()}
    said = session.live.fit(known).result().predict()
    session.close()
    rest = [node for node in range(len(truth)) if node not in known]
    right = float(np.mean([said[node] == truth[node] for node in rest]))
    return 60 * (given - GIVEN) / seconds, right


def _interval(folder: Path, data_dir: Path | None, n: int) -> Iterator[Sequence[Any]]:
    for name in ("digits", "cora", "citeseer"):
        data = load_dataset(name, data_dir)
        truth = [str(code) for code in data.labels]
        base = Labelling.on(data.features, None, data.adjacency, refresh="manual")
        held, widths = 0, []
        for seed in range(n):
            low, high, right = _session(base, truth, folder / f"{name} {seed}.jsonl", seed)
            held += low <= right <= high
            widths.append(high - low)
        reached = f"{100 * held / n:.0f} % (width {100 * np.median(widths):.0f} points)"
        yield f"95 % interval holds the truth, {n} sessions of {GIVEN}, {name}", "≥ 90 %", reached


def _session(
    base: Labelling, truth: Sequence[str], journal: Path, seed: int
) -> tuple[float, float, float]:
    """Return the interval after a session, and the accuracy on the rest that it is to hold."""
    ids = [str(node) for node in range(len(truth))]
    session = Session(ids, lambda nodes: base.copy(), journal, sorted(set(truth)), seed=seed)
    session.start()
    for _ in range(GIVEN):
        session.live.settle(300)
        (node,) = session.next("", 1)
        session.record({"do": "label", "item": node, "label": truth[node]})
    session.live.settle(300)
    found, opinion = session.estimate()["interval"], session.live.opinion
    rest = [node for node, name in enumerate(ids) if name not in session.ledger.labels]
    right = float(np.mean([(opinion.of(node) or ("",))[0] == truth[node] for node in rest]))
    session.close()
    return found["low"], found["high"], right


def _map(texts: Texts) -> Iterator[Sequence[Any]]:
    features = text_table(texts.path).described(lambda fraction, what: None).features
    *_, places = layouts(features, neighbor_graph(features, 10))
    name = f"80 % of the points of 3,000 texts lie in, of {CELLS**2:,} cells"
    yield name, "≥ 100", cells_of_most(places)


def cells_of_most(places: NDArray[np.uint16]) -> int:
    """Return how many cells of the map hold 80 % of the points."""
    codes = (places.astype(int) * CELLS // 65_536) @ [CELLS, 1]
    counts = np.sort(np.bincount(codes, minlength=CELLS**2))[::-1]
    return int(np.searchsorted(np.cumsum(counts), 0.8 * len(places)) + 1)


def _order(folder: Path, seeds: int, n: int = 20) -> Iterator[Sequence[Any]]:
    gained = []
    for seed in range(seeds):
        texts = write_texts(folder / f"order {seed}.csv", seed=seed)
        features = text_table(texts.path).described(lambda fraction, what: None).features
        truth = np.array(texts.truth)
        labelling = Labelling.on(features)
        for _ in range(n):
            nodes = labelling.suggest().nodes
            labelling.add(nodes, truth[nodes])
        drawn = np.random.default_rng(seed).permutation(len(truth))[:n]
        right = []
        for chosen in (list(labelling.labels), drawn):
            y = np.full(len(truth), None, dtype=object)
            y[chosen] = truth[chosen]
            said = GPGCClassifier().fit(features, y).predict()
            right.append(float(np.mean(np.delete(said == truth, chosen))))
        gained.append(100 * (right[0] - right[1]))
    mean, error = np.mean(gained), np.std(gained, ddof=1) / np.sqrt(seeds)
    name = f"suggestions over random order at {n} labels, 3,000 texts, {seeds} seeds, points"
    yield name, "≥ 0", f"{mean:+.1f} ± {error:.1f}"


def _safe() -> Iterator[Sequence[Any]]:
    tests = Path(__file__).parents[4] / "tests" / "browser"
    command = [sys.executable, "-m", "pytest", "-n", "0", "-o", "addopts=", "-k", SAFE, str(tests)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tests.parent.parent)
    found = re.search(r"=+ (.*(?:passed|failed|error).*) in ", done.stdout)
    name = (
        "tests of serious violations (axe-core) and of labels lost by kills, a full disk, offline"
    )
    yield name, "all pass", found[1] if found else done.stderr[-200:] or done.stdout[-200:]
