"""A goal: what is left to it, the audit rate that follows it, and the certificate at its end."""

import json

import pytest

from gpgc.errors import InputError
from gpgc.labelling.estimate import audits_needed
from gpgc.labelling.export import export
from gpgc.labelling.ledger import Goal
from gpgc.probability.fraction import exact_interval
from tests.labelling.conftest import work


@pytest.mark.parametrize("goal", [Goal(0.95, 0.03), Goal(0.9, 0.05), Goal(0.8, 0.1)])
def test_so_many_random_items_prove_a_goal_and_one_less_does_not(goal):
    n = audits_needed(goal)
    halves = []
    for size in (n, n - 1):
        found = exact_interval(round(size * goal.accuracy), size)
        halves.append((found.high - found.low) / 2)
    assert halves[0] <= goal.within < halves[1]


@pytest.mark.parametrize("text", ["", "95 ± 3 ± 2", "x", "95 ± 0", "0", "120"])
def test_what_is_no_goal_is_refused(text):
    with pytest.raises(InputError, match="goal"):
        Goal.parse(text)


def test_a_goal_is_a_line_that_undoes_and_stays_after_a_restart(open_session):
    desk = open_session()
    desk.record({"do": "goal", "accuracy": 0.9, "within": 0.05}, "anna")
    assert desk.estimate()["goal"]["audits"] == [0, audits_needed(Goal(0.9, 0.05))]
    desk.record({"do": "goal", "accuracy": 0.8, "within": 0.1}, "anna")
    desk.record({"do": "undo"}, "anna")
    desk.session.close()
    again = open_session()
    assert again.session.ledger.goal == Goal(0.9, 0.05)
    again.record({"do": "goal", "accuracy": None}, "anna")
    assert again.estimate()["goal"] is None


def test_once_the_estimate_is_there_every_second_item_is_random(open_session):
    desk = open_session(goal="60 ± 5")
    work(desk, 60)
    roles = [given.role for given in desk.session.ledger.labels.values()]
    assert roles[:20].count("audit") <= 6
    assert 14 <= roles[30:].count("audit") <= 16


def test_what_cannot_be_reached_is_not_said_to_be_near(open_session):
    desk = open_session(goal="100 ± 1")
    work(desk, 40)
    found = desk.estimate()["goal"]
    assert not found["is_reached"]
    assert found["items"] is None or found["items"] > 100


def test_a_certificate_says_number_interval_classes_people_time_and_seed(open_session):
    desk = open_session(goal="70 ± 20")
    with pytest.raises(InputError, match="needs a closing audit"):
        export(desk.session, "certificate.json")
    work(desk, 20)
    desk.record({"do": "finish", "n": 15}, "anna")
    for _ in range(15):
        (node,) = desk.session.next("ben", 1)
        desk.session.record({"do": "label", "item": node, "label": desk.truth[node]}, "ben")
    found = json.loads(export(desk.session, "certificate.json"))
    measured = found["measured"]
    running = measured["running"]
    assert (measured["fresh"], measured["answered"]) == (15, 15 + running)
    exact = exact_interval(measured["right"], measured["answered"])
    assert (measured["low"], measured["high"]) == (exact.low, exact.high)
    assert sum(each["answered"] for each in found["by_class"]) == measured["answered"]
    assert found["by"] == {"anna": 20, "ben": 15}
    assert found["seed"] == 0
    assert found["from"] < found["to"]
    page = export(desk.session, "certificate.html").decode()
    assert f"{measured['right']} of {measured['answered']}" in page
    assert "anna (20), ben (15)" in page
