"""Tables of numbers, categories and texts as features, and later rows in the same way."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

import gpgc
from gpgc.errors import GPGCWarning, InputError
from gpgc.problem.columns import TextColumn

TABLE = {
    "id": ["a", "b", "c", "d"],
    "size": [1.0, 2.0, None, 3.0],
    "colour": ["red", "blue", "red", None],
    "title": ["graphs of words", "words and more words", "trees of many graphs", "a tree"],
}


def test_numbers_without_gaps_stay_as_they_are():
    table = gpgc.encode_table({"id": [3, 1], "x": [1, 2], "y": [True, False]})
    assert table.encoder is None
    assert table.names.tolist() == [3, 1]
    assert table.columns == ("x", "y")
    np.testing.assert_array_equal(table.features, [[1, 1], [2, 0]])


def test_each_kind_of_column():
    table = gpgc.encode_table(TABLE)
    assert sp.issparse(table.features)
    names = table.encoder.feature_names
    dense = dict(zip(names, table.features.toarray().T, strict=True))
    scale = np.std([1, 2, 3])
    np.testing.assert_allclose(dense["size"], [-1 / scale, 0, 0, 1 / scale], atol=1e-12)
    np.testing.assert_array_equal(dense["size is missing"], [0, 0, 1, 0])
    np.testing.assert_array_equal(dense["colour = red"], [1, 0, 1, 0])
    np.testing.assert_array_equal(dense["colour is missing"], [0, 0, 0, 1])
    words = table.features[:, [name.startswith("title: ") for name in names]].toarray()
    expected = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(TABLE["title"])
    np.testing.assert_allclose(words, expected.toarray())


def test_what_was_done_is_said():
    assert gpgc.encode_table(TABLE).encoder.said == (
        "size: number, standardized, 1 missing set to the mean and flagged",
        "colour: 1 category, 1 value that occurs once ignored, 1 missing flagged",
        "title: text, TF-IDF of 3 words",
    )
    many = {f"x{i}": [1.0, 2.0] for i in range(5)} | {"c": ["u", "u"]}
    assert gpgc.encode_table(many).encoder.said == (
        "5 columns of numbers, standardized",
        "c: 1 category",
    )


def test_later_rows_are_encoded_the_same_way():
    table = gpgc.encode_table(TABLE)
    mixed = {name: TABLE[name] for name in ("title", "colour", "size")} | {"other": [1] * 4}
    with pytest.warns(GPGCWarning, match="1 of column 'colour'"):  # blue occurs once: no category
        again = table.encoder.transform(mixed)
    np.testing.assert_allclose(again.toarray(), table.features.toarray())
    with pytest.raises(InputError, match=r"must have the columns size, colour, title.*'colour'"):
        table.encoder.transform({"size": [1.0], "title": ["x"]})
    with pytest.raises(InputError, match="column 'size' must hold numbers, got strings"):
        table.encoder.transform({**TABLE, "size": ["much"] * 4})


def test_kinds_can_be_said():
    zips = {"zip": [1010, 1010, 2020, 2020], "x": [1.0, 2.0, 3.0, 4.0]}
    assert gpgc.encode_table(zips).encoder is None
    table = gpgc.encode_table(zips, kinds={"zip": "category", "x": "drop"})
    assert table.encoder.feature_names == ["zip = 1010", "zip = 2020"]
    titles = {"t": ["one", "two", "two", "one"]}
    assert gpgc.encode_table(titles, kinds={"t": "text"}).encoder.columns[0].kind == "text"
    with pytest.raises(InputError, match="kinds must name columns among t, got 'x'"):
        gpgc.encode_table(titles, kinds={"x": "text"})
    with pytest.raises(InputError, match=r"one of number, category, text, drop .* got 'words'"):
        gpgc.encode_table(titles, kinds={"t": "words"})


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"id": ["a", "b"]}, "at least one column of features"),
        (
            {"x": ["a", "b"]},
            "no column of the table can be used: x: left out, no value",
        ),
        ({"x": [1.0, float("inf")]}, "X\\['x'\\] must hold finite numbers"),
        ({"x": [1.0, "a"]}, "X\\['x'\\] row 1: expected a finite number .*, got 'a'"),
        ({"x": [1.0, [2]]}, "X\\['x'\\] must hold numbers, strings or dates, got float, list"),
        ({"x": [1.0], "y": [1.0, 2.0]}, "columns of one length, got x 1, y 2"),
        ({"id": ["a", None], "x": [1, 2]}, "must not be missing"),
    ],
)
def test_what_cannot_be_encoded(table, words):
    with pytest.raises(InputError, match=words):
        gpgc.encode_table(table)


def test_constant_and_huge_numbers():
    columns = {"x": [7.0, 7.0, None], "y": [1e150, -1e150, None]}
    raw = gpgc.encode_table(columns).features
    assert np.isfinite(raw).all()
    np.testing.assert_allclose(raw[:, 0], 7)
    np.testing.assert_allclose(raw[:, 2], [1e150, -1e150, 0])
    scaled = gpgc.encode_table({**columns, "kind": ["a", "a", "b"]}).features.toarray()
    np.testing.assert_allclose(scaled[:, 0], 0, atol=1e-12)
    np.testing.assert_allclose(scaled[:, 2], [1, -1, 0])


def test_texts_of_single_letters_are_words_too():
    words = TextColumn.fit("text", ["a b", "b c"])
    assert words.terms == ("b",)
    assert TextColumn.fit("text", ["", ""]).terms == ()
    assert TextColumn.fit("text", ["", ""]).transform(["x"]).shape == (1, 0)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_library(library):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    table = gpgc.encode_table(make(TABLE))
    expected = gpgc.encode_table(TABLE)
    assert table.names.tolist() == expected.names.tolist()
    assert table.encoder.said == expected.encoder.said
    np.testing.assert_allclose(table.features.toarray(), expected.features.toarray())


def test_types_of_pandas():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "kind": pd.Categorical(["u", "v", "u"]),
            "flag": [True, False, True],
        },
        index=["p", "q", "r"],
    )
    table = gpgc.encode_table(frame)
    assert table.names.tolist() == ["p", "q", "r"]
    assert [column.kind for column in table.encoder.columns] == ["number", "category", "number"]
    frame["when"] = pd.to_timedelta([1, 2, 3])
    with pytest.raises(InputError, match=r"X\['when'\] must hold numbers, strings or dates"):
        gpgc.encode_table(frame)


@pytest.mark.parametrize("values", [1j, "period"])
def test_columns_that_are_no_numbers_are_named_whatever_else_the_frame_holds(values):
    """Beside numbers without gaps they ended in an error of NumPy that named no column."""
    pd = pytest.importorskip("pandas")
    days = pd.period_range("2020", periods=4, freq="D")
    frame = pd.DataFrame({"x": np.arange(4.0), "odd": days if values == "period" else values})
    with pytest.raises(InputError, match=r"X\['odd'\] must hold numbers, strings or dates"):
        gpgc.GPGCClassifier().fit(frame, [0, 1, None, None])


def test_columns_of_one_name_are_refused_in_a_sentence():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.arange(16.0).reshape(4, 4), columns=list("abca"))
    y = [0, 1, None, None]
    for arguments in ((frame, y), (frame.to_numpy(), frame), (None, y, frame)):
        with pytest.raises(InputError, match="must have each column once, got 'a' again"):
            gpgc.GPGCClassifier().fit(*arguments)


def test_lazy_frames_are_told_to_collect():
    pl = pytest.importorskip("polars")
    with pytest.raises(InputError, match=r"collect\(\)"):
        gpgc.GPGCClassifier().fit(pl.DataFrame({"x": [1.0, 2.0]}).lazy(), [0, 1])
