"""Suggestions from outside: shown, accepted, measured, never learnt from by themselves."""

import json

import pytest

from gpgc.errors import InputError
from gpgc.labelling.guesses import Guesses, read_guesses
from gpgc.problem.roles import RANDOM_ROLES
from tests.labelling.conftest import made_up, work

TRUTH = ["abc"[code] for code in made_up()[0]]


@pytest.fixture
def desk(open_session):
    """Return a desk with guesses that are wrong on every third node."""
    labels = {
        f"n{node}": "abc"[("abc".index(c) + (node % 3 == 0)) % 3] for node, c in enumerate(TRUTH)
    }
    return open_session(guesses=Guesses("llm", labels, {"n1": 0.7}))


def test_guesses_are_shown_but_teach_nothing(desk):
    assert desk.settings()["source"] == "llm"
    assert desk.session.ledger.labels == {}
    assert desk.session.live.labelling.labels == {}
    shown = [desk.item(node).get("suggestion") for node in range(300)]
    assert 0.8 < sum(each is not None for each in shown) / 300 < 0.95
    assert next(each for each in [shown[1], ("b", 0.7)] if each)[1] == 0.7


def test_random_items_are_answered_without_and_tell_how_often_the_source_is_right(desk):
    work(desk, 60)
    lines = [json.loads(each) for each in desk.session.journal.path.read_text().splitlines()][1:]
    answers = [each for each in lines if each["do"] == "label"]
    assert not [each for each in answers if each["role"] in RANDOM_ROLES and "proposed" in each]
    shown = [each for each in answers if "proposed" in each]
    assert len(shown) > 30
    assert {each["source"] for each in shown} == {"llm"}
    found = desk.estimate()["source"]
    blind = [each["id"] for each in answers if each["role"] in RANDOM_ROLES]
    guesses = desk.session.guesses.labels
    right = sum(guesses[name] == desk.session.ledger.labels[name].label for name in blind)
    assert (found["right"], found["of"]) == (right, len(blind))
    assert found["low"] < 2 / 3 < found["high"]


def test_items_without_a_guess_are_not_the_random_ones_alone(desk):
    withheld = [node for node in range(300) if "suggestion" not in desk.item(node)]
    assert len(set(withheld) - set(desk.session.audits.window(desk.session.ledger))) >= 25


def test_a_file_of_guesses(tmp_path):
    path = tmp_path / "rules.csv"
    path.write_text("id,label,score\na,spam,0.9\nb,ham,\nc,,\n")
    found = read_guesses(path, ["a", "b", "c"])
    assert (found.name, found.labels) == ("rules", {"a": "spam", "b": "ham"})
    assert found.scores == {"a": 0.9}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,label\nz,spam\n", "line 2: a guess for 'z', which is no item"),
        ("id,label\na,spam\na,ham\n", "line 3: 'a' has a second guess"),
        ("id,label,score\na,spam,90\n", "line 2: expected a score from 0 to 1, got '90'"),
        ("id,label\na,\n", "expected at least one guess, got none"),
    ],
)
def test_a_damaged_file_is_one_sentence(tmp_path, text, said):
    (tmp_path / "rules.csv").write_text(text)
    with pytest.raises(InputError, match=said):
        read_guesses(tmp_path / "rules.csv", ["a", "b"])
