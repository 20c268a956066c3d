"""A file means what a frame of the same content means, for the command line and for Python."""

import csv
import datetime
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import gpgc
from gpgc.cli.app import app
from gpgc.errors import InputError
from gpgc.files import STANDARD_STREAM
from gpgc.problem.alignment import problem_of
from gpgc.problem.encoder import from_json, to_json
from gpgc.problem.label_file import UNLABELLED_MARKS
from gpgc.problem.node_features import read_features

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

N = 12
IDS = [f"n{i}" for i in range(N)]
COLUMNS = {
    "strings that look like numbers": ["02139", "10001", "94110"] * 4,
    "strings that look like gaps": ["NA", "None", "DE", "FR"] * 3,
    "strings with gaps": ["DE", None, "FR"] * 4,
    "booleans": [True, False, False] * 4,
    "booleans with gaps": [True, None, False] * 4,
    "whole numbers": list(range(N)),
    "numbers with gaps": [1.5, None, 3.0] * 4,
    "categories": pd.Categorical(["low", "high"] * 6),
    "spaces at the ends": [" a", "a", "a "] * 4,
    "texts": [f"a note on node {i} of many" for i in range(N)],
}


DAYS = [datetime.date(2024, 1, 31) + datetime.timedelta(days=40 * i) for i in range(N - 1)]

AWKWARD = {
    "zip codes": ["02139", "10001", "94110"] * 4,
    "flags": [True, False, False] * 4,
    "countries": ["NA", "DE", "FR"] * 4,
    "dates": [*DAYS, None],
    "nullable whole numbers": [1, None, 3] * 4,
    "empty strings": ["", "red", "blue"] * 4,
    "constant": [7] * N,
    "one category a row": [f"k{i}" for i in range(N)],
    "mixed types": [1, "a", "b"] * 4,
    "very large whole numbers": [2**62, 5, -(2**61)] * 4,
    "percents": ["12%", "7%", "12 %"] * 4,
    "unicode": ["日本", "München", " é"] * 4,
}
"""Columns that readers tend to take for different things in different forms."""


def arrow_of(frame):
    """Return a frame in Arrow, whose columns hold one type: numbers beside strings are strings."""
    import pyarrow

    mixed = len({type(cell) for cell in frame["column"]} & {int, str}) == 2
    column = [str(cell) for cell in frame["column"]] if mixed else frame["column"].tolist()
    cells = [None if pd.isna(cell) else cell for cell in column]
    return pyarrow.table({"id": IDS, "size": frame["size"].to_numpy(), "column": cells})


def written(folder, name, frame):
    if name.endswith(".parquet"):
        import pyarrow.parquet

        pyarrow.parquet.write_table(arrow_of(frame), folder / name)
    else:
        frame.to_csv(folder / name, index=False, sep="\t" if ".tsv" in name else ",")
    return folder / name


def polars_of(frame):
    return pytest.importorskip("polars").from_arrow(arrow_of(frame))


def awkward_frame(column):
    cells = pd.Series(AWKWARD[column], dtype="object")
    types = {"dates": "datetime64[us]", "nullable whole numbers": "Int64", "flags": "bool"}
    return frame_of(column=cells.astype(types.get(column, "object")))


FORMS = {
    "Arrow": lambda frame, folder: gpgc.encode_table(arrow_of(frame)),
    "polars": lambda frame, folder: gpgc.encode_table(polars_of(frame)),
    "dict": lambda frame, folder: gpgc.encode_table({k: list(frame[k]) for k in frame}),
    "fit": lambda frame, folder: problem_of(frame, None, None).X,
} | {
    name: lambda frame, folder, name=name: read_features(written(folder, name, frame), {}, {})
    for name in ("x.csv", "x.tsv", "x.csv.gz", "x.tsv.gz", "x.parquet")
}


def attributes_of(frame):
    """Return the columns of a frame as attributes of nodes, None where a cell is missing."""
    columns = {name: frame[name].astype(object) for name in frame if name != "id"}
    return {
        name: [None if pd.isna(cell) else cell for cell in cells] for name, cells in columns.items()
    } | {"side": ["l", None, "r"] * 4}


def networkx_of(frame, folder):
    graph = pytest.importorskip("networkx").path_graph(IDS)
    for name, cells in attributes_of(frame).items():
        for node, cell in zip(IDS, cells, strict=True):
            graph.nodes[node].update({} if cell is None else {name: cell})
    return gpgc.from_networkx(graph, "side").X


def igraph_of(frame, folder):
    graph = pytest.importorskip("igraph").Graph.Full(N)
    graph.vs["name"] = IDS
    for name, cells in attributes_of(frame).items():
        graph.vs[name] = cells
    return gpgc.from_igraph(graph, "side").X


def standard_input_of(frame, folder):
    with pytest.MonkeyPatch.context() as patch, written(folder, "x.csv", frame).open() as file:
        patch.setattr("sys.stdin", file)
        return read_features(STANDARD_STREAM, {}, {})


FORMS |= {"NetworkX": networkx_of, "igraph": igraph_of, "standard input": standard_input_of}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("column", AWKWARD)
def test_an_awkward_column_means_the_same_in_every_form(tmp_path, column, form):
    frame = awkward_frame(column)
    made, other = gpgc.encode_table(frame), FORMS[form](frame, tmp_path)
    if form == "fit" and made.encoder is None:
        other = gpgc.encode_table(other.assign(id=IDS)) if hasattr(other, "assign") else other
    assert_same(other, made)


@pytest.mark.parametrize("form", ["npy", "npz", "PyG"])
@pytest.mark.parametrize("column", ["flags", "constant", "very large whole numbers"])
def test_forms_that_hold_numbers_alone_mean_the_same(tmp_path, column, form):
    made = gpgc.encode_table(awkward_frame(column))
    numbers = made.features
    if form == "PyG":
        torch = pytest.importorskip("torch")
        data = SimpleNamespace(
            x=torch.tensor(numbers), edge_index=torch.zeros((2, 0), dtype=int), y=torch.zeros(N)
        )
        found = gpgc.from_pyg(data).X
    elif form == "npy":
        np.save(tmp_path / "x.npy", numbers)
        found = read_features(tmp_path / "x.npy", {}, {}).features
    else:
        sp.save_npz(tmp_path / "x.npz", sp.csr_array(numbers))
        found = read_features(tmp_path / "x.npz", {}, {}).features.toarray()
    np.testing.assert_array_equal(found, numbers)


@pytest.mark.filterwarnings("ignore:.*which are ignored")
@pytest.mark.parametrize("column", AWKWARD)
def test_an_awkward_column_of_joining_nodes_means_what_it_meant_in_fit(tmp_path, column):
    frame = awkward_frame(column)
    made = gpgc.encode_table(frame)
    if made.encoder is None:
        return
    for name in ("x.csv", "x.parquet"):
        joined = read_features(written(tmp_path, name, frame), {}, {}, made.encoder)
        np.testing.assert_array_equal(dense(joined.features), dense(made.features))
    again = from_json(to_json(made.encoder), "model")
    np.testing.assert_array_equal(dense(again.transform(frame)), dense(made.features))
    assert again.said == made.encoder.said


def test_what_awkward_columns_become():
    said = {column: awkward_frame(column) for column in AWKWARD}
    found = {
        name: "plain numbers" if made.encoder is None else made.encoder.said[-1].split(": ")[-1]
        for name, made in ((name, gpgc.encode_table(frame)) for name, frame in said.items())
    }
    assert found == {
        "zip codes": "3 categories",
        "flags": "plain numbers",
        "countries": "3 categories",
        "dates": "days since 1970, 1 missing set to the mean and flagged",
        "nullable whole numbers": "number, 4 missing set to the mean and flagged",
        "empty strings": "2 categories, 4 missing flagged",
        "constant": "plain numbers",
        "one category a row": "left out, no value occurs twice",
        "mixed types": "3 categories",
        "very large whole numbers": "plain numbers",
        "percents": "3 categories",
        "unicode": "3 categories",
    }


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["2024-01-31"] * 1001 + ["soon"], "line 1003: expected a date such as 2024-01-31"),
        (["2024-01-31"] * 1001 + ["2024-13-31"], "line 1003: expected a date"),
        (["10001"] * 1001 + ["02139"], "line 1003: expected a number as x, got '02139', which"),
        (["true"] * 1001 + ["2"], "line 1003: expected true or false as x, got '2'"),
    ],
)
def test_a_late_cell_that_does_not_fit_is_named(tmp_path, cells, words):
    rows = "".join(f"n{i},{cell}\n" for i, cell in enumerate(cells))
    (tmp_path / "x.csv").write_text(f"id,x\n{rows}")
    with pytest.raises(InputError, match=words):
        read_features(tmp_path / "x.csv", {}, {})


def frame_of(**columns):
    return pd.DataFrame({"id": IDS, "size": np.linspace(0, 1, N), **columns})


def dense(features):
    return features.toarray() if hasattr(features, "toarray") else features


def assert_same(read, made):
    assert read.names.tolist() == made.names.tolist()
    assert read.columns == made.columns
    assert (read.encoder is None) == (made.encoder is None)
    assert read.encoder is None or read.encoder.said == made.encoder.said
    np.testing.assert_array_equal(dense(read.features), dense(made.features))


@pytest.mark.parametrize("column", COLUMNS)
def test_a_parquet_file_is_the_frame_that_it_stores(tmp_path, column):
    frame = frame_of(column=COLUMNS[column])
    frame.to_parquet(tmp_path / "x.parquet")
    assert_same(read_features(tmp_path / "x.parquet", {}, {}), gpgc.encode_table(frame))


@pytest.mark.parametrize(
    "column", ["booleans", "booleans with gaps", "whole numbers", "numbers with gaps", "texts"]
)
def test_a_text_file_is_the_frame_that_pandas_reads_from_it(tmp_path, column):
    frame_of(column=COLUMNS[column]).to_csv(tmp_path / "x.csv", index=False)
    frame = pd.read_csv(tmp_path / "x.csv", float_precision="round_trip")
    assert_same(read_features(tmp_path / "x.csv", {}, {}), gpgc.encode_table(frame))


def test_kinds_that_are_said_mean_the_same(tmp_path):
    frame = frame_of(code=COLUMNS["whole numbers"], note=COLUMNS["texts"])
    frame.to_parquet(tmp_path / "x.parquet")
    kinds = {"code": "category", "note": "drop", "size": "category"}
    with pytest.raises(InputError, match="no column of the table can be used"):
        gpgc.encode_table(frame, kinds=kinds)
    with pytest.raises(InputError, match="no column of the table can be used"):
        read_features(tmp_path / "x.parquet", {}, kinds)
    kinds = {"note": "category", "code": "number"}
    made = gpgc.encode_table(frame, kinds=kinds)
    assert_same(read_features(tmp_path / "x.parquet", {}, kinds), made)


@pytest.mark.parametrize(
    "cells", [[[1, 2]] * N, [datetime.timedelta(days=1)] * N], ids=["lists", "durations"]
)
def test_what_a_frame_refuses_a_file_refuses(tmp_path, cells):
    frame = frame_of(seen=cells)
    frame.to_parquet(tmp_path / "x.parquet")
    said = "'seen'.*must (hold numbers|be a column)"
    with pytest.raises(InputError, match=said):
        gpgc.encode_table(frame)
    with pytest.raises(InputError, match=said):
        read_features(tmp_path / "x.parquet", {}, {})
    kinds = {"seen": "drop"}
    made = gpgc.encode_table(frame, kinds=kinds)
    assert made.columns == ("size",)
    assert_same(read_features(tmp_path / "x.parquet", {}, kinds), made)


def test_a_column_that_is_not_in_use_is_not_looked_at_in_later_rows(tmp_path):
    frame = frame_of(colour=["red", "blue"] * 6)
    made = gpgc.encode_table(frame)
    later = frame.assign(seen=pd.Timestamp("2024-01-01"))
    np.testing.assert_array_equal(made.encoder.transform(later).toarray(), made.features.toarray())


def test_the_index_of_a_frame_names_nodes_and_is_no_feature(tmp_path):
    frame = frame_of()
    frame.drop(columns="id").set_index(frame["id"].rename(None)).to_parquet(tmp_path / "i.parquet")
    made = gpgc.encode_table(frame)
    assert_same(read_features(tmp_path / "i.parquet", {}, {}), made)
    frame.iloc[::-1].to_parquet(tmp_path / "j.parquet")
    assert_same(read_features(tmp_path / "j.parquet", {}, {}), gpgc.encode_table(frame.iloc[::-1]))


def classify(folder, labels, *more):
    order = ["classify", "--features", folder / "x.parquet", "--labels", labels]
    done = CliRunner().invoke(app, [*map(str, [*order, "--out", folder / "out.csv", *more])])
    if isinstance(done.exception, InputError):
        raise done.exception
    assert done.exit_code == 0, done.output
    with (folder / "out.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("missing", [-1, None, "NA", "nan", "None", "null", -1.0])
def test_marks_of_no_label_are_no_classes(tmp_path, kind, missing):
    frame_of().to_parquet(tmp_path / "x.parquet")
    numbers = missing is None or not isinstance(missing, str)
    known = [0, 0, 1, 1] if numbers else ["0", "0", "1", "1"]
    labels = pd.DataFrame({"id": [*IDS[:2], *IDS[-2:], "n5"], "label": [*known, missing]})
    path = tmp_path / f"y.{kind}"
    labels.to_csv(path, index=False) if kind == "csv" else labels.to_parquet(path)
    rows = classify(tmp_path, path, "--probabilities", "all")
    assert len([name for name in rows[0] if name.startswith("probability of ")]) == 2
    model = gpgc.GPGCClassifier().fit(
        frame_of(), {n: None if n == "n5" else y for n, y in zip(*labels.values.T, strict=True)}
    )
    assert [float(row["label"]) for row in rows] == [float(y) for y in model.predict()]


def test_marks_of_gaps_are_marks_of_no_label():
    from gpgc.problem.columns import MISSING_MARKS

    assert set(MISSING_MARKS) < set(UNLABELLED_MARKS)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_second_label_is_refused(tmp_path, kind):
    frame_of().to_parquet(tmp_path / "x.parquet")
    labels = pd.DataFrame({"id": ["n0", "n11", "n0"], "label": ["a", "b", "b"]})
    path = tmp_path / f"y.{kind}"
    labels.to_csv(path, index=False) if kind == "csv" else labels.to_parquet(path)
    with pytest.raises(InputError, match="'n0' has a second label"):
        classify(tmp_path, path)


def write_awkward_files(folder):
    """Write all awkward columns at once as Parquet, CSV and TSV; return them as a frame."""
    import pyarrow
    import pyarrow.parquet

    columns = {name: arrow_of(awkward_frame(name))["column"] for name in AWKWARD}
    frame = pd.DataFrame({"id": IDS} | {name: awkward_frame(name)["column"] for name in AWKWARD})
    pyarrow.parquet.write_table(pyarrow.table({"id": IDS, **columns}), folder / "x.parquet")
    frame.to_csv(folder / "x.csv", index=False)
    frame.to_csv(folder / "x.tsv.gz", index=False, sep="\t")
    return frame


QUESTIONS = {
    "regress": ["regress", "--labels", "v.csv"],
    "check": ["check", "--labels", "y.csv"],
    "explain": ["explain", "n5", "--labels", "y.csv"],
    "evaluate": ["evaluate", "--splits", "2", "--labels", "y.csv"],
    "suggest": ["suggest", "--n", "3", "--labels", "y.csv"],
    "predict": ["predict", "model.gpgc"],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("command", QUESTIONS)
def test_all_awkward_columns_at_once_mean_the_same_to_every_command(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    frame = write_awkward_files(tmp_path)
    labels = pd.DataFrame({"id": [*IDS[:3], *IDS[-3:]], "label": [*"aaabbb"]})
    labels.to_csv("y.csv", index=False)
    labels.assign(value=range(6)).to_csv("v.csv", index=False)
    if command == "predict":
        gpgc.GPGCClassifier().fit(frame, dict(labels.to_numpy().tolist())).save("model.gpgc")
        frame = frame.assign(id=[f"m{i}" for i in range(N)])
        frame.to_csv("x.csv", index=False)
        frame.to_csv("x.tsv.gz", index=False, sep="\t")
        frame.drop(columns="mixed types").assign(
            **{"mixed types": frame["mixed types"].astype(str)}
        ).to_parquet("x.parquet")
    answers = []
    for name in ("x.parquet", "x.csv", "x.tsv.gz"):
        order = [*QUESTIONS[command], "--features", name, "--out", "out.csv", "--quiet"]
        done = CliRunner().invoke(app, order, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        answers.append((tmp_path / "out.csv").read_text())
    assert answers[0].count("\n") > 3
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.filterwarnings("ignore")
def test_all_awkward_columns_at_once_mean_the_same_to_commands_and_to_fit(tmp_path):
    frame = write_awkward_files(tmp_path)
    labels = pd.DataFrame({"id": [IDS[0], IDS[-1]], "label": ["a", "b"]})
    labels.to_csv(tmp_path / "y.csv", index=False)
    model = gpgc.GPGCClassifier().fit(frame, dict(labels.to_numpy().tolist()))
    for name in ("x.parquet", "x.csv", "x.tsv.gz"):
        rows = classify(tmp_path, tmp_path / "y.csv", "--features", tmp_path / name)
        assert [row["label"] for row in rows] == model.transduction_.tolist()
        found = [float(row["probability"]) for row in rows]
        np.testing.assert_allclose(found, model.predict_proba().max(axis=1), rtol=1e-4)


def test_the_id_may_be_written_in_capitals_in_frames_as_in_files():
    """In a frame it was a feature without a word, and labels were refused."""
    frame = pd.DataFrame({"id": IDS, "x": np.arange(len(IDS)) % 4, "z": np.arange(len(IDS)) % 3})
    labels = pd.DataFrame({"id": [IDS[-1], IDS[0]], "label": ["b", "a"]})
    model = gpgc.GPGCClassifier().fit(frame, labels)
    capitals = gpgc.GPGCClassifier().fit(
        frame.rename(columns={"id": "ID"}), labels.rename(columns={"id": "Id", "label": "Label"})
    )
    assert capitals.node_names_.tolist() == IDS
    np.testing.assert_array_equal(capitals.predict_proba(), model.predict_proba())
    new = pd.DataFrame({"ID": ["new"], "x": [1], "z": [2]})
    found = capitals.to_frame(X=new, backend="pandas")
    assert found["id"].tolist() == ["new"]
    table = gpgc.encode_table({"ID": ["a", "b"], "x": [1.0, None], "kind": ["u", "u"]})
    assert table.names.tolist() == ["a", "b"]
    assert [column.name for column in table.encoder.columns] == ["x", "kind"]
