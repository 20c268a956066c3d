"""A group of items that the model is sure of, confirmed at once."""

import json

import numpy as np
import pytest

from gpgc.errors import DataError, InputError
from gpgc.labelling.estimate import audited
from gpgc.labelling.opinion import SURE
from gpgc.labelling.session import GROUP, surest_group
from tests.labelling.conftest import work


def lines(desk):
    return [json.loads(each) for each in desk.session.journal.path.read_text().splitlines()]


def confirm(desk, group, declined=(), by="anna", **more):
    items = [each["item"] for each in group["items"]]
    event = {"do": "confirm", "label": group["label"], "declined": list(declined)}
    kept = [node for node in items if node not in declined]
    return desk.record({**event, "items": kept, **more}, by)


@pytest.fixture
def desk(open_labelled):
    """Return a desk whose model is sure of many items."""
    return open_labelled(25)


def test_a_group_is_of_one_class_that_the_model_is_sure_of(desk):
    group = desk.sure()
    assert 2 <= len(group["items"]) <= GROUP
    for each in group["items"]:
        said = desk.session.live.opinion.of(each["item"])
        assert said[0] == group["label"]
        assert said[1] >= SURE - 0.01


def test_neither_audit_items_nor_desks_nor_answers_come_in_a_group(desk):
    session = desk.session
    kept = {*session.next("anna", 4), *session.next("ben", 3)}
    seen = set()
    for _ in range(40):
        kept |= set(session.audits.window(session.ledger))
        group = desk.sure()
        if not group["items"]:
            break
        nodes = {each["item"] for each in group["items"]}
        assert not nodes & kept
        assert not {session.ids[node] for node in nodes} & session.ledger.decided
        seen |= nodes
        confirm(desk, group)
        assert session.live.settle()
    assert len(seen) > 100


def test_a_confirmed_group_is_one_line_and_one_undo(desk):
    before, n_lines = dict(desk.session.ledger.labels), len(lines(desk))
    group = desk.sure()
    answer = confirm(desk, group)
    given = len(group["items"])
    assert answer["labels"] == len(before) + given
    assert len(lines(desk)) == n_lines + 1
    line = lines(desk)[-1]
    assert (line["do"], line["label"], len(line["ids"])) == ("confirm", group["label"], given)
    assert desk.history("anna")["entries"][0]["items"] == given
    desk.session.record({"do": "undo"}, "anna")
    assert desk.session.ledger.labels == before


def test_group_answers_are_no_audit_and_not_blind(desk):
    audit = audited(desk.session.ledger)
    group = desk.sure()
    confirm(desk, group)
    given = [desk.session.ledger.labels[each["id"]] for each in group["items"]]
    assert {each.role for each in given} == {"chosen"}
    assert not any(each.is_blind for each in given)
    assert audited(desk.session.ledger) == audit


def test_what_was_rejected_gets_no_label_and_is_not_in_a_group_of_that_class_again(
    desk, open_session
):
    group = desk.sure()
    wrong = [each["item"] for each in group["items"]][:3]
    confirm(desk, group, wrong)
    names = {desk.session.ids[node] for node in wrong}
    assert not names & set(desk.session.ledger.labels)
    assert set(lines(desk)[-1]["declined"]) == names

    def offered(desk):
        found = set()
        while (group := desk.sure())["items"]:
            found |= {(each["item"], group["label"]) for each in group["items"]}
            confirm(desk, group)
            assert desk.session.live.settle()
        return found

    desk.session.close()
    again = open_session()
    assert not {(node, group["label"]) for node in wrong} & offered(again)


def test_a_group_that_is_rejected_whole_is_not_offered_again(desk):
    group = desk.sure()
    nodes = [each["item"] for each in group["items"]]
    before = dict(desk.session.ledger.labels)
    confirm(desk, group, nodes)
    assert desk.session.ledger.labels == before
    assert lines(desk)[-1]["ids"] == []
    assert not set(nodes) & {each["item"] for each in desk.sure()["items"]}
    desk.session.record({"do": "undo"}, "anna")
    assert {each["item"] for each in desk.sure()["items"]} & set(nodes)


def test_an_answer_after_a_rejected_guess_is_not_blind(desk):
    group = desk.sure()
    node = group["items"][0]["item"]
    confirm(desk, group, [node])
    desk.record({"do": "label", "item": node, "label": "a", "chosen": True}, "anna")
    assert lines(desk)[-1]["in_sight"] is True


def test_there_is_no_group_before_an_opinion_nor_in_a_closing_audit(open_session):
    desk = open_session()
    assert desk.sure() == {"label": None, "items": [], "sure": 0}
    work(desk, 25)
    assert desk.sure()["items"]
    desk.session.record({"do": "finish", "n": 5}, "anna")
    assert desk.sure()["items"] == []
    with pytest.raises(InputError, match="one by one"):
        desk.record({"do": "confirm", "items": [1], "label": "a"}, "anna")


def test_an_answer_meanwhile_is_not_overwritten(desk):
    group = desk.sure()
    node = group["items"][0]["item"]
    other = next(each for each in "abc" if each != group["label"])
    desk.record({"do": "label", "item": node, "label": other, "chosen": True}, "ben")
    confirm(desk, group)
    assert desk.session.ledger.labels[desk.session.ids[node]].label == other


def test_a_damaged_line_is_one_sentence(desk, open_session):
    desk.session.close()
    with desk.session.journal.path.open("a") as journal:
        line = {"event": "e", "do": "confirm", "ids": [], "label": "a", "declined": "n1"}
        journal.write(json.dumps(line) + "\n")
    with pytest.raises(DataError, match="must be an event"):
        open_session()


def test_the_nearest_to_the_surest_of_the_class_make_a_group():
    certainty = np.array([250, 254, 252, 254, 251, 254])
    codes = np.array([0, 1, 1, 1, 0, 1])
    near = np.array([0.9, 1.0, 0.2, 0.8, 0.9, 0.1])
    code, nodes = surest_group(np.arange(6), codes, certainty, lambda node, others: near[others], 3)
    assert code == 1
    assert nodes.tolist() == [1, 3, 2]
    code, nodes = surest_group(np.array([], int), codes, certainty, lambda node, others: near)
    assert code is None
    assert len(nodes) == 0
