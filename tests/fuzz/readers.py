"""Damage real files over and over and read them; any error but those for users ends it.

python -m tests.fuzz.readers FOLDER READERS FIRST COUNT

READERS is ``tables``, ``arrays``, ``models``, or the name of one reader.

Memory is limited, and a case that takes long is ended by an alarm, so that a crash, a hang and a
claim of too much memory all end the process; its last line of output names the case.
"""

from __future__ import annotations

import faulthandler
import gzip
import resource
import signal
import sys
import tempfile
import traceback
import warnings
import zlib
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

import gpgc
from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.errors import DataError, InputError
from gpgc.files import Journal, read_npy, read_npz, read_sparse
from gpgc.problem.read import read_candidates, read_costs, read_problem
from tests.fuzz.mutations import Damage, damage_archive, damage_bytes, damage_model

STORED = Path(__file__).parents[1] / "compatibility" / "v0_1"
EXTRA_MEMORY = 2**30
"""Bytes that reading may add to what the process has at its start; the files are far smaller."""

SECONDS = 300
"""Time after which a case, which takes milliseconds, counts as a hang."""

EDGES = b"source,target,weight\n" + b"".join(b"n%d,n%d,1.5\n" % (i, i + 1) for i in range(9))
LABELS = b"id,label\nn0,red\nn5,blue\nn9,\nn2,NA\n"
TABLE = b"id,x,y\n" + b"".join(b"n%d,%d,0.5\n" % (i, i) for i in range(10))


class Reader(NamedTuple):
    """A file name, its content, how it is damaged and how it is read."""

    name: str
    content: bytes
    damage: Damage
    read: Callable[[Path], object]


def _learn(path: Path) -> None:
    """Load a model and use it."""
    model = gpgc.load(path)
    model.predict()


def _models() -> dict[str, bytes]:
    """Return files of small models of several kinds."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    dense = rng.normal(size=(60, 6)) + 3 * np.eye(6)[truth]
    words = sp.csr_array(rng.poisson(0.4, size=(60, 12)) + 2 * np.eye(12, dtype=int)[truth])
    edges = np.nonzero(np.triu(rng.random((60, 60)) < 0.05 + 0.15 * (truth[:, None] == truth), 1))
    few = np.where(np.arange(60) % 5, -1, truth)
    values = np.where(few < 0, np.nan, truth + 0.1 * dense[:, 0])
    fitted = {
        "classifier_graph": GPGCClassifier(dtype="float64").fit(None, few, edges),
        "classifier_dense": GPGCClassifier().fit(dense, few),
        "classifier_words": GPGCClassifier(noise_variance="evidence").fit(words, few, edges),
        "classifier_small": GPGCClassifier("small", depth=3).fit(dense, few, edges),
        "regressor_two": GPGCRegressor("big").fit(dense, np.column_stack([values] * 2), edges),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, model in fitted.items():
            model.save(Path(folder) / name)
        return {name: (Path(folder) / name).read_bytes() for name in fitted}


def _append(path: Path) -> None:
    Journal(path).append({"more": 1})
    Journal(path)


def _arrays() -> dict[str, bytes]:
    import io

    def written(save: Callable[..., None], *arrays: object, **named: object) -> bytes:
        buffer = io.BytesIO()
        save(buffer, *arrays, **named)
        return buffer.getvalue()

    matrix = sp.random_array((8, 8), density=0.4, rng=0, format="csr")
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    parts["shape"] = np.array(matrix.shape)
    graph = {f"{kind}_{name}": part for kind in ("adj", "attr") for name, part in parts.items()}
    masks = {
        f"{name}_masks": np.roll(np.eye(8, dtype=bool), shift, axis=1)
        for shift, name in enumerate(("train", "val", "test"))
    }
    return {
        "npy": written(np.save, np.arange(12.0).reshape(4, 3)),
        "csr": written(sp.save_npz, matrix),
        "coo": written(sp.save_npz, matrix.tocoo()),
        "graph": written(np.savez, **graph, **masks, labels=np.arange(8) % 3),
    }


def readers(kind: str) -> dict[str, Reader]:
    """Return the readers of ``tables``, ``arrays`` or ``models`` by name, or a single one."""
    arrays = _arrays()
    ids = [f"n{i}" for i in range(10)]
    tables = {
        "edges": Reader("e.csv", EDGES, damage_bytes, lambda p: read_problem(p, None, None)),
        "tsv": Reader(
            "e.tsv",
            EDGES.replace(b",", b"\t"),
            damage_bytes,
            lambda p: read_problem(p, None, None),
        ),
        "gzip": Reader(
            "e.csv.gz",
            gzip.compress(EDGES, mtime=0),
            damage_bytes,
            lambda p: read_problem(p, None, None),
        ),
        "table": Reader("x.csv", TABLE, damage_bytes, lambda p: read_problem(None, p, None)),
        "labels": Reader("l.csv", LABELS, damage_bytes, _read_labels),
        "candidates": Reader(
            "c.csv", b"id\nn1\nn2\n", damage_bytes, partial(read_candidates, ids=ids)
        ),
        "costs": Reader("c.csv", b"id,cost\nn1,2.5\n", damage_bytes, partial(read_costs, ids=ids)),
        "journal": Reader(
            "j.jsonl",
            b"".join((STORED / "active_runs.jsonl").read_bytes().splitlines(True)[:3]),
            damage_bytes,
            _append,
        ),
    }
    binary = {
        "npy": Reader("x.npy", arrays["npy"], damage_bytes, read_npy),
        "npz": Reader("x.npz", arrays["graph"], damage_archive, read_npz),
        "csr": Reader("x.npz", arrays["csr"], damage_archive, read_sparse),
        "coo": Reader("x.npz", arrays["coo"], damage_archive, read_sparse),
    }
    if find_spec("gpgc_lab") is not None:
        from gpgc_lab.datasets import load_npz_graph

        binary["graph"] = Reader("g.npz", arrays["graph"], damage_archive, load_npz_graph)
    models = {
        name: Reader("m.gpgc", content, damage_model, _learn) for name, content in _models().items()
    }
    kinds = {"tables": tables, "arrays": binary, "models": models}
    if kind in kinds:
        return kinds[kind]
    return {kind: (tables | binary | models)[kind]}


def _read_labels(path: Path) -> None:
    edges = path.with_name("edges.csv")
    edges.write_bytes(EDGES)
    read_problem(edges, None, path)


def main(folder: Path, kind: str, first: int, count: int) -> None:
    """Run cases first … first + count − 1 of each reader of a kind."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    chosen = readers(kind)
    for reader in chosen.values():  # what is whole is read; all is imported before the limit
        path = folder / reader.name
        path.write_bytes(reader.content)
        reader.read(path)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + EXTRA_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for name, reader in chosen.items():
        for case in range(first, first + count):
            print(f"{name} {case}", flush=True)
            run(reader, folder, np.random.default_rng([case, zlib.crc32(name.encode())]))


def run(reader: Reader, folder: Path, rng: np.random.Generator) -> None:
    """Read one damaged file; end the process unless it is read or refused in a sentence."""
    path = folder / reader.name
    path.write_bytes(reader.damage(reader.content, rng))
    signal.alarm(SECONDS)
    try:
        reader.read(path)
    except (InputError, DataError) as error:
        if not 0 < len(str(error)) < 2000:
            sys.exit(f"a message of {len(str(error))} characters")
    except BaseException:
        traceback.print_exc()
        sys.exit("an error that is not for users")
    signal.alarm(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
