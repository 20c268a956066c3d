"""What is wrong with a block is said with the block's name."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip(
    "distributed", reason="gpgc.dask needs the extra dask: pip install 'gpgc[dask]'"
)

import dask.array as da

from dask import delayed
from gpgc.dask import DaskGPGCClassifier
from gpgc.errors import InputError


def fit(problem, client, X=None, y=None, edges=None):
    return DaskGPGCClassifier(client=client).fit(
        problem.blocks() if X is None else X,
        problem.given if y is None else y,
        problem.edges() if edges is None else edges,
    )


def test_nan_in_one_block_names_the_block_and_the_row(client, problem):
    X = problem.X.copy()
    X[1500, 2] = np.nan
    blocks = da.from_array(X, chunks=(600, X.shape[1]))
    with pytest.raises(InputError, match=r"block 2 \(rows 1,200 to 1,799\), first in row 1,500"):
        fit(problem, client, X=blocks)


def test_ids_out_of_range_name_the_partition(client, problem):
    target = problem.target.copy()
    target[-1] = 3000
    edges = problem._replace(target=target).edges()
    with pytest.raises(InputError, match=r"partition 2, must name nodes .* 2999 .* got 3000"):
        fit(problem, client, edges=edges)


def test_ids_that_are_no_whole_numbers_name_the_partition(client, problem):
    edges = problem._replace(source=problem.source + 0.5).edges()
    with pytest.raises(InputError, match=r"partition \d, must hold whole numbers as source"):
        fit(problem, client, edges=edges)


def test_a_block_that_lacks_rows_is_named(client, problem):
    def part(number):
        rows = problem.X[1000 * number : 1000 * (number + 1)]
        return rows[:0] if number == 1 else rows

    X = da.concatenate(
        [da.from_delayed(delayed(part)(n), (1000, 8), dtype=np.float32) for n in range(3)]
    )
    with pytest.raises(InputError, match=r"block 1 \(rows 1,000 to 1,999\), got \(0, 8\)"):
        fit(problem, client, X=X)


def test_an_empty_block_unknown_sizes_and_arrays_in_memory_are_refused(client, problem):
    empty = da.zeros((3000, 8), chunks=((2000, 0, 1000), (8,)))
    with pytest.raises(InputError, match=r"rows in every block and columns, got none in \[1\]"):
        fit(problem, client, X=empty)
    blocks = problem.blocks()
    with pytest.raises(InputError, match=r"compute_chunk_sizes"):
        fit(problem, client, X=blocks[blocks[:, 0] > 0], y=problem.given)
    with pytest.raises(InputError, match=r"X must be a Dask array of shape"):
        fit(problem, client, X=problem.X)
    with pytest.raises(InputError, match=r"adjacency must be a Dask DataFrame"):
        fit(problem, client, edges=(problem.source, problem.target))
    with pytest.raises(InputError, match=r"y must have one entry for each of the 3000 rows, got 9"):
        fit(problem, client, y=problem.given[:9])


def test_without_a_client_the_message_says_how_to_connect(problem):
    with pytest.raises(InputError, match=r"client must be a distributed.Client"):
        fit(problem, None)
