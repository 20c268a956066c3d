"""Progress: nothing for short work, one line elsewhere, a line that is redrawn in a terminal."""

import io
import threading

import numpy as np
import pytest

from gpgc import GPGCClassifier
from gpgc.compute import Threads
from gpgc.compute import progress as module
from gpgc.compute.progress import Meter, progress, tracked


class Stream(io.StringIO):
    """A stream that tells when it is written to."""

    def __init__(self, is_terminal=False):
        super().__init__()
        self.is_terminal, self.written = is_terminal, threading.Event()

    def isatty(self):
        return self.is_terminal

    def flush(self):
        self.written.set()


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(module, "DELAY", 0.0)
    monkeypatch.setattr(module, "REDRAW", 0.001)


def test_short_work_says_nothing():
    stream = Stream()
    with progress("labelling", stream=stream):
        Threads(2).map(abs, range(10))
    assert stream.getvalue() == ""


def test_one_line_where_nobody_watches(at_once):
    stream = Stream()
    with progress("labelling", stream=stream):
        stream.written.wait(300)
    assert stream.getvalue() == "gpgc: labelling: 0 s so far\n"


def test_the_line_in_a_terminal_disappears(at_once):
    stream = Stream(is_terminal=True)
    with progress("labelling", stream=stream):
        stream.written.wait(300)
    assert stream.getvalue().startswith("\rlabelling")
    assert stream.getvalue().endswith("\r\x1b[K")
    assert "\n" not in stream.getvalue()


@pytest.mark.parametrize("runner", [Threads(1), Threads(2)])
def test_runners_count_their_pieces(runner):
    with progress("labelling", stream=Stream()) as meter:
        lines = runner.map(lambda _: meter.line(), range(4))
    assert "%" in lines[-1]
    assert "left in this step" in lines[-1]


def test_the_outer_loop_counts_alone():
    lines = []
    with progress("evaluating", stream=Stream()) as meter:
        for _ in tracked(range(4)):
            Threads(2).map(abs, range(3))
            lines.append(meter.line())
    assert [line.split(":")[1].split(",")[0] for line in lines[1:]] == [" 25 %", " 50 %", " 75 %"]
    assert not lines[-1].endswith("in this step")


def test_within_another_progress_nothing_more_is_shown(at_once):
    inner = Stream()
    with progress("outer", stream=Stream()) as meter, progress("inner", stream=inner) as same:
        assert same is meter
    assert inner.getvalue() == ""


def test_verbose_estimators_show_what_they_do(at_once, capsys, two_moons):
    features, labels, _ = two_moons
    GPGCClassifier(verbose=True).fit(features, labels)
    assert capsys.readouterr().err.startswith("gpgc: fitting")
    GPGCClassifier().fit(features, labels)
    assert capsys.readouterr().err == ""


def test_verbose_changes_no_answer(two_moons):
    features, labels, _ = two_moons
    loud = GPGCClassifier(verbose=True).fit(features, labels).predict_proba()
    assert np.array_equal(loud, GPGCClassifier().fit(features, labels).predict_proba())


def test_an_interrupt_ends_the_work_of_all_threads():
    done = []

    def piece(index):
        done.append(index)
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Threads(2).map(piece, range(100_000))
    assert len(done) < 100_000


def test_times_are_in_units_that_suit():
    times = iter([0.0, 100.0, 100.0])
    meter = Meter("labelling", lambda: next(times))
    meter.done(1, 3)
    meter.announce("means")
    assert meter.line() == "labelling, means: 33 %, about 3 min left"


def test_nothing_is_shown_within_silence(monkeypatch):
    monkeypatch.setattr(module, "DELAY", 0)
    stream, before = io.StringIO(), set(threading.enumerate())
    with module.silent(), module.progress("work", stream=stream):
        assert set(threading.enumerate()) <= before  # there is no thread that draws
    assert stream.getvalue() == ""
