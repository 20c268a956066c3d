"""The state is a fold over the journal's lines."""

import pytest

from gpgc.errors import DataError
from gpgc.labelling.ledger import Ledger, check_record, replay


def line(event, do="label", name="n1", label="a", by="anna", **more):
    return {"event": event, "do": do, "id": name, "label": label, "by": by, **more}


def undo(event, undone, by="anna"):
    return {"event": event, "do": "undo", "undone": undone, "by": by}


def test_labels_corrections_and_skips():
    ledger = replay(
        Ledger(("a", "b")),
        [
            line("1", role="audit"),
            line("2", "correct", label="b"),
            line("3", "skip", "n2", None, role="suggested"),
            line("4", "class", label="c"),
        ],
    )
    assert ledger.labels["n1"].label == "b"
    assert ledger.labels["n1"].role == "audit"
    assert ledger.skipped == {"n2": "suggested"}
    assert ledger.classes == ("a", "b", "c")
    assert ledger.decided == {"n1", "n2"}


def test_undo_and_redo_are_further_lines():
    ledger = Ledger(("a", "b"))
    for record in (line("1"), line("2", name="n2"), line("3", "correct", "n1", "b")):
        ledger = ledger.after(record)
    assert ledger.undoable("anna") == "3"
    ledger = ledger.after(undo("4", "3"))
    assert ledger.labels["n1"].label == "a"
    ledger = ledger.after(undo("5", ledger.undoable("anna")))
    assert list(ledger.labels) == ["n1"]
    assert ledger.redoable("anna") == "5"
    ledger = ledger.after(undo("6", ledger.redoable("anna")))
    assert list(ledger.labels) == ["n1", "n2"]
    ledger = ledger.after(undo("7", ledger.redoable("anna")))
    assert ledger.labels["n1"].label == "b"
    assert ledger.redoable("anna") is None
    assert replay(Ledger(("a", "b")), ledger.records).labels == ledger.labels


def test_a_new_decision_ends_what_can_be_redone():
    ledger = Ledger().after(line("1")).after(undo("2", "1"))
    assert ledger.redoable("anna") == "2"
    assert ledger.after(line("3", name="n9")).redoable("anna") is None


def test_everybody_undoes_their_own():
    ledger = Ledger().after(line("1", by="anna")).after(line("2", name="n2", by="ben"))
    assert ledger.undoable("anna") == "1"
    assert ledger.undoable("ben") == "2"
    assert ledger.undoable("eve") is None


@pytest.mark.parametrize(
    "record",
    [
        {"do": "label"},
        {"event": "1", "do": "dance"},
        {"event": "1", "do": "label", "id": 5, "label": "a"},
        {"event": "1", "do": "undo"},
        line("1", role="boss"),
    ],
)
def test_a_foreign_line_is_refused(record):
    with pytest.raises(DataError, match="line 7 must be an event"):
        check_record(record, "labels.jsonl line 7")
