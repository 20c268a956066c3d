"""Graphs of NetworkX, igraph and PyTorch Geometric, whole."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest

import gpgc
from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.errors import InputError

SIDES = {"left": ["a", "b", "c"], "right": ["d", "e", "f"]}


@pytest.fixture
def graph():
    """Two triangles, a label in each, and attributes of three kinds; ``c`` lacks two of them."""
    found = nx.Graph()
    for side, nodes in SIDES.items():
        for name in nodes:
            words = f"on the {side} side is {name}"
            found.add_node(name, words=words, size=float(side == "left"), at=[1.0, ord(name) / 100])
        nx.add_cycle(found, nodes, weight=2.0)
    del found.nodes["c"]["words"], found.nodes["c"]["size"]
    found.nodes["a"]["side"], found.nodes["f"]["side"] = "left", "right"
    return found


def test_attributes_of_networkx(graph):
    X, y, adjacency = gpgc.from_networkx(graph, "side")
    assert adjacency is graph
    assert y.tolist() == ["left", None, None, None, None, "right"]
    assert X.columns == ("words", "size", "at_0", "at_1")
    model = GPGCClassifier().fit(X, y, adjacency)
    assert model.node_names_.tolist() == list("abcdef")
    assert model.predict().tolist() == ["left"] * 3 + ["right"] * 3
    assert model.adjacency_.data.tolist() == [2.0] * 12
    chosen = gpgc.from_networkx(graph, "side", features=["size"]).X
    assert chosen.columns == ("size",)
    kinds = gpgc.from_networkx(graph, "side", features=["size"], kinds={"size": "category"}).X
    assert kinds.encoder.columns[0].categories == ("0", "1")


def test_a_graph_without_other_attributes(graph):
    bare = nx.Graph(graph.edges)
    nx.set_node_attributes(bare, {"a": 1.0, "f": 0.0}, "value")
    X, y, adjacency = gpgc.from_networkx(bare, "value")
    assert X.features is None
    predicted = GPGCRegressor().fit(X, y, adjacency).to_frame()
    assert predicted["id"].tolist() == list(bare.nodes)


def test_attributes_that_are_not_there(graph):
    with pytest.raises(InputError, match=r"label must be an attribute of some node .*got 'club'"):
        gpgc.from_networkx(graph, "club")
    with pytest.raises(InputError, match=r"features must be an attribute .*got 'age'"):
        gpgc.from_networkx(graph, "side", features=["age"])
    graph.nodes["b"]["at"] = [1.0]
    with pytest.raises(InputError, match=r"features\['at'\] must be vectors of one length"):
        gpgc.from_networkx(graph, "side")


def test_graphml_by_networkx(graph, tmp_path):
    for name in graph.nodes:
        del graph.nodes[name]["at"]
    nx.write_graphml(graph, tmp_path / "graph.graphml")
    read = gpgc.from_networkx(nx.read_graphml(tmp_path / "graph.graphml"), "side")
    same = gpgc.from_networkx(graph, "side")
    assert read.X.encoder.said == same.X.encoder.said
    model = GPGCClassifier().fit(*read)
    np.testing.assert_array_equal(model.predict(), GPGCClassifier().fit(*same).predict())


def test_attributes_of_igraph(graph):
    igraph = pytest.importorskip("igraph")
    names = list(graph.nodes)
    other = igraph.Graph(
        n=6, edges=[(names.index(a), names.index(b)) for a, b in graph.edges], directed=False
    )
    other.vs["name"] = names
    other.es["weight"] = 2.0
    for attribute in ("words", "size", "side"):
        other.vs[attribute] = [graph.nodes[name].get(attribute) for name in names]
    model = GPGCClassifier().fit(*gpgc.from_igraph(other, "side"))
    same = gpgc.from_networkx(graph, "side", features=["words", "size"])
    expected = GPGCClassifier().fit(*same)
    assert model.node_names_.tolist() == names
    np.testing.assert_allclose(model.predict_proba(), expected.predict_proba())


def data(**changes):
    """What a ``Data`` of PyTorch Geometric has."""
    chain = np.stack([np.arange(5), np.arange(1, 6)])
    whole = {"x": np.eye(6), "edge_index": chain, "y": np.array([0, 0, 0, 1, 1, 1])}
    whole["train_mask"] = np.array([True, False, False, False, False, True])
    return SimpleNamespace(**whole | changes)


def test_data_with_its_masks():
    model = GPGCClassifier().fit(*gpgc.from_pyg(data()))
    assert model.labelled_nodes_.tolist() == [0, 5]
    assert model.predict().tolist() == [0, 0, 0, 1, 1, 1]
    several = np.zeros((6, 2), dtype=bool)
    several[[0, 4], 1] = True
    second = gpgc.from_pyg(data(train_mask=several), split=1)
    assert second.y.tolist() == [0, -1, -1, -1, 1, -1]
    assert gpgc.from_pyg(data(train_mask=None)).y.tolist() == [0, 0, 0, 1, 1, 1]
    assert gpgc.from_pyg(data(x=None)).X is None
    values = gpgc.from_pyg(data(y=np.arange(6.0)[:, None])).y
    np.testing.assert_array_equal(values, [0, *[np.nan] * 4, 5])


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        ({"y": None}, {}, "data must have edge_index and y"),
        ({"train_mask": np.ones(3, dtype=bool)}, {}, "data.train_mask must hold true or false"),
        ({}, {"mask": "my_mask"}, "mask must be the name of a mask of data, got 'my_mask'"),
        ({}, {"split": 1}, "split must lie between 0 and 0, got 1"),
    ],
)
def test_data_that_does_not_fit(changes, options, words):
    with pytest.raises(InputError, match=words):
        gpgc.from_pyg(data(**changes), **options)


def test_data_of_the_library_itself():
    torch = pytest.importorskip("torch")
    geometric = pytest.importorskip("torch_geometric.data")
    plain = data()
    whole = geometric.Data(**{name: torch.as_tensor(part) for name, part in vars(plain).items()})
    model = GPGCClassifier().fit(*gpgc.from_pyg(whole))
    expected = GPGCClassifier().fit(*gpgc.from_pyg(plain))
    np.testing.assert_allclose(model.predict_proba(), expected.predict_proba(), rtol=1e-5)
