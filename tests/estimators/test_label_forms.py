"""Labels in whatever form say the same, and keep the names that they have."""

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc import GPGCClassifier, GPGCRegressor, MultilabelClassifier, count_votes, load
from gpgc.errors import InputError
from gpgc.problem.alignment import problem_of

pd = pytest.importorskip("pandas")

CLIQUES = np.kron(np.eye(3), np.ones((4, 4)))
TABLE = np.full((12, 2), np.nan)
TABLE[[0, 1, 4, 5, 8, 9]] = [[1, 0], [1, 0], [1, 1], [1, 1], [0, 1], [0, 1]]
NAMES = [f"n{node}" for node in range(12)]
SOFT = np.where(np.isnan(TABLE), np.nan, TABLE / TABLE.sum(axis=1, keepdims=True))


def frame_of(table, columns, **beside):
    return pd.DataFrame({**beside, **dict(zip(columns, table.T, strict=True))})


def forms(table, names):
    """Return frames of named columns, by name and by position, of several libraries."""
    whole = frame_of(table, names)
    with_id = frame_of(table, names, id=NAMES)
    known = ~np.isnan(table).any(axis=1)
    found = {
        "frame": whole,
        "frame of objects": whole.astype(object).where(whole.notna(), None),
        "nullable frame": whole.convert_dtypes(),
        "id": with_id,
        "id, shuffled": with_id.iloc[np.random.default_rng(0).permutation(12)],
        "id, some": with_id[known],
        "index": whole.set_index(pd.Index(NAMES)),
        "index, shuffled": whole.set_index(pd.Index(NAMES)).iloc[::-1],
    }
    for library, module in (("polars", "polars"), ("arrow", "pyarrow")):
        made = pytest.importorskip(module)
        make = made.DataFrame if library == "polars" else made.Table.from_pydict
        for what, frame in (("frame", whole), ("id", with_id)):
            columns = {name: frame[name].tolist() for name in frame}
            found[f"{library} {what}"] = make(columns)
    return found


GRAPH = pd.DataFrame(CLIQUES, index=NAMES, columns=NAMES)
X = pd.DataFrame({"id": NAMES, "size": np.arange(12.0), "weight": np.ones(12)})


@pytest.mark.parametrize("form", forms(TABLE, ["red", "round"]))
def test_tables_of_several_labels_keep_their_names(form):
    expected = MultilabelClassifier().fit(X, TABLE, GRAPH)
    assert expected.classes_.tolist() == [0, 1]
    found = MultilabelClassifier().fit(X, forms(TABLE, ["red", "round"])[form], GRAPH)
    assert found.classes_.tolist() == ["red", "round"]
    np.testing.assert_allclose(found.predict_proba(), expected.predict_proba())
    assert list(found.to_frame(backend="pandas"))[1:3] == ["red", "round"]


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.coo_array, lambda table: table.astype(object)])
def test_indicators_without_names_are_columns_whatever_their_form(form):
    whole = np.nan_to_num(TABLE)
    expected = MultilabelClassifier().fit(None, whole, CLIQUES)
    found = MultilabelClassifier().fit(None, form(whole), CLIQUES)
    assert found.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(found.predict_proba(), expected.predict_proba())


def test_an_object_array_with_gaps_is_a_table_and_one_of_texts_holds_collections():
    gaps = np.where(np.isnan(TABLE), None, TABLE)
    found = MultilabelClassifier().fit(None, gaps, CLIQUES)
    expected = MultilabelClassifier().fit(None, TABLE, CLIQUES)
    np.testing.assert_array_equal(found.predict_proba(), expected.predict_proba())
    texts = np.array([["red", "round"], ["red", "big"]] * 6, dtype=object)
    assert MultilabelClassifier().fit(None, texts, CLIQUES).classes_.tolist() == [
        "big",
        "red",
        "round",
    ]


@pytest.mark.parametrize("kept", [["red"], ["id", "red"]])
def test_one_label_of_a_frame_keeps_its_name(kept):
    frame = frame_of(TABLE, ["red", "round"], id=NAMES)[kept]
    found = MultilabelClassifier().fit(X, frame, CLIQUES)
    assert found.classes_.tolist() == ["red"]
    expected = MultilabelClassifier().fit(X, TABLE[:, :1], CLIQUES)
    np.testing.assert_allclose(found.predict_proba(), expected.predict_proba())


def test_lists_of_zeros_and_ones_are_not_taken_for_labels():
    rows = np.nan_to_num(TABLE).astype(int).tolist()
    with pytest.raises(InputError, match="y as lists of 0 and 1 must be an array"):
        MultilabelClassifier().fit(None, rows, CLIQUES)


@pytest.mark.parametrize("form", forms(SOFT, ["round", "flat"]))
def test_soft_labels_keep_the_names_of_their_classes(form):
    expected = GPGCClassifier().fit(X, SOFT, GRAPH)
    found = GPGCClassifier().fit(X, forms(SOFT, ["round", "flat"])[form], GRAPH)
    assert found.classes_.tolist() == ["flat", "round"]
    np.testing.assert_allclose(found.predict_proba()[:, ::-1], expected.predict_proba(), atol=1e-6)
    again = found.relabel(forms(SOFT, ["round", "flat"])[form])
    np.testing.assert_allclose(again.predict_proba()[:, ::-1], expected.predict_proba(), atol=1e-6)


@pytest.mark.parametrize("libraries", [list, np.array, pd.Series])
def test_votes_keep_the_names_of_their_classes(libraries):
    who, said = [0, 0, 1, 4, 8, 9], ["round", "flat", "round", "flat", "flat", "flat"]
    votes = count_votes(libraries(who), libraries(said), n_nodes=12)
    assert votes.columns.tolist() == ["flat", "round"]
    for y in (votes, problem_of(X, votes, CLIQUES).y, votes.take(np.arange(12))):
        found = GPGCClassifier().fit(X, y, CLIQUES, sample_weight=votes.weight)
        assert found.classes_.tolist() == ["flat", "round"]
        assert found.transduction_[[4, 8]].tolist() == ["flat", "flat"]


def test_targets_keep_their_names_in_frames_files_and_relabelling(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = pd.DataFrame({"height": X[:, 0], "weight": X[:, 1]})
    y.iloc[20:] = np.nan
    model = GPGCRegressor().fit(X, y)
    expected = ["id", "value_height", "std_height", "value_weight", "std_weight", "given"]
    assert list(model.to_frame(backend="pandas").columns) == expected
    model.save(tmp_path / "model.gpgc")
    loaded = load(tmp_path / "model.gpgc")
    assert list(loaded.to_frame(backend="pandas").columns) == expected
    assert list(loaded.relabel(y[["weight", "height"]]).target_names_) == ["weight", "height"]
    unnamed = model.relabel(y.to_numpy())
    assert "value_0" in unnamed.to_frame(backend="pandas").columns


def test_labels_called_like_other_columns_keep_theirs():
    cliques = np.kron(np.eye(2), np.ones((4, 4)))
    y = [("id",), ("id",), None, None, ("given", "id"), ("given",), None, None]
    model = MultilabelClassifier().fit(None, y, cliques)
    frame = model.to_frame(backend="pandas")
    assert frame["id"].tolist() == list(range(8))
    found = frame[["probability of given", "probability of id"]].to_numpy()
    np.testing.assert_allclose(found, model.predict_proba())
    assert frame["given"].tolist() == [label is not None for label in y]
