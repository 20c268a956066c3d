"""Items are found by words, class, certainty and person; what finds them gives no audit away."""

import numpy as np
import pytest

from gpgc.errors import InputError
from gpgc.labelling.finding import DOUBT, Wanted
from gpgc.labelling.opinion import NOTHING
from tests.labelling.conftest import work


def found(desk, **wanted):
    return [each["item"] for each in desk.search(Wanted(**wanted))["found"]]


def test_items_are_found_by_name_and_by_what_is_shown(open_session):
    desk = open_session()
    assert found(desk, text="n7")[:3] == [7, 70, 71]
    everything = desk.search(Wanted())
    assert everything["count"] == 300
    assert len(everything["found"]) == 100
    assert found(desk, text="nowhere") == []
    with pytest.raises(InputError, match="state must be one of labelled, unlabelled"):
        Wanted(state="odd")


def test_items_are_found_by_class_state_and_person(open_labelled):
    desk = open_labelled(20)
    work(desk, 4, "ben")
    session = desk.session
    skipped = session.next("ben", 1)[0]
    session.record({"do": "skip", "item": skipped}, "ben")
    session.live.settle()
    labels = {session.index[name]: given for name, given in session.ledger.labels.items()}
    assert set(found(desk, state="labelled")) == set(labels)
    assert found(desk, state="skipped") == [skipped]
    assert desk.search(Wanted(state="unlabelled"))["count"] == 300 - 25
    assert set(found(desk, by="ben")) == {n for n, g in labels.items() if g.by == "ben"}
    of_a = desk.search(Wanted(label="a"))
    given = {each["item"] for each in of_a["found"] if each["label"]}
    assert given == {n for n, g in labels.items() if g.label == "a"}
    assert of_a["count"] > len(given)  # also what the model puts there
    mine = found(desk, label="a", state="labelled", by="anna")
    assert set(mine) == {n for n, g in labels.items() if (g.label, g.by) == ("a", "anna")}


def test_doubt_finds_no_item_that_is_asked_blind_and_the_least_sure_come_first(open_labelled):
    desk = open_labelled(20)
    session = desk.session
    opinion = session.live.opinion
    blind = {*session.desk_items(), *session.audits.window(session.ledger, times=2)}
    for state, wanted in (("doubt", "up"), ("sure", "down")):
        items = desk.search(Wanted(state=state))["items"]
        assert not blind & set(items)
        certainty = opinion.certainty[items].astype(int)
        assert (np.diff(certainty if wanted == "up" else -certainty) >= 0).all()
        assert ((certainty < DOUBT * (NOTHING - 1)) == (state == "doubt")).all()
    assert not blind & {each["item"] for each in desk.search(Wanted(label="b"))["found"]}
    told = desk.search(Wanted(state="sure"), shows=True)["found"][0]
    assert told["guess"][1] >= 0.9
    desk.session.record({"do": "label", "item": told["item"], "label": "a", "chosen": True}, "anna")
    assert session.ledger.records[-1]["in_sight"]


def test_the_history_folds_what_was_corrected_and_says_who(open_session):
    desk = open_session()
    work(desk, 3, "anna")
    node = desk.session.index[next(iter(desk.session.ledger.labels))]
    was = desk.session.ledger.labels[f"n{node}"].label
    other = "b" if was == "a" else "a"
    correction = {"do": "correct", "item": node, "label": other, "was": was}
    desk.session.record(correction, "ben")
    shown = desk.history("anna")
    assert shown["count"] == 4
    assert len(shown["entries"]) == 3
    first = shown["entries"][0]
    assert (first["item"], first["label"], first["by"]) == (node, other, "ben")
    assert first["before"] == [{"label": was, "by": "anna"}]
