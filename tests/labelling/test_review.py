"""Answers that are worth a second look."""

import json
import threading
import time
from concurrent.futures import Future

import pytest

from gpgc.errors import InputError
from gpgc.labelling.events import ConflictError
from gpgc.labelling.review import SUSPICIOUS
from gpgc.problem.roles import RANDOM_ROLES
from tests.labelling.conftest import made_up


def reviewed(desk):
    """Return the review queue once the labels were checked."""
    heard = []
    silence = desk.session.listen(heard.append)
    while desk.review()["checking"]:
        assert desk.session.live.settle()
        desk.session.live.fit({0: "a", 1: "b"}).result()  # what was asked before is done
    silence()
    return desk.review()


def wrong_one(desk):
    """Give a label that is wrong to an item that the model learns from."""
    ledger, session = desk.session.ledger, desk.session
    name = next(n for n, given in ledger.labels.items() if given.role == "suggested")
    truth = desk.truth[session.index[name]]
    other = {"a": "b", "b": "c", "c": "a"}[truth]
    event = {"do": "correct", "item": session.index[name], "label": other}
    session.record(event, "anna")
    return name, other, truth


@pytest.fixture
def desk(open_labelled):
    """Return a desk with 40 right labels."""
    return open_labelled(40)


def test_a_label_that_the_others_contradict_is_asked_once(desk):
    name, other, truth = wrong_one(desk)
    found = reviewed(desk)
    (entry,) = [each for each in found["entries"] if each["id"] == name]
    assert (entry["why"], entry["label"], entry["other"]) == ("contradicted", other, truth)
    assert entry["wrong"] >= SUSPICIOUS
    n_wrong, n_labels = found["wrong"]
    assert (n_wrong >= 1, n_labels) == (True, 40)
    assert desk.session.summary()["review"] == found["count"]
    event = {"do": "keep", "item": desk.session.index[name], "was": other}
    desk.record(event, "anna")
    line = json.loads(desk.session.journal.path.read_text().splitlines()[-1])
    assert (line["do"], line["id"], line["version"]) == ("keep", name, 3)
    assert name not in [each["id"] for each in reviewed(desk)["entries"]]
    assert desk.session.ledger.labels[name].label == other
    desk.record({"do": "undo"}, "anna")
    assert name in [each["id"] for each in reviewed(desk)["entries"]]


def test_random_items_are_never_called_suspicious(desk):
    session = desk.session
    for name, given in list(session.ledger.labels.items()):
        if given.role == "audit":
            other = {"a": "b", "b": "c", "c": "a"}[given.label]
            session.record({"do": "correct", "item": session.index[name], "label": other}, "anna")
    roles = [session.ledger.labels[each["id"]].role for each in reviewed(desk)["entries"]]
    assert not set(roles) & set(RANDOM_ROLES)


def test_skipped_items_come_the_unsure_ones_first_and_stay_random(desk):
    session, roles = desk.session, {}
    for note in (None, "unsure", None, None, None, None):
        node = session.next("anna", 1)[0]
        session.record({"do": "skip", "item": node, "note": note}, "anna")
        roles[session.ids[node]] = session.ledger.skipped[session.ids[node]]
        assert session.live.settle()
    found = [each for each in reviewed(desk)["entries"] if each["label"] is None]
    assert [each["why"] for each in found] == ["unsure", *["skipped"] * 5]
    assert "audit" in roles.values()
    for each in found:
        event = {"do": "label", "item": each["item"], "label": "a", "chosen": True, "was": None}
        desk.record(event | {"reviewed": True}, "anna")
    after = {name: session.ledger.labels[name].role for name in roles}
    assert {name for name, role in after.items() if role == "audit"} == {
        name for name, role in roles.items() if role == "audit"
    }
    assert not [each for each in desk.review()["entries"] if each["label"] is None]


def test_two_people_who_disagree_are_asked_until_one_is_kept(desk):
    name, other, truth = wrong_one(desk)
    event = {"do": "correct", "item": desk.session.index[name], "label": truth}
    desk.record(event, "ben")
    entry = desk.review()["entries"][0]
    assert (entry["why"], entry["id"]) == ("conflict", name)
    assert (entry["label"], entry["by"], entry["other"], entry["other_by"]) == (
        truth, "ben", other, "anna",
    )  # fmt: skip
    desk.record({"do": "keep", "item": desk.session.index[name], "was": truth}, "anna")
    assert name not in [each["id"] for each in desk.review()["entries"]]


def test_an_imported_label_is_called_imported(open_session):
    truth, _ = made_up()
    right = {f"n{node}": "abc"[code] for node, code in enumerate(truth[:200])}
    wrong = {f"n{n}": {"a": "b", "b": "c", "c": "a"}[right[f"n{n}"]] for n in range(6)}
    desk = open_session(imported=right | wrong)
    found = {each["id"]: each["why"] for each in reviewed(desk)["entries"]}
    assert set(wrong) & set(found)
    assert set(found.values()) == {"imported"}


def test_only_what_was_decided_can_be_kept_and_only_as_it_is(desk):
    node = desk.session.next("anna", 1)[0]
    with pytest.raises(InputError, match="must have been decided"):
        desk.record({"do": "keep", "item": node, "was": None}, "anna")
    name, _, truth = wrong_one(desk)
    with pytest.raises(ConflictError, match="was changed meanwhile"):
        desk.record({"do": "keep", "item": desk.session.index[name], "was": truth}, "anna")


def test_labels_that_come_during_a_check_are_checked_too(desk):
    session = desk.session
    is_free = threading.Event()
    fit = session.live.fit

    def slow(labels):
        done = Future()

        def work():
            is_free.wait(60)
            done.set_result(fit(labels).result())

        threading.Thread(target=work).start()
        return done

    session.live.fit = slow
    assert desk.review()["checking"]
    name, _, _ = wrong_one(desk)  # while the labels before it are checked
    assert desk.review()["checking"]
    heard = []
    silence = session.listen(heard.append)
    is_free.set()
    deadline = time.monotonic() + 60
    while heard.count("review") < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    silence()
    assert name in session.watch.suspects
