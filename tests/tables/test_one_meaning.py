"""A file means what a frame of the same content means, for the command line and for Python."""

import csv
import datetime

import numpy as np
import pytest
from typer.testing import CliRunner

import gpgc
from gpgc.cli.app import app
from gpgc.cli.label_file import UNLABELLED_MARKS
from gpgc.cli.node_features import read_features
from gpgc.errors import InputError

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
    frame = pd.read_csv(tmp_path / "x.csv")
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


@pytest.mark.parametrize("lists", [False, True])
def test_what_a_frame_refuses_a_file_refuses(tmp_path, lists):
    days = [datetime.date(2024, 1, 1 + i) for i in range(N)]
    frame = frame_of(seen=[[1, 2]] * N if lists else pd.to_datetime(days))
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
    done = CliRunner().invoke(app, [*map(str, order), "--out", str(folder / "out.csv"), *more])
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
    from gpgc.tables.kinds import MISSING_MARKS

    assert set(MISSING_MARKS) < set(UNLABELLED_MARKS)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_second_label_is_refused(tmp_path, kind):
    frame_of().to_parquet(tmp_path / "x.parquet")
    labels = pd.DataFrame({"id": ["n0", "n11", "n0"], "label": ["a", "b", "b"]})
    path = tmp_path / f"y.{kind}"
    labels.to_csv(path, index=False) if kind == "csv" else labels.to_parquet(path)
    with pytest.raises(InputError, match="'n0' has a second label"):
        classify(tmp_path, path)
