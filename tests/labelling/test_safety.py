"""Nothing that was answered is overwritten, and nothing is shown that misleads."""

import json
import os
import sys
import threading

import numpy as np
import pytest

from gpgc.errors import DataError, GPGCWarning, InputError
from gpgc.labelling.desks import Desks
from gpgc.labelling.estimate import audited
from gpgc.labelling.events import ConflictError
from gpgc.labelling.items import as_items
from gpgc.labelling.ledger import Ledger, replay
from tests.labelling.conftest import work


def lines(desk):
    return [json.loads(each) for each in desk.session.journal.path.read_text().splitlines()]


def bulk(desk, items, label="a", by="anna", **more):
    return desk.session.record({"do": "bulk", "items": items, "label": label, **more}, by)


# One label for many items


def test_a_bulk_is_one_line_and_one_undo(open_session):
    desk = open_session()
    work(desk, 6)
    before = dict(desk.session.ledger.labels)
    bulk(desk, list(range(200)))
    given = len(desk.session.ledger.labels) - len(before)
    assert 170 < given < 200
    assert len(lines(desk)) == 8
    assert desk.history("anna")["entries"][0]["items"] == given
    desk.session.record({"do": "undo"}, "anna")
    assert desk.session.ledger.labels == before
    desk.session.record({"do": "redo"}, "anna")
    assert len(desk.session.ledger.labels) == len(before) + given
    now = desk.session.ledger
    desk.session.close()
    assert open_session().session.ledger.labels == now.labels


def test_a_bulk_leaves_answers_and_audit_items_alone(open_session):
    desk = open_session()
    work(desk, 30)
    session = desk.session
    session.record({"do": "skip", "item": session.next("anna", 1)[0]}, "anna")
    before, skipped = dict(session.ledger.labels), dict(session.ledger.skipped)
    kept = {*session.next("anna", 4), *session.next("ben", 2)}
    kept |= set(session.audits.window(session.ledger))
    bulk(desk, list(range(300)), "c")
    assert {name: session.ledger.labels[name] for name in before} == before
    assert session.ledger.skipped == skipped
    assert not {session.ids[node] for node in kept} & set(session.ledger.labels)
    assert len(session.ledger.labels) > 240


def test_a_bulk_changes_what_is_asked_for_by_name(open_session):
    desk = open_session()
    work(desk, 20)
    session = desk.session
    name = next(iter(session.ledger.with_role("audit")))
    node = session.index[name]
    was = session.ledger.labels[name].label
    other = next(each for each in "abc" if each != was)
    bulk(desk, [node], other)
    assert session.ledger.labels[name].label == was
    assert len(lines(desk)) == 21
    bulk(desk, [], other, named=[node])
    given = session.ledger.labels[name]
    assert (given.label, given.role, given.is_blind) == (other, "audit", False)


def test_what_a_bulk_leaves_out_does_not_tell_the_audit_items(open_session):
    desk = open_session()
    work(desk, 10)
    session = desk.session
    shown = {each["item"] for each in desk.group(range(300))["items"]}
    left_out = set(range(300)) - shown
    window = set(session.audits.window(session.ledger))
    assert window <= left_out
    assert len(left_out) >= 2 * len(window)
    assert desk.group(range(300))["left_out"] == len(left_out)
    assert '"role"' not in json.dumps(desk.group(range(300)))


@pytest.mark.parametrize(
    "event",
    [
        {"items": list(range(501))},
        {"items": "all"},
        {"items": [1, "2"]},
        {"items": [300]},
        {"items": [1], "label": "elephant"},
        {"items": [1], "named": 3},
    ],
)
def test_a_wrong_bulk_changes_nothing(open_session, event):
    desk = open_session(settle=False)
    with pytest.raises(InputError):
        desk.session.record({"do": "bulk", "label": "a", **event}, "anna")
    assert len(lines(desk)) == 1


def test_a_closing_audit_takes_no_bulk(open_session):
    desk = open_session()
    work(desk, 6)
    desk.session.record({"do": "finish", "n": 5}, "anna")
    with pytest.raises(InputError, match="one by one"):
        bulk(desk, list(range(50)))
    assert desk.group(range(50)) == {"items": [], "left_out": 50}


def test_journals_of_the_first_version_are_read(open_session):
    desk = open_session()
    work(desk, 4)
    desk.session.close()
    path, before = desk.session.journal.path, desk.session.ledger.labels
    header, rest = path.read_text().split("\n", 1)
    path.write_text(json.dumps(json.loads(header) | {"version": 1}) + "\n" + rest)
    again = open_session()
    assert again.session.ledger.labels == before
    bulk(again, list(range(20)))
    again.session.close()
    assert len(open_session().session.ledger.labels) > 15


# No opinion that is none


def test_labels_of_one_class_give_no_opinion(open_session):
    desk = open_session()
    for node in (3, 4, 5):
        desk.session.record({"do": "label", "item": node, "label": "a", "chosen": True}, "anna")
    assert desk.session.live.settle()
    assert all(desk.session.live.opinion.of(node) is None for node in range(300))
    codes, certainty = np.frombuffer(desk.colours(), dtype=np.uint8).reshape(-1, 2).T
    assert (certainty[codes != 255] == 255).all()
    assert (codes != 255).sum() == 3
    desk.session.record({"do": "label", "item": 6, "label": "b", "chosen": True}, "anna")
    assert desk.session.live.settle()
    assert desk.session.live.opinion.of(7) is not None
    desk.session.record({"do": "undo"}, "anna")
    assert desk.session.live.settle()
    assert desk.session.live.opinion.of(7) is None


def test_a_picture_that_is_behind_says_by_how_much(open_session, monkeypatch):
    monkeypatch.setattr("gpgc.labelling.label.CANDIDATES", 40)
    monkeypatch.setattr("gpgc.labelling.planning.EXACT_NODES", 50)
    monkeypatch.setattr("gpgc.labelling.planning.N_WITNESSES", 30)
    monkeypatch.setattr("gpgc.labelling.session.LIVE_NODES", 100)
    monkeypatch.setattr("gpgc.labelling.session.KEPT_NODES", 20)
    desk = open_session()
    live, session = desk.session.live, desk.session
    session.record({"do": "label", "item": 0, "label": "a", "chosen": True}, "anna")
    assert live.settle()
    assert (live.opinion.codes == 255).all()
    waits, choose = threading.Event(), live._choose

    def late(chooser):
        waits.wait(300)
        choose(chooser)

    monkeypatch.setattr(live, "_choose", late)
    for node in range(1, 6):
        label = desk.truth[node]
        session.record({"do": "label", "item": node, "label": label, "chosen": True}, "anna")
    far = np.setdiff1d(np.arange(300), [*live.labelling.nodes, *range(6)])
    while live.opinion.n_labels < 6:
        threading.Event().wait(0.02)
    assert all(live.opinion.of(int(node)) is None for node in far)
    assert desk.estimate()["behind"] == 6
    waits.set()
    assert live.settle()
    assert all(live.opinion.of(int(node)) is not None for node in far)
    assert desk.estimate()["behind"] < 6


# The audit is blind


def test_nothing_is_told_of_an_item_that_waits_for_an_answer(open_session):
    desk = open_session()
    work(desk, 12)
    for _ in range(8):
        for node in desk.session.next("anna", 4):
            found = desk.near(node, shows=True)
            assert found["guess"] is None
            assert found["near"]
            assert all(each["guess"] is None for each in found["near"])
            codes = np.frombuffer(desk.colours(), dtype=np.uint8)[::2]
            assert codes[node] == 255
        work(desk, 1)
    decided = desk.session.index[desk.session.ledger.entries[-1].id]
    assert desk.near(decided, shows=True)["guess"] is not None
    assert desk.near(decided)["guess"] is None


def test_a_closing_audit_tells_nothing(open_session):
    desk = open_session()
    work(desk, 12)
    desk.session.record({"do": "finish", "n": 10}, "anna")
    for name in desk.session.ledger.closing:
        found = desk.near(desk.session.index[name], shows=True)
        assert found["guess"] is None
        assert all(each["guess"] is None for each in found["near"])


def test_what_the_model_thought_is_told_after_the_answer(open_session):
    desk = open_session()
    work(desk, 12)
    (node,) = desk.session.next("anna", 1)
    event = {"do": "label", "item": node, "label": desk.truth[node], "shows": True}
    thought = desk.record(event, "anna")["thought"]
    assert thought["item"] == node
    assert thought["guess"][0] in "abc"
    assert "in_sight" not in lines(desk)[-1]
    desk.record({"do": "correct", "item": node, "label": thought["guess"][0]}, "anna")
    other = next(each for each in "abc" if each != desk.session.ledger.labels[f"n{node}"].label)
    desk.record({"do": "correct", "item": node, "label": other}, "anna")
    assert lines(desk)[-1]["in_sight"] is True


def test_an_item_that_was_looked_at_with_its_prediction_is_marked(open_session):
    desk = open_session()
    work(desk, 12)
    free = desk.group(range(300))["items"]
    node = next(each["item"] for each in free if each["label"] is None)
    assert desk.near(node, shows=True)["guess"] is not None
    desk.record({"do": "label", "item": node, "label": "a", "chosen": True}, "anna")
    assert lines(desk)[-1]["in_sight"] is True


def test_answers_in_sight_of_a_prediction_count_until_there_are_enough_blind_ones():
    def line(n, **more):
        return {"event": str(n), "do": "label", "id": f"n{n}", "label": "a", "role": "audit"} | more

    seen = [line(n, in_sight=True) for n in range(6)]
    few = replay(Ledger(("a",)), [*seen, *(line(n) for n in range(6, 10))])
    assert len(audited(few)) == 10
    enough = replay(Ledger(("a",)), [*seen, *(line(n) for n in range(6, 11))])
    assert set(audited(enough)) == {f"n{n}" for n in range(6, 11)}


# Several tabs, several people


def test_an_answer_that_came_late_is_refused_and_never_a_correction(open_session):
    desk = open_session()
    (node,) = desk.session.next("anna", 1)
    desk.session.record({"do": "label", "item": node, "label": "a"}, "anna")
    for event in ({"do": "label", "label": "b"}, {"do": "skip"}):
        for more in ({}, {"was": None}):
            with pytest.raises(ConflictError, match="labelled a by anna meanwhile"):
                desk.session.record({**event, **more, "item": node}, "ben")
    with pytest.raises(ConflictError):
        desk.session.record({"do": "correct", "item": node, "label": "c", "was": "b"}, "ben")
    assert len(lines(desk)) == 2
    desk.session.record({"do": "label", "item": node, "label": "a"}, "ben")
    assert len(lines(desk)) == 2
    desk.session.record({"do": "label", "item": node, "label": "b", "was": "a"}, "ben")
    assert lines(desk)[-1]["do"] == "correct"


@pytest.fixture
def hasty():
    """Let threads take turns a thousand times as often as usual."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 1000)
    yield
    sys.setswitchinterval(usual)


def test_desks_may_be_looked_at_while_they_change(hasty):
    desks, problems, done = Desks(lambda: 0.0), [], threading.Event()
    looking = threading.Barrier(3, timeout=60)

    def look():
        looking.wait()
        try:
            while not done.is_set():
                desks.hold(7)
                desks.items()
        except RuntimeError as error:
            problems.append(error)

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    looking.wait()
    for number in range(1000):
        desks.of(f"person {number}")
    done.set()
    for thread in threads:
        thread.join()
    assert problems == []


def test_a_late_refill_brings_nothing_into_a_closing_audit(open_session, monkeypatch):
    desk = open_session()
    work(desk, 5)
    session, take = desk.session, desk.session.live.take
    while session.audits.is_due(session.ledger, len(session.next("anna", 1)) - 1):
        work(desk, 1)
    session._desks.keep(lambda by, node: False)

    def late(taken, timeout):
        node = take(taken, timeout)
        session.record({"do": "finish", "n": 10}, "ben")
        return node

    monkeypatch.setattr(session.live, "take", late)
    names = {session.ids[node] for node in session.next("anna", 4)}
    assert names <= set(session.ledger.closing)


def test_an_item_that_is_looked_at_stays_after_a_restart(open_session):
    desk = open_session()
    node = desk.session.next("anna", 4)[2]
    desk.session.close()
    again = open_session()
    assert again.session.next("anna", 4, holding=node)[0] == node
    assert again.session.next("ben", 2, holding=node)[0] != node
    again.session.record({"do": "label", "item": node, "label": "a"}, "anna")
    assert node not in again.session.next("anna", 4, holding=node)


def test_many_people_at_once_get_items_of_their_own(open_session):
    desk = open_session()
    work(desk, 4)
    problems, seen = [], {}

    def person(name):
        try:
            for _ in range(8):
                node = desk.session.next(name, 2)[0]
                seen.setdefault(name, []).append(node)
                event = {"do": "label", "item": node, "label": desk.truth[node], "was": None}
                desk.session.record(event, name)
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=person, args=(f"p{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    everything = [node for nodes in seen.values() for node in nodes]
    assert len(everything) == len(set(everything)) == 48
    assert [line["do"] for line in lines(desk)[1:]] == ["label"] * 52


def test_news_of_an_answer_hold_the_classes_as_they_are_now(open_session):
    desk = open_session()
    (node,) = desk.session.next("anna", 1)
    desk.session.record({"do": "class", "label": "d"}, "ben")
    desk.session.record({"do": "label", "item": node, "label": "d"}, "anna")
    assert desk.about(["saved"])["classes"] == desk.classes()
    assert [each["labels"] for each in desk.classes()] == [0, 0, 0, 1]
    assert "classes" not in desk.about(["opinion"])


def test_a_class_whose_event_is_undone_stays_while_it_has_labels(open_session):
    desk = open_session()
    desk.session.record({"do": "class", "label": "d"}, "anna")
    desk.session.record({"do": "label", "item": 3, "label": "d", "chosen": True}, "ben")
    desk.session.record({"do": "undo"}, "anna")
    assert len(desk.colours()) == 600
    assert [each["name"] for each in desk.classes()] == list("abcd")


# Journals and names that are damaged


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"version": "2"}, "version must be a whole number"),
        ({"version": None}, "version must be a whole number"),
        ({"version": 99}, "written by a newer gpgc"),
        ({"seed": "abc"}, "seed must be a whole number"),
        ({"seed": None}, "seed must be a whole number"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"classes": [1, 2]}, "classes must be names"),
        ({"classes": [None]}, "classes must be names"),
        ({"classes": {"a": 1}}, "must be a journal of labels"),
        ({"gpgc": "runs"}, "must be a journal of labels"),
    ],
)
def test_a_damaged_header_is_one_sentence(open_session, change, sentence):
    desk = open_session()
    desk.session.close()
    path = desk.session.journal.path
    path.write_text(json.dumps(json.loads(path.read_text()) | change) + "\n")
    for _ in range(2):  # the first has let the journal go
        with pytest.raises(DataError, match=sentence) as raised:
            open_session()
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ({"do": "label", "id": "nobody", "label": "a"}, "nodes of this graph, got 'nobody'"),
        ({"do": "finish", "ids": ["nobody"]}, "nodes of this graph, got 'nobody'"),
        ({"do": "bulk", "ids": ["n1", "nobody"], "label": "a"}, "this graph, got 'nobody'"),
        ({"do": "finish"}, "line 2 must be an event"),
        ({"do": "finish", "ids": "n1"}, "line 2 must be an event"),
        ({"do": "bulk", "ids": [], "label": "a"}, "line 2 must be an event"),
        ({"do": "bulk", "ids": [1], "label": "a"}, "line 2 must be an event"),
        ({"do": ["label"]}, "line 2 must be an event"),
    ],
)
def test_a_foreign_event_is_one_sentence(open_session, line, sentence):
    desk = open_session()
    desk.session.close()
    with desk.session.journal.path.open("a") as journal:
        journal.write(json.dumps({"event": "e", **line}) + "\n")
    with pytest.raises(DataError, match=sentence):
        open_session()


def test_a_label_that_the_header_does_not_name_is_a_class(open_session):
    desk = open_session()
    desk.session.close()
    with desk.session.journal.path.open("a") as journal:
        line = {"event": "e", "do": "label", "id": "n3", "label": "zebra", "role": "chosen"}
        journal.write(json.dumps(line) + "\n")
    again = open_session()
    assert again.session.ledger.classes == ("a", "b", "c", "zebra")
    assert len(again.colours()) == 600


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        ({"n1": "a", "nobody": "b"}, "must be of these nodes, got 'nobody'"),
        ({"n1": "  "}, "label must be a line"),
        ({"n1": "x" * 201}, "label must be a line"),
        ({f"n{n}": f"c{n}" for n in range(120)}, "at most 100 classes"),
    ],
)
def test_labels_that_cannot_be_taken_over_write_nothing(open_session, tmp_path, known, sentence):
    with pytest.raises(InputError, match=sentence):
        open_session(imported=known)
    assert len((tmp_path / "labels.jsonl").read_text().splitlines()) == 1


@pytest.mark.skipif(os.name != "posix", reason="names of files are bytes on POSIX alone")
def test_images_whose_names_are_not_utf8_are_left_out_with_a_sentence(tmp_path):
    image = pytest.importorskip("PIL.Image", reason="images need Pillow")
    from gpgc.labelling.sources import image_folder

    folder = tmp_path / "images"
    folder.mkdir()
    for name in (b"a.png", b"b.png", b"caf\xe9.png"):
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            image.new("RGB", (4, 4)).save(file, format="PNG")
    with pytest.warns(GPGCWarning, match=r"names are not UTF-8 are left out, 1 of them"):
        source = image_folder(folder)
    assert source.ids == ["a.png", "b.png"]


def test_ids_that_are_no_text_are_refused(tmp_path):
    from gpgc.labelling.session import Session

    with pytest.raises(InputError, match="ids must be text that UTF-8 can hold"):
        Session(["a", "caf\udce9"], lambda nodes: None, tmp_path / "labels.jsonl")


# Pictures as they are


@pytest.mark.parametrize(
    ("pixels", "shown"),
    [
        (np.array([[[0, 1]], [[0, 255]]], dtype=np.uint8), [0, 1]),
        (np.array([[[0, 1]], [[0, 1]]], dtype=np.uint8), [0, 1]),
        (np.array([[[0, 1]], [[0, 255]]], dtype=np.float64), [0, 1]),
        (np.array([[[0, 0.4]], [[0, 1.0]]]), [0, 102]),
        (np.array([[[False, True]], [[False, True]]]), [0, 255]),
    ],
)
def test_a_dark_image_is_shown_dark(pixels, shown):
    image = pytest.importorskip("PIL.Image", reason="images need Pillow")
    import io

    content = as_items(pixels, ["dark", "other"]).picture(0).content
    assert np.asarray(image.open(io.BytesIO(content))).ravel().tolist() == shown
