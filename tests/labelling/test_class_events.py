"""Classes that live: every change is a line of the journal, and one undo takes it back."""

import json

import pytest

from gpgc.errors import InputError
from gpgc.labelling.events import UnknownClassError
from tests.labelling.conftest import made_up


@pytest.fixture
def desk(open_labelled):
    """Return a desk with 9 right labels."""
    return open_labelled(9)


def looks(desk):
    return [
        (each["name"], each["key"], each.get("colour"), each["labels"]) for each in desk.classes()
    ]


def labels(desk):
    return {name: given.label for name, given in desk.session.ledger.labels.items()}


EVENTS = [
    {"do": "rename", "label": "a", "to": "apple"},
    {"do": "rename", "label": "a", "to": "b"},
    {"do": "delete", "label": "c"},
    {"do": "style", "label": "b", "colour": "#123456"},
    {"do": "style", "label": "c", "key": "1"},
    {"do": "style", "label": "a", "key": "x"},
    {"do": "order", "classes": ["c", "a", "b"]},
]


@pytest.mark.parametrize("event", EVENTS)
def test_a_change_is_one_line_that_undoes_and_outlives_a_restart(desk, open_session, event):
    before, given = looks(desk), labels(desk)
    desk.record(event, "anna")
    after, changed = looks(desk), labels(desk)
    assert after != before
    line = json.loads(desk.session.journal.path.read_text().splitlines()[-1])
    assert (line["do"], line["version"]) == (event["do"], 3)
    desk.session.close()
    again = open_session()
    assert (looks(again), labels(again)) == (after, changed)
    again.record({"do": "undo"}, "anna")
    assert (looks(again), labels(again)) == (before, given)
    again.record({"do": "redo"}, "anna")
    assert looks(again) == after


def test_a_renamed_class_keeps_key_colour_and_what_the_model_learnt(desk):
    before = desk.session.live.opinion.codes.tolist()
    (key,) = [each["key"] for each in desk.classes() if each["name"] == "a"]
    desk.record({"do": "rename", "label": "a", "to": "apple"}, "anna")
    (renamed,) = [each for each in desk.classes() if each["name"] == "apple"]
    assert (renamed["key"], renamed["place"]) == (key, 0)
    assert desk.session.live.settle()
    assert "apple" in desk.session.live.opinion.classes
    assert len(before) == 300


def test_items_of_a_deleted_class_are_open_again(desk):
    mine = {name for name, label in labels(desk).items() if label == "c"}
    desk.record({"do": "delete", "label": "c"}, "anna")
    assert not mine & desk.session.ledger.decided
    with pytest.raises(UnknownClassError):
        desk.record({"do": "label", "item": 0, "label": "c"}, "anna")


def test_a_key_that_a_class_has_is_swapped(desk):
    desk.record({"do": "style", "label": "c", "key": "1"}, "anna")
    assert [(each["name"], each["key"]) for each in desk.classes()] == [
        ("a", "3"), ("b", "2"), ("c", "1"),
    ]  # fmt: skip


def test_a_merge_gives_all_labels_to_one_class(desk):
    before = {each["name"]: each["labels"] for each in desk.classes()}
    desk.record({"do": "rename", "label": "a", "to": "b"}, "anna")
    after = {each["name"]: each["labels"] for each in desk.classes()}
    assert after == {"b": before["a"] + before["b"], "c": before["c"]}


def test_a_class_of_the_command_that_was_deleted_does_not_come_back(open_session):
    truth, _ = made_up()
    known = {f"n{node}": "abc"[code] for node, code in enumerate(truth[:9])}
    desk = open_session(imported=known)
    desk.record({"do": "delete", "label": "c"}, "anna")
    desk.record({"do": "rename", "label": "a", "to": "apple"}, "anna")
    after = labels(desk)
    desk.session.close()
    again = open_session(imported=known)
    assert [each["name"] for each in again.classes()] == ["apple", "b"]
    assert labels(again) == after


@pytest.mark.parametrize("version", [1, 2])
def test_a_journal_of_an_older_version_goes_on_with_new_events(desk, open_session, version):
    path, before = desk.session.journal.path, labels(desk)
    desk.session.close()
    header, rest = path.read_text().split("\n", 1)
    path.write_text(json.dumps(json.loads(header) | {"version": version}) + "\n" + rest)
    again = open_session()
    assert labels(again) == before
    again.record({"do": "rename", "label": "a", "to": "apple"}, "anna")
    again.session.close()
    assert "apple" in open_session().session.ledger.classes


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"do": "rename", "label": "a", "to": ""}, "label must be a line"),
        ({"do": "rename", "label": "zebra", "to": "b"}, "one of the classes"),
        ({"do": "style", "label": "a", "colour": "red"}, "colour must be like"),
        ({"do": "style", "label": "a", "key": "Enter"}, "key must be a digit"),
        ({"do": "order", "classes": ["a", "b"]}, "all classes in another order"),
    ],
)
def test_a_change_that_cannot_be_is_refused(desk, event, said):
    with pytest.raises(InputError, match=said):
        desk.record(event, "anna")
