"""Frames of both libraries in and out of the estimators, with the names of the nodes."""

import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import gpgc
from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.errors import DataError, GPGCWarning, InputError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

NAMES = [f"n{i}" for i in range(12)]
SIDE = {name: "left" if index < 6 else "right" for index, name in enumerate(NAMES)}
EDGES = [(a, b) for a in NAMES for b in NAMES if a < b and SIDE[a] == SIDE[b]]
LABELS = {"n0": "left", "n1": "left", "n10": "right", "n11": "right"}
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


@pytest.fixture(params=LIBRARIES, ids=list(LIBRARIES))
def frame(request):
    """The class of a library's frames."""
    return LIBRARIES[request.param]


def edges(frame, pairs=EDGES):
    return frame({"source": [a for a, _ in pairs], "target": [b for _, b in pairs]})


def table(frame, names=NAMES):
    """Features with a gap, a category and a text, in the order of the names."""
    rng = np.random.default_rng(0)
    size = {name: rng.normal() + (SIDE[name] == "left") for name in NAMES}
    return frame(
        {
            "id": list(names),
            "size": [None if name == "n3" else size[name] for name in names],
            "shape": ["round" if SIDE[name] == "left" else "flat" for name in names],
            "words": [f"item {name} on the {SIDE[name]} hand side" for name in names],
        }
    )


def called(frame, name):
    """Return a frame of one row whose node has another name."""
    return frame.with_columns(id=pl.lit(name)) if hasattr(frame, "lazy") else frame.assign(id=name)


def test_edges_and_labels_by_name(frame):
    model = GPGCClassifier().fit(None, LABELS, edges(frame))
    assert set(model.node_names_) == set(NAMES)
    assert list(model.predict()) == [SIDE[name] for name in model.node_names_]
    labels = frame({"id": list(LABELS), "label": list(LABELS.values())})
    again = GPGCClassifier().fit(None, labels, edges(frame))
    np.testing.assert_array_equal(model.predict_proba(), again.predict_proba())


def test_the_nodes_are_those_of_the_features(frame):
    mixed = [NAMES[i] for i in np.random.default_rng(1).permutation(12)]
    model = GPGCClassifier().fit(table(frame, mixed), LABELS, edges(frame))
    assert model.node_names_.tolist() == mixed
    assert list(model.predict()) == [SIDE[name] for name in mixed]
    assert list(model.feature_names_in_) == ["size", "shape", "words"]
    assert model.n_features_in_ == 3
    assert [column.kind for column in model.encoder_.columns] == ["number", "category", "text"]


def test_nodes_that_labels_alone_name_have_no_links(frame):
    model = GPGCClassifier().fit(None, LABELS | {"z": "left"}, edges(frame))
    assert model.node_names_[-1] == "z"
    assert model.adjacency_[[12]].nnz == 0


def test_a_series_names_all_nodes_and_gives_their_order():
    series = pd.Series(LABELS).reindex([*reversed(NAMES), "z"])
    model = GPGCClassifier().fit(None, series, edges(pd.DataFrame))
    assert model.node_names_.tolist() == list(series.index)
    assert list(model.predict())[:12] == [SIDE[name] for name in reversed(NAMES)]


def test_weights_of_edges_and_numbers_as_nodes(frame):
    weighted = frame({"Source": [0, 1, 3], "TARGET": [1, 2, 4], "weight": [1.0, 2.0, 3.0]})
    model = GPGCClassifier().fit(None, [0, -1, -1, 1, -1], weighted)
    assert model.node_names_ is None
    expected = sp.coo_array(([1.0, 2.0, 3.0], ([0, 1, 3], [1, 2, 4])), shape=(5, 5)).toarray()
    np.testing.assert_array_equal(model.adjacency_.toarray(), expected + expected.T)


@pytest.mark.parametrize(
    ("X", "y", "changed", "words"),
    [
        (
            table(pd.DataFrame),
            LABELS,
            ("n0", "x"),
            r"adjacency\['target'\] must name nodes of X.*'x'",
        ),
        (table(pd.DataFrame), {"x": "left"}, None, "y must name nodes of .*, got 'x'"),
        (np.eye(12), LABELS, None, r"adjacency\['source'\] must name nodes from 0 to 11"),
        (None, ["left"] * 12, None, "nodes from 0 to 11, as y has no names, got 'n0' in row 0"),
    ],
)
def test_names_that_are_nowhere_are_refused(X, y, changed, words):
    pairs = EDGES if changed is None else [*EDGES, changed]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(InputError, match=words):
            GPGCClassifier().fit(X, y, edges(pd.DataFrame, pairs))


def test_labels_in_a_dict_by_number():
    chain = (np.arange(5), np.arange(1, 6))
    for graph in (chain, sp.coo_array((np.ones(5), chain), shape=(6, 6))):
        model = GPGCClassifier().fit(None, {0: "a", 5: "b"}, graph)
        assert model.predict().tolist() == ["a"] * 3 + ["b"] * 3
    assert GPGCClassifier().fit(np.eye(6), {0: "a", 5: "b"}, chain).node_names_ is None
    with pytest.raises(InputError, match="y must name nodes of the graph, got 7"):
        GPGCClassifier().fit(np.eye(6), {0: "a", 7: "b"}, chain)
    values = GPGCRegressor().fit(None, {0: 0.0, 5: 1.0}, chain).predict()
    assert values[0] < values[2] < values[5]


def test_weights_of_labels_by_name():
    graph = edges(pd.DataFrame)
    even = GPGCClassifier().fit(None, LABELS, graph)
    order = even.node_names_.tolist()
    weights = [3.0 if name == "n0" else 1.0 for name in order]
    by_name = GPGCClassifier().fit(None, LABELS, graph, sample_weight={"n0": 3.0})
    y = [LABELS.get(name) for name in order]
    by_position = GPGCClassifier().fit(None, y, even.adjacency_, sample_weight=weights)
    np.testing.assert_allclose(by_name.predict_proba(), by_position.predict_proba())


def test_other_labels_by_name():
    graph = nx.Graph(EDGES)
    model = GPGCClassifier().fit(None, LABELS, graph)
    other = {"n5": "one", "n6": "two"}
    model.relabel(other)
    assert list(model.predict()) == [
        {"left": "one", "right": "two"}[SIDE[name]] for name in graph.nodes
    ]
    series = pd.Series(other).reindex(reversed(NAMES))
    probabilities = model.predict_proba()
    np.testing.assert_allclose(model.relabel(series).predict_proba(), probabilities)
    with pytest.raises(InputError, match="'x'"):
        model.relabel({"x": "one"})


def test_answers_as_a_frame(frame):
    model = GPGCClassifier().fit(table(frame), LABELS, edges(frame))
    library = "pandas" if frame is pd.DataFrame else "polars"
    answers = model.to_frame(backend=library)
    assert isinstance(answers, frame)
    assert list(answers.columns) == ["id", "label", "probability", "std", "given"]
    assert list(answers["id"]) == NAMES
    assert list(answers["label"]) == list(SIDE.values())
    assert [name for name, given in zip(NAMES, answers["given"], strict=True) if given] == [*LABELS]
    np.testing.assert_allclose(answers["probability"], model.predict_proba().max(axis=1))
    assert isinstance(model.to_frame(), pd.DataFrame)
    with pytest.raises(InputError, match="backend must be one of pandas, polars, pyarrow"):
        model.to_frame(backend="excel")


def test_answers_of_a_regression_as_a_frame():
    chain = (np.arange(4), np.arange(1, 5))
    y = np.array([[0.0, 1.0]] + [[np.nan] * 2] * 3 + [[1.0, 0.0]])
    both = GPGCRegressor().fit(None, y, chain).to_frame(backend="polars")
    assert both.columns == ["id", "value_0", "std_0", "value_1", "std_1", "given"]
    one = GPGCRegressor().fit(None, y[:, 0], chain).to_frame()
    assert list(one.columns) == ["id", "value", "std", "given"]
    assert one["id"].tolist() == [0, 1, 2, 3, 4]


def test_nodes_join_by_name(frame):
    new = frame(
        {
            "words": ["on the left hand side", "a thing on the right hand side"],
            "id": ["p", "q"],
            "size": [1.0, None],
            "shape": ["round", "square"],
        }
    )
    links = edges(frame, [("p", "n2"), ("n4", "p"), ("q", "n7"), ("q", "p"), ("n0", "n1")])
    model = GPGCClassifier(dtype="float64").fit(table(frame), LABELS, edges(frame))
    with pytest.warns(GPGCWarning, match="1 of column 'shape'"):
        answers = model.to_frame(new, links, backend="pandas")
    assert answers["id"].tolist() == ["p", "q"]
    assert answers["label"].tolist() == ["left", "right"]
    assert not answers["given"].any()
    weights = np.zeros((2, 14))
    weights[[0, 0, 1, 1, 0], [2, 4, 7, 12, 13]] = 1
    with pytest.warns(GPGCWarning, match="1 of column 'shape'"):
        by_position = model.predict_proba(new, weights)
    np.testing.assert_allclose(by_position.max(axis=1), answers["probability"])


def test_links_of_new_nodes_as_a_frame_of_weights():
    model = GPGCClassifier().fit(None, LABELS, nx.Graph(EDGES))
    order = model.node_names_.tolist()
    weights = pd.DataFrame([[float(SIDE[name] == "left") for name in NAMES]], ["p"], NAMES)
    expected = model.predict_proba(adjacency=weights[order].to_numpy())
    np.testing.assert_allclose(model.predict_proba(adjacency=weights), expected)
    with pytest.raises(InputError, match=r"columns of adjacency must be named like.*'n3'"):
        model.predict(adjacency=weights.rename(columns={"n3": "x"}))


def test_a_graph_of_new_nodes():
    model = GPGCClassifier().fit(None, LABELS, nx.Graph(EDGES))
    grown = nx.Graph([*EDGES, ("p", "n2"), ("q", "n9"), ("q", "n8")])
    answers = model.to_frame(adjacency=grown)
    assert dict(zip(answers["id"], answers["label"], strict=True)) == {"p": "left", "q": "right"}


def test_wrong_links_of_new_nodes_are_refused(frame):
    model = GPGCClassifier().fit(table(frame), LABELS, edges(frame))
    with pytest.raises(InputError, match="got 'y', which is in neither"):
        model.predict(called(table(frame, ["n0"]), "p"), edges(frame, [("p", "y")]))
    with pytest.raises(InputError, match="X must name new nodes, got 'n0'"):
        model.predict(table(frame, ["n0"]), edges(frame, [("n0", "n1")]))
    with pytest.raises(InputError, match="X must be a frame with the columns size, shape, words"):
        model.predict(np.ones((1, 3)), np.ones((1, 12)))


def test_saved_models_keep_names_and_encoder(tmp_path, frame):
    model = GPGCClassifier().fit(table(frame), LABELS, edges(frame))
    model.save(tmp_path / "model.gpgc")
    loaded = gpgc.load(tmp_path / "model.gpgc")
    assert loaded.node_names_.tolist() == NAMES
    assert loaded.encoder_.said == model.encoder_.said
    assert list(loaded.feature_names_in_) == ["size", "shape", "words"]
    pd.testing.assert_frame_equal(loaded.to_frame(), model.to_frame())
    new, links = called(table(frame, ["n3"]), "p"), edges(frame, [("p", "n4")])
    np.testing.assert_allclose(loaded.predict_proba(new, links), model.predict_proba(new, links))


def test_names_of_other_kinds_are_lost_with_a_warning(tmp_path):
    graph = nx.Graph([((0, 0), (0, 1)), ((0, 1), (1, 1))])
    model = GPGCClassifier().fit(None, {(0, 0): "a", (1, 1): "b"}, graph)
    assert model.node_names_.tolist() == [(0, 0), (0, 1), (1, 1)]
    with pytest.warns(GPGCWarning, match="got tuple: the file has none"):
        model.save(tmp_path / "model.gpgc")
    assert gpgc.load(tmp_path / "model.gpgc").node_names_ is None


def test_an_encoder_that_no_fit_gives_is_refused():
    from gpgc.problem.encoder import from_json, to_json

    good = to_json(gpgc.encode_table(table(pd.DataFrame)).encoder)
    assert to_json(from_json(good, "m")) == good
    for column, field, value in [
        (0, "scale", 0.0),
        (0, "mean", float("nan")),
        (0, "n_missing", -1),
        (1, "categories", ["b", "a"]),
        (1, "categories", [1]),
        (2, "idf", [1.0]),
        (2, "pattern", 7),
        (2, "kind", "picture"),
        (1, "name", "size"),
    ]:
        changed = [dict(record) for record in good]
        changed[column][field] = value
        with pytest.raises(DataError, match="m: encoder must"):
            from_json(changed, "m")
    with pytest.raises(DataError):
        from_json({}, "m")


def test_columns_by_name_as_scikit_learn_checks_them():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(12, 2)), NAMES, ["a", "b"])
    model = GPGCClassifier(n_neighbors=3).fit(X, [SIDE[name] for name in NAMES])
    assert list(model.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.rename(columns={"b": "c"}))
    plain = GPGCClassifier(n_neighbors=3).fit(pl.DataFrame(X), [SIDE[name] for name in NAMES])
    assert list(plain.feature_names_in_) == ["a", "b"]
    np.testing.assert_allclose(plain.predict_proba(), model.predict_proba())
    swapped = pl.DataFrame(X)[["b", "a"]]
    np.testing.assert_allclose(plain.predict_proba(swapped), model.predict_proba(X))
    with pytest.raises(InputError, match="X must have the columns a, b, got a, c"):
        plain.predict(pl.DataFrame(X).rename({"b": "c"}))


def test_labels_of_polars():
    y = pl.Series(["a", None, None, "b"])
    chain = (np.arange(3), np.arange(1, 4))
    assert GPGCClassifier().fit(None, y, chain).predict().tolist() == ["a", "a", "b", "b"]
    numbers = pl.Series([0.0, None, None, 1.0])
    assert GPGCRegressor().fit(None, numbers, chain).predict().shape == (4,)
    soft = pl.DataFrame({"u": [0.9, None, None, 0.2], "v": [0.1, None, None, 0.8]})
    assert GPGCClassifier().fit(None, soft, chain).classes_.tolist() == ["u", "v"]


def test_suggestions_take_frames(frame):
    nodes, _ = gpgc.suggest(table(frame), LABELS, edges(frame), n=3)
    assert not {NAMES[node] for node in nodes} & set(LABELS)


def test_tables_of_new_nodes_follow_the_columns_of_fit():
    X = {"id": NAMES, "a": np.arange(12.0), "b": np.arange(12.0)[::-1] ** 2}
    model = GPGCClassifier(n_neighbors=3).fit(gpgc.encode_table(X), LABELS)
    new = gpgc.encode_table({"b": [3.0], "a": [10.0]})
    expected = model.predict_proba(np.array([[10.0, 3.0]]))
    np.testing.assert_allclose(model.predict_proba(new), expected)
    with pytest.raises(InputError, match="X must have the columns a, b, got a, c"):
        model.predict(gpgc.encode_table({"a": [1.0], "c": [1.0]}))
    with pytest.raises(InputError, match="a number in every cell, as the table of fit did, got a:"):
        model.predict(gpgc.encode_table({"a": [1.0, None], "b": [1.0, 2.0]}))


def test_tables_that_another_encoder_made_are_encoded_again(frame):
    model = GPGCClassifier(n_neighbors=3).fit(table(frame), LABELS)
    new = table(frame, ["n1", "n7"])
    other = gpgc.encode_table(new)
    assert other.encoder.feature_names != model.encoder_.feature_names
    np.testing.assert_allclose(model.predict_proba(other), model.predict_proba(new))
