"""The command: what it takes, what it prints, what it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from gpgc.cli.app import app
from gpgc.errors import GPGCWarning, InputError

pytest.importorskip("uvicorn", reason="gpgc label needs the extra label")


@pytest.fixture
def label(tmp_path, monkeypatch):
    """Return a function that runs the command without serving, and gives what was opened."""
    from gpgc.labelling.server import Server

    opened = []

    def serve(server):
        assert server._desk.session.live.settle()
        assert server._desk.session.live.failure is None
        opened.append(server._desk)
        server._socket.close()

    monkeypatch.setattr(Server, "run", serve)

    def run(*arguments):
        given = ["label", *map(str, arguments), "--no-browser"]
        done = CliRunner().invoke(app, [*given, "--journal", str(tmp_path / "labels.jsonl")])
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == 0, done.output
        return opened[-1], done.output

    return run


def test_digits_need_no_files_and_print_one_address(label, tmp_path):
    desk, printed = label("digits")
    first, second = printed.strip().splitlines()
    assert first.startswith("gpgc label: http://127.0.0.1:")
    assert "token=" in first
    assert second.startswith("stopped; 0 labels")
    assert [each["key"] for each in desk.classes()] == list("0123456789")
    header = json.loads((tmp_path / "labels.jsonl").read_text().splitlines()[0])
    assert header["nodes"] == 1797


def test_a_graph_with_features_labels_and_keys_of_classes(label, tmp_path):
    (tmp_path / "x.csv").write_text("id,u,v\na,1,0\nb,1,1\nc,0,1\nd,0,2\n")
    (tmp_path / "e.csv").write_text("source,target\na,b\nc,d\n")
    (tmp_path / "y.csv").write_text("id,label\na,spam\n")
    desk, _ = label(
        "--features", tmp_path / "x.csv", "--edges", tmp_path / "e.csv",
        "--labels", tmp_path / "y.csv", "--classes", "spam=s,ham=h,other", "--goal", "90 ± 4",
    )  # fmt: skip
    assert [each["key"] for each in desk.classes()] == ["s", "h", "3"]
    assert desk.session.ledger.labels["a"].role == "imported"
    assert desk.estimate()["goal"]["accuracy"] == 0.9
    assert desk.source.items.kind == "table"


def test_links_as_a_sparse_matrix(label, tmp_path):
    links = sp.csr_array(np.kron(np.eye(3), 1 - np.eye(3)))
    sp.save_npz(tmp_path / "links.npz", links)
    desk, _ = label("--edges", tmp_path / "links.npz")
    assert desk.session.ids == [str(node) for node in range(9)]
    assert desk.source.items.kind == "node"


def test_better_features_of_texts_are_put_into_their_order(label, tmp_path):
    (tmp_path / "t.csv").write_text("id,text\nb,two words\na,one word\n")
    (tmp_path / "x.csv").write_text("id,u\na,1\nb,2\n")
    (tmp_path / "e.csv").write_text("source,target,weight\na,b,3\n")
    desk, _ = label(
        "--texts",
        tmp_path / "t.csv",
        "--features",
        tmp_path / "x.csv",
        "--edges",
        tmp_path / "e.csv",
    )
    assert desk.session.ids == ["b", "a"]
    assert desk.source.features.ravel().tolist() == [2, 1]
    assert [side.tolist() for side in desk.source.adjacency] == [[1], [0], [3.0]]


def test_labels_of_texts(label, tmp_path):
    (tmp_path / "t.csv").write_text("id,text\nb,two words\na,one word\n")
    (tmp_path / "y.csv").write_text("id,label\na,fine\nb,\n")
    desk, _ = label("--texts", tmp_path / "t.csv", "--labels", tmp_path / "y.csv")
    assert desk.session.ledger.classes == ("fine",)


def test_marks_of_no_label_are_no_classes_and_columns_are_found_by_name(label, tmp_path):
    (tmp_path / "t.csv").write_text("key,text\na,one\nb,two\nc,three\nd,four\ne,five\nf,six\n")
    (tmp_path / "y.csv").write_text("key,y\na,fine\nb,NA\nc,-1\nd,nan\ne,None\nf,bad\n")
    columns = ("--column", "id=key", "--column", "label=y")
    desk, _ = label("--texts", tmp_path / "t.csv", "--labels", tmp_path / "y.csv", *columns)
    assert sorted(desk.session.ledger.classes) == ["bad", "fine"]
    assert sorted(desk.session.ledger.labels) == ["a", "f"]


@pytest.mark.parametrize("source", ["--texts", "--features", "digits"])
def test_a_second_label_is_refused(label, tmp_path, source):
    (tmp_path / "t.csv").write_text("id,text\na,one\nb,two\n")
    (tmp_path / "x.csv").write_text("id,u\na,1\nb,2\n")
    name = "0" if source == "digits" else "a"
    (tmp_path / "y.csv").write_text(f"id,label\n{name},fine\n{name},bad\n")
    given = {"--texts": [tmp_path / "t.csv"], "--features": [tmp_path / "x.csv"], "digits": []}
    with pytest.raises(InputError, match=f"y.csv line 3: '{name}' has a second label"):
        label(source, *given[source], "--labels", tmp_path / "y.csv")


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["digits", "--features", "x.csv"], "--features"),
        (["digits", "--edges", "e.csv"], "--edges"),
        (["digits", "--encode", "u=text"], "--encode"),
        (["digits", "--column", "weight=w"], "--column weight"),
        (["--texts", "t.csv", "--nodes", "x.csv"], "--nodes"),
        (["--texts", "t.csv", "--encode", "u=text"], "--encode"),
        (["--texts", "t.csv", "--column", "label=y"], "--column label"),
        (["--features", "x.csv", "--labels", "y.csv", "--column", "trust=w"], "--column trust"),
        (["--edges", "e.csv", "--neighbors", 3], "--neighbors"),
    ],
)
def test_options_that_would_not_count_are_refused(label, tmp_path, monkeypatch, arguments, option):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("id,text\na,one\nb,two\n")
    (tmp_path / "x.csv").write_text("id,u\na,1\nb,2\n")
    (tmp_path / "y.csv").write_text("id,label,w\na,fine,1\n")
    (tmp_path / "e.csv").write_text("source,target\na,b\n")
    with pytest.raises(InputError, match=option):
        label(*arguments)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "must be given"),
        (["letters"], "must be digits"),
        (["digits", "--texts", "t.csv"], "must be given"),
        (["--images", "nowhere"], "must be a folder"),
        (["digits", "--classes", "a,a"], "each class once"),
        (["digits", "--classes", "a=x,b=x"], "a letter of its own"),
    ],
)
def test_what_cannot_be_labelled_is_one_sentence(label, arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        label(*arguments)


def test_marks_of_the_unlabelled_are_no_classes(label, tmp_path):
    marks = ["NA", "-1", "nan", "None", "NaN", ""]
    texts = "".join(f"t{n},word {n}\n" for n in range(7))
    (tmp_path / "t.csv").write_text(f"id,text\n{texts}")
    rows = "".join(f"t{n},{mark}\n" for n, mark in enumerate([*marks, "fine"]))
    (tmp_path / "y.csv").write_text(f"id,label\n{rows}")
    desk, _ = label("--texts", tmp_path / "t.csv", "--labels", tmp_path / "y.csv")
    assert desk.session.ledger.classes == ("fine",)
    assert desk.session.ledger.with_role("imported") == {"t6": "fine"}


@pytest.mark.parametrize("own", ["--texts", "--features"])
def test_a_second_label_of_an_item_is_refused(label, tmp_path, own):
    (tmp_path / "t.csv").write_text("id,text,n\na,one word,1\nb,two words,2\nc,three,4\n")
    (tmp_path / "y.csv").write_text("id,label\na,fine\nb,bad\na,bad\n")
    with pytest.raises(InputError, match=r"line 4: .*'a'") as raised:
        label(own, tmp_path / "t.csv", "--labels", tmp_path / "y.csv")
    assert "\n" not in str(raised.value)


def test_a_secret_of_ones_own_comes_from_the_environment(label, monkeypatch):
    monkeypatch.setenv("GPGC_TOKEN", "a-secret-of-my-own-123456")
    assert "token=a-secret-of-my-own-123456\n" in label("digits")[1]
    monkeypatch.setenv("GPGC_TOKEN", "short")
    with pytest.raises(InputError, match="GPGC_TOKEN must be at least 16"):
        label("digits")


def test_no_secret_is_an_argument_that_others_can_see(label):
    done = CliRunner().invoke(app, ["label", "--help"])
    assert "--token" not in done.output
    assert "GPGC_TOKEN" in done.output


def test_a_name_of_two_words_is_kept(label):
    assert "&by=Anna+Maria\n" in label("digits", "--by", "Anna Maria")[1]


def test_strangers_among_the_labels_are_named(label, tmp_path):
    (tmp_path / "y.csv").write_text("id,label\nnobody,1\n")
    with pytest.raises(InputError, match="'nobody', which is not in the graph"):
        label("digits", "--labels", tmp_path / "y.csv")


def test_the_widget_answers_as_the_server_does(open_session):
    pytest.importorskip("anywidget", reason="the widget needs the extra notebook")
    from gpgc.labelling.widget import LabelWidget

    desk = open_session()
    widget, sent = LabelWidget(desk, "anna"), []
    widget.send = lambda message, buffers=None: sent.append((message, buffers))
    widget._answer({"id": 1, "route": "next", "args": {"n": 1}})
    (node,) = (each["item"] for each in sent[-1][0]["body"]["items"])
    event = {"event": "e", "do": "label", "item": node, "label": "a"}
    widget._answer({"id": 2, "route": "events", "args": event})
    assert sent[-1][0]["body"]["saved"]
    assert widget.labels == {f"n{node}": "a"}
    widget._answer({"id": 3, "route": "colours"})
    assert len(sent[-1][1][0]) == 600
    widget._answer({"id": 4, "route": "image", "args": {"item": node}})
    assert not sent[-1][0]["ok"]
    widget._answer({"id": 5, "route": "rm"})
    assert "known question" in sent[-1][0]["body"]["problem"]
    assert widget.estimator().classes_.tolist() == ["a"]
    assert widget.export("labels.csv").startswith(b"id,label,by,at,role")


def test_the_page_ships_small_and_asks_nobody(open_session):
    import gpgc.labelling

    page = Path(gpgc.labelling.__file__).parent / "page"
    files = [path for path in page.iterdir() if path.suffix in (".js", ".css", ".html")]
    assert sum(path.stat().st_size for path in files) < 125_000
    for path in files:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text
        assert "https:" not in text
        assert "innerHTML" not in text


def test_a_table_of_texts_and_categories_is_shown_as_it_is(label, tmp_path):
    rows = ["a,one red thing here,x,1", "b,two red things there,x,", "c,a blue thing,y,3"]
    (tmp_path / "x.csv").write_text("name,words,kind,size\n" + "\n".join(rows) + "\nd,blue,y,4\n")
    options = ("--column", "id=name", "--encode", "words=text", "--neighbors", 1)
    desk, _ = label("--features", tmp_path / "x.csv", *options)
    assert desk.source.items.show(1)["cells"] == [["words", "two red things there"], ["kind", "x"]]
    assert desk.source.as_table().encoder.names == ("words", "kind", "size")
    assert desk.source.as_table().names.tolist() == list("abcd")


def test_columns_of_numbers_are_shown_by_their_names(label, tmp_path):
    (tmp_path / "x.csv").write_text("id,height,width\na,1,0\nb,1,1\nc,0,1\n")
    desk, _ = label("--features", tmp_path / "x.csv", "--neighbors", 1)
    assert desk.source.items.show(0)["cells"] == [["height", "1"], ["width", "0"]]


def test_images_whose_features_could_not_be_made_are_left_out(label, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="images need Pillow")
    from gpgc.labelling.sources import image_folder
    from gpgc.problem.image_file import ImageFeatures, save_image_features

    folder = tmp_path / "images"
    (folder / ".thumbnails").mkdir(parents=True)
    for name in ("a.png", "b.png", "c.png", ".thumbnails/d.png"):
        image.new("RGB", (4, 4)).save(folder / name)
    (folder / "broken.png").write_bytes(b"no image")
    (folder / "notes.txt").write_text("not an image")
    made = ImageFeatures(("a.png", "b.png", "c.png"), np.eye(3, dtype=np.float32), {})
    save_image_features(tmp_path / "x.npz", made)
    arguments = ("--images", folder, "--features", tmp_path / "x.npz", "--neighbors", 1)
    with pytest.warns(GPGCWarning, match=r"without features are left out, 1 of them: broken.png"):
        desk, _ = label(*arguments)
    assert desk.source.ids == ["a.png", "b.png", "c.png"]
    np.testing.assert_array_equal(desk.source.features, np.eye(3))
    assert image_folder(folder).ids == ["a.png", "b.png", "broken.png", "c.png"]
