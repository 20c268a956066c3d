"""Nodes that join say the same in whatever form their rows and links are given."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import gpgc
from gpgc import GPGCClassifier
from gpgc.errors import InputError
from gpgc.problem import NodeTable

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(2, size=120)
SHIFTED = RNG.normal(size=(120, 4)) + 50 + 2.0 * TRUTH[:, None]
LABELS = np.where(np.arange(120) < 30, TRUTH, -1)


@pytest.mark.parametrize("standardize", ["auto", True])
def test_rows_as_a_sparse_matrix_are_centerd_as_those_of_fit(tmp_path, standardize):
    fitted = GPGCClassifier(standardize=standardize).fit(SHIFTED, LABELS)
    assert fitted.standardization_ is not None
    rows = SHIFTED[60:80]
    expected = fitted.predict_proba(rows)
    assert np.mean(expected.argmax(axis=1) == TRUTH[60:80]) > 0.9
    fitted.save(tmp_path / "model.gpgc")
    frame = pd.DataFrame(rows)
    forms = [
        sp.csr_array(rows),
        sp.coo_array(rows),
        NodeTable(rows),
        NodeTable(sp.csr_array(rows)),
        frame.astype(pd.SparseDtype(float, 0.0)),
    ]
    for estimator in (fitted, gpgc.load(tmp_path / "model.gpgc")):
        for form in forms:
            np.testing.assert_allclose(estimator.predict_proba(form), expected, atol=1e-5)


def ring(names):
    """Return a ring of nodes, each linked with the next, in two halves of one class each."""
    edges = pd.DataFrame({"source": names, "target": [*names[1:], names[0]]})
    labels = {name: int(place >= len(names) // 2) for place, name in enumerate(names)}
    return edges, {names[0]: 0, names[-1]: 1, names[3]: labels[names[3]]}


def fitted_ring(names):
    edges, labels = ring(names)
    table = pd.DataFrame({"id": names, "x": np.linspace(-1, 1, len(names)), "y": 1.0})
    estimator = GPGCClassifier("small", noise_variance=0.1, dtype="float64", standardize=False)
    return estimator.fit(table, labels, adjacency=edges)


@pytest.mark.parametrize("weight", [None, 0.5])
def test_links_given_in_both_directions_count_as_in_fit_once(weight):
    estimator = fitted_ring(list("abcdefgh"))
    one = pd.DataFrame({"source": ["n", "n", "n"], "target": ["a", "b", "m"]})
    other = one.rename(columns={"source": "target", "target": "source"})
    both = pd.concat([one, other], ignore_index=True)
    if weight is not None:
        one, both = one.assign(weight=weight), both.assign(weight=weight)
    new = pd.DataFrame({"id": ["n", "m"], "x": [0.3, -0.6], "y": 1.0})
    expected = estimator.predict_proba(new, adjacency=one)
    np.testing.assert_allclose(estimator.predict_proba(new, adjacency=both), expected, atol=1e-12)
    for kind in (nx.Graph, nx.DiGraph):
        graph = nx.from_pandas_edgelist(
            both, edge_attr=None if weight is None else "weight", create_using=kind
        )
        joined = estimator.predict_proba(new, adjacency=graph)
        np.testing.assert_allclose(joined, expected, atol=1e-12)


NAMES = {
    "strings": list("abcdefgh"),
    "positions": list(range(8)),
    "other numbers": [7, 3, 0, 1, 2, 6, 5, 4],
    "numbers as strings": ["7", "3", "0", "1", "2", "6", "5", "4"],
}


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("among", [False, True])
def test_columns_of_links_are_taken_by_name_in_any_order(kind, among):
    names = NAMES[kind]
    estimator = fitted_ring(names)
    new = ["n", "m"] if isinstance(names[0], str) else [80, 81]
    weights = np.zeros((2, 10))
    weights[0, :3], weights[1, 6:8], weights[0, 9] = 1.0, 1.0, 2.0
    frame = pd.DataFrame(weights, index=new, columns=names + new)
    frame = frame if among else frame[names]
    rows = pd.DataFrame({"id": new, "x": [0.3, -0.6], "y": 1.0})
    expected = estimator.predict_proba(rows, adjacency=weights[:, : frame.shape[1]])
    turned = estimator.predict_proba(rows, adjacency=weights[:, : frame.shape[1]][:, ::-1])
    assert np.abs(turned - expected).max() > 0.01
    for order in (frame.columns, frame.columns[::-1], sorted(frame.columns)):
        turned = frame[list(order)]
        if turned.columns.tolist() == list(range(len(turned.columns))):
            continue  # what pandas calls columns by itself names nothing
        for given in (turned, turned[::-1], pl.from_pandas(turned.rename(columns=str))):
            answer = estimator.predict_proba(rows, adjacency=given)
            np.testing.assert_allclose(answer, expected, atol=1e-12)
        unnamed = estimator.predict_proba(rows[["x", "y"]].to_numpy(), adjacency=turned)
        np.testing.assert_allclose(unnamed, expected, atol=1e-12)


def test_columns_without_names_are_taken_by_position():
    estimator = fitted_ring(list("abcdefgh"))
    rows = pd.DataFrame({"id": ["n"], "x": [0.3], "y": 1.0})
    weights = np.eye(1, 8, 2)
    expected = estimator.predict_proba(rows, adjacency=weights)
    plain = estimator.predict_proba(rows, adjacency=pd.DataFrame(weights))
    np.testing.assert_allclose(plain, expected, atol=1e-12)
    wrong = pd.DataFrame(np.eye(1, 9, 2), columns=[*"abcdefgh", "q"])
    more = pd.DataFrame(np.eye(1, 10, 2), columns=[*"abcdefgh", "n", "q"])
    with pytest.raises(InputError, match=r"must be named like .*, got 'q'"):
        estimator.predict_proba(rows, adjacency=more)
    with pytest.raises(InputError, match=r"the columns of adjacency must be named like .*'n'"):
        estimator.predict_proba(rows, adjacency=wrong)


def test_edges_in_columns_of_other_names_are_refused_in_a_sentence():
    estimator = fitted_ring(list("abcdefgh"))
    rows = pd.DataFrame({"id": ["n"], "x": [0.3], "y": 1.0})
    edges = pd.DataFrame({"from": ["n"], "target": ["a"]})
    with pytest.raises(InputError, match=r"edges in the columns source and target, .*'from'"):
        estimator.predict_proba(rows, adjacency=edges)
