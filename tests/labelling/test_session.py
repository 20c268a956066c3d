"""A session without a browser: journal, items, roles, estimate, exports."""

import csv
import io
import json

import numpy as np
import pytest

from gpgc.errors import DataError, InputError
from gpgc.estimators import GPGCClassifier
from gpgc.estimators.predictions import PREDICTION_COLUMNS, prediction_rows
from gpgc.labelling.desks import Desks
from gpgc.labelling.estimate import audited_accuracy, is_audit
from gpgc.labelling.events import UnknownClassError
from gpgc.labelling.export import export, to_csv
from gpgc.probability.fraction import exact_interval
from tests.labelling.conftest import made_up, work


def lines(desk):
    return [json.loads(each) for each in desk.session.journal.path.read_text().splitlines()]


def test_every_answer_is_a_line_of_the_journal_first(open_session):
    desk = open_session()
    work(desk, 12)
    header, *events = lines(desk)
    assert header["gpgc"] == "labels"
    assert header["nodes"] == 300
    assert [line["do"] for line in events] == ["label"] * 12
    assert {line["by"] for line in events} == {"anna"}
    assert len({line["id"] for line in events}) == 12


def test_the_same_command_goes_on(open_session):
    desk = open_session()
    work(desk, 8)
    before = dict(desk.session.ledger.labels)
    desk.session.close()
    again = open_session()
    assert again.session.ledger.labels == before
    assert again.session.next("anna", 1)[0] not in [again.session.index[name] for name in before]


def test_a_repeated_event_is_answered_but_not_written_again(open_session):
    desk = open_session()
    (node,) = desk.session.next("anna", 1)
    event = {"event": "twice", "do": "label", "item": node, "label": "a"}
    assert desk.session.record(event, "anna")["saved"]
    assert desk.session.record(event, "anna")["saved"]
    assert len(lines(desk)) == 2


def test_a_torn_last_line_is_forgotten(open_session):
    desk = open_session()
    work(desk, 3)
    desk.session.close()
    path = desk.session.journal.path
    path.write_bytes(path.read_bytes() + b'{"event": "half')
    again = open_session()
    assert len(again.session.ledger.labels) == 3
    work(again, 1)
    assert len(lines(again)) == 5


def test_other_data_are_refused(open_session):
    desk = open_session()
    work(desk, 1)
    desk.session.close()
    with pytest.raises(DataError, match="journal of these 200 nodes, got one of other data"):
        open_session(n_nodes=200)


def test_a_second_session_on_the_same_journal_is_refused(open_session):
    open_session()
    with pytest.raises(InputError, match="is open in another gpgc label"):
        open_session()


def test_a_file_of_another_kind_is_refused(open_session, tmp_path):
    path = tmp_path / "other.jsonl"
    path.write_text('{"key": {}, "measured": {}}\n')
    with pytest.raises(DataError, match="must be a journal of labels"):
        open_session(journal=path)


def test_undo_brings_the_item_back_and_the_model_forgets(open_session):
    desk = open_session()
    work(desk, 6)
    session = desk.session
    last = session.ledger.entries[-1]
    session.record({"do": "undo"}, "anna")
    assert session.next("anna", 1)[0] == session.index[last.id]
    assert last.id not in session.ledger.labels
    session.record({"do": "redo"}, "anna")
    assert last.id in session.ledger.labels
    assert session.next("anna", 1)[0] != session.index[last.id]
    assert session.record({"do": "undo"}, "nobody")["labels"] == 6


def test_undone_redone_and_corrected_labels_equal_a_fresh_session(open_session, tmp_path):
    desk = open_session()
    work(desk, 20)
    session = desk.session
    for _ in range(5):
        session.record({"do": "undo"}, "anna")
    for _ in range(2):
        session.record({"do": "redo"}, "anna")
    node = session.index[session.ledger.entries[3].id]
    session.record({"do": "correct", "item": node, "label": "c"}, "anna")
    assert session.ledger.labels[session.ids[node]].label == "c"
    assert len(session.ledger.labels) == 17
    assert session.live.settle()
    given = {name: each.label for name, each in session.ledger.labels.items()}
    fresh = open_session(journal=tmp_path / "fresh.jsonl", imported=given)
    one, other = (export(each.session, "predictions.csv") for each in (desk, fresh))
    assert one == other
    learnt = session.ledger.with_role("suggested")
    assert 0 < len(learnt) < 17
    alike = open_session(journal=tmp_path / "alike.jsonl", imported=learnt)
    one, other = (each.session.live.labelling for each in (desk, alike))
    assert one.labels == other.labels == {session.index[n]: each for n, each in learnt.items()}
    for live in (one, other):
        live.refresh()
    order = [other.classes.index(name) for name in one.classes]
    np.testing.assert_allclose(one.predict_proba(), other.predict_proba()[:, order], atol=1e-6)


def test_exports_are_a_fresh_fit_to_the_last_byte(open_session):
    """Though they are computed in a thread beside the live model, from covariances it began."""
    desk = open_session()
    work(desk, 20)
    given = desk.session.ledger.labels
    y = [given[name].label if name in given else None for name in desk.session.ids]
    fresh = GPGCClassifier().fit(desk.source.features, y)
    rows = to_csv(PREDICTION_COLUMNS, prediction_rows(desk.session.ids, fresh))
    assert export(desk.session, "predictions.csv") == rows


def read(content):
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_skipped_items_never_come_again_and_there_is_always_a_next_one(open_session):
    desk = open_session()
    seen = []
    for _ in range(30):
        (node,) = desk.session.next("anna", 1)
        seen.append(node)
        desk.session.record({"do": "skip", "item": node, "note": "unsure"}, "anna")
    assert len(set(seen)) == 30
    assert desk.session.next("anna", 1)[0] not in seen


def test_the_desk_stays_until_it_is_answered(open_session):
    desk = open_session()
    two = desk.session.next("anna", 2)
    assert desk.session.next("anna", 2) == two
    assert not set(desk.session.next("ben", 2)) & set(two)
    desk.session.record({"do": "label", "item": two[0], "label": "a"}, "anna")
    assert desk.session.next("anna", 2)[0] == two[1]


def test_items_of_somebody_who_went_away_are_free_again():
    now = [0.0]
    desks = Desks(lambda: now[0])
    desks.put("anna", 7)
    now[0] = 500.0
    assert desks.of("anna") == (7,)
    now[0] = 1000.0
    assert desks.of("ben") == ()
    assert not desks.hold(7)


def test_audit_items_are_kept_out_of_the_model_until_the_end(open_session):
    desk = open_session()
    session = desk.session
    for _ in range(25):
        work(desk, 1)
        audit = {session.index[name] for name in session.ledger.with_role("audit")}
        assert not audit & set(session.live.labelling.labels)
    assert len(audit) == 5
    order = [node for node in session.audits.order if node in audit]
    assert order == [session.index[name] for name in session.ledger.with_role("audit")]
    rows = read(export(session, "labels.csv"))
    assert {row["role"] for row in rows} == {"suggested", "audit"}
    given = [row for row in read(export(session, "predictions.csv")) if row["given"] == "1"]
    assert len(given) == 25


def test_no_estimate_before_five_audit_items(open_session):
    desk = open_session()
    while len(desk.session.ledger.with_role("audit")) < 4:
        work(desk, 1)
        assert desk.session.estimate()["interval"] is None
    while len(desk.session.ledger.with_role("audit")) < 5:
        work(desk, 1)
    found = desk.session.estimate()
    assert 0 < found["interval"]["low"] < found["interval"]["high"] <= 1
    assert sum(each["audited"] for each in found["per_class"]) == 5
    assert desk.session.curve[-1]["interval"] is not None


def test_why_an_item_is_shown_is_never_told(open_session):
    desk = open_session()
    work(desk, 10)
    answers = [desk.settings(), desk.next("anna"), desk.estimate(), desk.history("anna")]
    answers += [desk.near(3), desk.item(3), desk.record({"do": "undo"}, "anna")]
    text = json.dumps(answers)
    assert '"role"' not in text
    assert "suggested" not in text


def test_the_closing_audit_ends_in_the_exact_interval(open_session):
    desk = open_session()
    session = desk.session
    work(desk, 20)
    session.record({"do": "finish", "n": 30}, "anna")
    closing = session.ledger.closing
    assert len(closing) == 30
    assert not set(closing) & session.ledger.labels.keys()
    for step in range(30):
        (node,) = session.next("anna", 1)
        do = {"do": "skip"} if step == 4 else {"do": "label", "label": desk.truth[node]}
        session.record({**do, "item": node}, "anna")
    assert session.ledger.phase == "closed"
    found = session.certificate.wait()
    running = sum(given.role == "audit" for given in session.ledger.labels.values())
    assert running >= 4
    assert (found["answered"], found["skipped"], found["of"]) == (29 + running, 1, 30 + running)
    exact = exact_interval(found["right"], 29 + running)
    assert (found["low"], found["high"]) == (exact.low, exact.high)
    assert session.next("anna", 1) == []
    desk.session.close()
    again = open_session().session
    assert again.certificate.wait() == found
    again.record({"do": "continue"}, "anna")
    assert again.ledger.phase == "labelling"
    assert again.live.settle()
    closed = [again.index[name] for name in closing if name in again.ledger.labels]
    assert set(closed) <= set(again.live.labelling.labels)
    assert len(again.next("anna", 1)) == 1


def test_a_new_class_gets_a_key(open_session):
    desk = open_session(classes=())
    assert desk.classes() == []
    for name in ("spam", "ham", *map(str, range(10))):
        desk.session.record({"do": "class", "label": name}, "anna")
    keys = [each["key"] for each in desk.classes()]
    assert keys == [*"1234567890", "⇧1", "⇧2"]


def test_keys_stay_when_classes_come(open_session):
    desk = open_session(classes=tuple("0123456789"))
    before = [each["key"] for each in desk.classes()]
    assert before == list("0123456789")
    for number in range(12):
        desk.session.record({"do": "class", "label": f"more {number}"}, "anna")
    keys = [each["key"] for each in desk.classes()]
    assert keys[:10] == before
    assert keys[10:] == [f"⇧{digit}" for digit in "1234567890"] + ["", ""]


def test_a_new_class_gets_a_colour_on_the_map(open_session):
    desk = open_session()
    work(desk, 9)
    desk.session.record({"do": "class", "label": "d"}, "anna")
    for node in desk.session.next("anna", 4):
        desk.session.record({"do": "label", "item": node, "label": "d"}, "anna")
    assert desk.session.live.settle()
    codes, certainty = np.frombuffer(desk.colours(), dtype=np.uint8).reshape(-1, 2).T
    given = [desk.session.index[n] for n, g in desk.session.ledger.labels.items() if g.label == "d"]
    assert len(given) == 4
    assert (codes[given] == 3).all()
    assert (certainty[given] == 255).all()
    assert (codes[np.setdiff1d(np.arange(300), given)] == 3).any()


def test_imported_labels_are_taken_over_once(open_session):
    known = {"n3": "a", "n7": "b", "n9": "c"}
    desk = open_session(imported=known)
    assert {n: g.label for n, g in desk.session.ledger.labels.items()} == known
    desk.session.close()
    assert len(lines(open_session(imported=known))) == 4


@pytest.mark.parametrize(
    ("event", "error"),
    [
        ({"do": "label", "item": 3, "label": "elephant"}, UnknownClassError),
        ({"do": "label", "item": 300, "label": "a"}, InputError),
        ({"do": "label", "item": True, "label": "a"}, InputError),
        ({"do": "label", "item": "../3", "label": "a"}, InputError),
        ({"do": "label", "label": "a"}, InputError),
        ({"do": "class", "label": "  "}, InputError),
        ({"do": "class", "label": "x" * 201}, InputError),
        ({"do": "class", "label": "a\nb"}, InputError),
        ({"do": "finish", "n": -1}, InputError),
        ({"do": "rm"}, InputError),
        ({}, InputError),
    ],
)
def test_wrong_events_change_nothing(open_session, event, error):
    desk = open_session(settle=False)
    with pytest.raises(error):
        desk.session.record(event, "anna")
    assert len(lines(desk)) == 1


def test_a_random_item_is_shown_before_the_model_is_there(tmp_path, monkeypatch):
    import threading

    from gpgc.labelling.session import Session

    monkeypatch.setattr("gpgc.labelling.session.WAIT", 0.05)
    waits = threading.Event()
    session = Session("abcdef", lambda nodes: waits.wait(), tmp_path / "labels.jsonl", "xy")
    session.start()
    assert session.next("anna", 1) == session.audits.window(session.ledger)[:1]
    waits.set()
    session.close()


def test_chosen_items_count_as_chosen(open_session):
    desk = open_session()
    on_desk = desk.session.next("anna", 2)
    node = next(node for node in range(300) if node not in on_desk)
    desk.session.record({"do": "label", "item": node, "label": "a", "chosen": True}, "anna")
    assert desk.session.ledger.labels[f"n{node}"].role == "chosen"


def test_a_sample_of_a_large_graph_is_enough(open_session, monkeypatch):
    import gpgc.labelling.label as label

    monkeypatch.setattr(label, "CANDIDATES", 40)
    monkeypatch.setattr("gpgc.labelling.planning.EXACT_NODES", 50)
    monkeypatch.setattr("gpgc.labelling.planning.N_WITNESSES", 30)
    monkeypatch.setattr("gpgc.labelling.session.LIVE_NODES", 100)
    monkeypatch.setattr("gpgc.labelling.session.KEPT_NODES", 20)
    desk = open_session()
    work(desk, 30)
    session = desk.session
    opinion = session.live.opinion
    assert opinion.nodes is not None
    assert len(opinion.nodes) < 300
    assert session.live.settle()
    right = [opinion.of(node) is not None for node in range(300)]
    assert all(right)
    assert desk.session.estimate()["interval"] is not None
    assert len(desk.colours()) == 600


def test_audit_items_cannot_be_guessed():
    turns = [is_audit(position, seed=3) for position in range(150)]
    gaps = np.diff(np.flatnonzero(turns))
    assert len(set(gaps)) > 2
    assert turns != [is_audit(position, seed=4) for position in range(150)]


def test_intervals():
    assert audited_accuracy(4, 4, 0.9) is None
    narrow, wide = audited_accuracy(90, 100, 0.9), audited_accuracy(9, 10, 0.9)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert exact_interval(0, 30).low == 0.0
    assert exact_interval(30, 30).high == 1.0


@pytest.mark.slow
def test_the_interval_holds_the_truth(open_session, tmp_path):
    from gpgc.labelling.items import as_items
    from gpgc.labelling.label import open_desk
    from gpgc.labelling.sources import Source

    inside = []
    for seed in range(100):
        truth, X = made_up(400, 4, 0.8, seed)
        ids = [f"n{node}" for node in range(400)]
        source = Source("made up", ids, as_items(None, ids, X), X)
        desk = open_desk(source, tmp_path / f"{seed}.jsonl", "abcd", seed=seed)
        desk.truth = ["abcd"[code] for code in truth]
        work(desk, 60)
        left = [node for node, name in enumerate(ids) if name not in desk.session.ledger.labels]
        opinion = desk.session.live.opinion
        accuracy = np.mean([opinion.of(node)[0] == desk.truth[node] for node in left])
        found = desk.session.estimate()["interval"]
        inside.append(found["low"] <= accuracy <= found["high"])
        desk.session.close()
    assert np.mean(inside) >= 0.9
