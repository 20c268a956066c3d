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
from gpgc.dask.parquet import EdgePart
from gpgc.errors import InputError


def fit(problem, client, X=None, y=None, edges=None):
    return DaskGPGCClassifier(client=client).fit(
        problem.blocks() if X is None else X,
        problem.given if y is None else y,
        problem.edges() if edges is None else edges,
    )


def test_nan_in_one_block_names_the_block_and_the_row(threads, problem):
    X = problem.X.copy()
    X[1500, 2] = np.nan
    blocks = da.from_array(X, chunks=(600, X.shape[1]))
    with pytest.raises(InputError, match=r"block 2 \(rows 1,200 to 1,799\), first in row 1,500"):
        fit(problem, threads, X=blocks)


def test_ids_out_of_range_name_the_partition(threads, problem):
    target = problem.target.copy()
    target[-1] = 3000
    edges = problem._replace(target=target).edges()
    said = r"partition 2, must name nodes from 0 to 2999 as target, got 3000 in row 1,312$"
    with pytest.raises(InputError, match=said):
        fit(problem, threads, edges=edges)


def test_ids_that_are_no_whole_numbers_name_the_partition(threads, problem):
    edges = problem._replace(source=problem.source + 0.5).edges()
    with pytest.raises(InputError, match=r"partition \d, must hold whole numbers as source"):
        fit(problem, threads, edges=edges)


def test_a_block_that_lacks_rows_is_named(threads, problem):
    def part(number):
        rows = problem.X[1000 * number : 1000 * (number + 1)]
        return rows[:0] if number == 1 else rows

    X = da.concatenate(
        [da.from_delayed(delayed(part)(n), (1000, 8), dtype=np.float32) for n in range(3)]
    )
    with pytest.raises(InputError, match=r"block 1 \(rows 1,000 to 1,999\), got \(0, 8\)"):
        fit(problem, threads, X=X)


def test_an_empty_block_unknown_sizes_and_arrays_in_memory_are_refused(threads, problem):
    empty = da.zeros((3000, 8), chunks=((2000, 0, 1000), (8,)))
    with pytest.raises(InputError, match=r"rows in every block and columns, got none in \[1\]"):
        fit(problem, threads, X=empty)
    blocks = problem.blocks()
    with pytest.raises(InputError, match=r"compute_chunk_sizes"):
        fit(problem, threads, X=blocks[blocks[:, 0] > 0], y=problem.given)
    with pytest.raises(InputError, match=r"X must be a Dask array of shape"):
        fit(problem, threads, X=problem.X)
    with pytest.raises(InputError, match=r"adjacency must be a Dask DataFrame"):
        fit(problem, threads, edges=(problem.source, problem.target))
    with pytest.raises(InputError, match=r"y must have one entry for each of the 3000 rows, got 9"):
        fit(problem, threads, y=problem.given[:9])


def test_without_a_client_the_message_says_how_to_connect(problem, monkeypatch):
    def nobody():
        raise ValueError("no client")

    monkeypatch.setattr("gpgc.dask.cluster.default_client", nobody)
    with pytest.raises(InputError, match=r"client must be a distributed.Client"):
        fit(problem, None)


def test_columns_that_are_too_wide_and_numbers_that_are_too_large_are_refused(problem, threads):
    wide = da.zeros((300_000, 1025), chunks=(100_000, 1025), dtype=np.float32)
    y = np.r_[0, 1, np.full(299_998, -1)]
    with pytest.raises(InputError, match=r"X must have at most 1,024 columns on a cluster"):
        fit(problem, threads, X=wide, y=y)
    X = problem.X.astype(np.float64)
    X[7, 1] = 1e200
    with pytest.raises(InputError, match=r"X must hold numbers of size 1e\+150 at most"):
        fit(problem, threads, X=da.from_array(X, chunks=(600, 8)))


def test_weights_in_some_partitions_alone_are_refused(problem, threads):
    frames = [delayed(part) for part in (problem.edges(1).compute(),) * 2]
    frames[1] = delayed(problem.edges(1).compute().assign(weight=1.0))
    edges = [EdgePart(frame, "edges") for frame in frames]
    with pytest.raises(InputError, match="adjacency must have weights in all partitions or in no"):
        fit(problem, threads, edges=edges)


@pytest.mark.parametrize("sizes", [(1, 2998, 1), (2999, 1), (10, 1490, 1500)])
def test_blocks_of_one_row_and_of_unequal_sizes_change_nothing(
    threads, problem, small_model, sizes
):
    X = da.from_array(problem.X, chunks=(sizes, (8,)))
    model = DaskGPGCClassifier(small_model, client=threads)
    labels = model.fit(X, problem.given, problem.edges()).predict().compute()
    one = DaskGPGCClassifier(small_model, client=threads)
    expected = one.fit(problem.blocks(1), problem.given, problem.edges()).predict().compute()
    np.testing.assert_array_equal(labels, expected)
