"""Several people: an address each, items that two of them answer, how far they agree."""

import pytest

from gpgc.labelling.finding import Wanted
from tests.labelling.conftest import work
from tests.labelling.test_server import TOKEN, Client

NEEDS = "the page's server needs the extra label"
token_of = pytest.importorskip("gpgc.labelling.guard", reason=NEEDS).token_of


def until_second(desk, by, most=40):
    """Label until a person is asked what another one answered; return that item."""
    session = desk.session
    for _ in range(most):
        node = session.next(by, 1)[0]
        if session.is_second(node, by):
            return node
        session.record({"do": "label", "item": node, "label": desk.truth[node]}, by)
        assert session.live.settle()
    raise AssertionError("no item was asked twice")


def test_a_shared_item_is_asked_of_a_second_person_who_knows_no_answer(open_session):
    desk = open_session(overlap=1.0)
    work(desk, 12, "anna")
    session = desk.session
    node = until_second(desk, "ben")
    name = session.ids[node]
    first = session.ledger.labels[name]
    assert (first.role, first.by) == ("audit", "anna")
    assert desk.item(node, "ben")["label"] is None
    assert desk.item(node, "anna")["label"] == first.label
    assert node not in [each["item"] for each in desk.history("ben")["entries"]]
    assert desk.near(node, shows=True)["guess"] is None
    assert {each["label"] for each in desk.search(Wanted(text=name))["found"]} >= {None}
    colours = desk.colours()
    assert tuple(colours[2 * node : 2 * node + 2]) == (255, 0)

    other = "b" if first.label == "a" else "a"
    session.record({"do": "label", "item": node, "label": other, "was": None}, "ben")
    assert session.ledger.records[-1]["do"] == "second"
    assert session.ledger.labels[name].label == first.label  # the first one counts
    assert session.ledger.conflicts[name].by == "ben"
    assert session.review()[0][0]["why"] == "conflict"
    assert node not in session.next("ben", 1)
    found = session.estimate()["people"]
    assert (found["both"], found["same"]) == (1, 0)
    assert {each["name"] for each in found["rows"]} == {"anna", "ben"}
    session.record({"do": "undo"}, "ben")
    assert name not in session.ledger.conflicts
    assert session.ledger.labels[name] == first


def test_agreement_has_an_exact_interval_and_a_skipped_second_is_none(open_session):
    desk = open_session(overlap=1.0)
    work(desk, 16, "anna")
    session = desk.session
    for step in range(3):
        node = until_second(desk, "ben")
        do = {"do": "skip"} if step == 0 else {"do": "label", "label": desk.truth[node]}
        session.record({**do, "item": node}, "ben")
        assert session.live.settle()
    found = session.estimate()["people"]
    assert (found["both"], found["same"]) == (2, 2)
    assert found["low"] == pytest.approx(0.025**0.5)
    assert found["high"] == 1
    assert session.ledger.conflicts == {}
    counted, opined = next(each for each in found["rows"] if each["name"] == "anna")["model"]
    assert 0 < counted <= opined
    closing = session.record({"do": "finish", "n": 2}, "anna")
    assert closing["phase"] == "closing"
    assert session.wants_second("ben") == []


def test_nothing_is_asked_twice_of_one_person_or_without_overlap(open_session):
    desk = open_session()
    work(desk, 12, "anna")
    work(desk, 12, "ben")
    assert desk.session.ledger.seconds == {}
    assert [each["do"] for each in desk.session.ledger.records] == ["label"] * 24


def test_a_link_says_who_answers_and_no_other_name_is_taken(open_session):
    import threading

    from gpgc.labelling.server import Server

    desk = open_session()
    server = Server(desk, token=TOKEN, people=["anna", "ben"])
    threading.Thread(target=server.run, daemon=True).start()
    client = Client(server.port)
    anna, ben = (token_of(TOKEN, name) for name in ("anna", "ben"))
    assert list(server.urls) == ["anna", "ben"]
    assert anna in server.urls["anna"]
    assert TOKEN not in "".join(server.urls.values())
    for _ in range(200):
        try:
            assert client.ask("/api/session", token=anna).status == 200
            break
        except OSError:
            continue
    assert client.ask("/api/session").status == 401  # the secret that theirs are made of
    assert client.ask(f"/?token={ben}", token="").getheader("location") == "/?by=ben"
    event = {"do": "label", "item": 5, "label": "a", "by": "anna"}
    assert client.post(event, token=ben).status == 200
    assert desk.session.ledger.labels["n5"].by == "ben"
    server.stop()


def test_other_machines_are_answered_where_that_is_asked_for(open_session):
    import socket
    import threading

    from gpgc.labelling.server import Server

    server = Server(open_session(), token=TOKEN, host="0.0.0.0")
    threading.Thread(target=server.run, daemon=True).start()
    client = Client(server.port)
    name = socket.gethostname()
    assert server.urls[""].startswith(f"http://{name}:")
    for host, status in ((name, 200), ("10.1.2.3", 200), ("evil.test", 400)):
        answered = client.ask("/api/session", host=f"{host}:{server.port}")
        assert answered.status == status, host
    assert client.ask("/api/session", host="10.1.2.3:1").status == 400
    server.stop()
