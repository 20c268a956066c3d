"""Schedules are plain numbers."""

from dataclasses import asdict, replace

import pytest

from gpgc.errors import InputError
from gpgc_lab.image_networks import BRIEF, PAPER, Schedule


def test_the_papers_schedule():
    assert PAPER.steps == 120 * 400
    assert (PAPER.labelled_batch, PAPER.unlabelled_batch) == (32, 128)
    assert PAPER.adversarial_weight(0) == 1
    assert PAPER.side(0, full=32) == 32


@pytest.mark.parametrize("schedule", [PAPER, *BRIEF.values()])
def test_rate_ends_at_zero_and_weight_at_one(schedule):
    rates = [schedule.learning_rate_at(step) for step in range(0, schedule.steps + 1, 100)]
    assert rates == sorted(rates, reverse=True)
    assert schedule.learning_rate_at(0) == schedule.learning_rate
    assert schedule.learning_rate_at(schedule.steps) == 0
    assert schedule.adversarial_weight(schedule.steps - 1) == 1


@pytest.mark.parametrize("schedule", [PAPER, *BRIEF.values()])
def test_survives_its_dictionary_and_stretching(schedule):
    assert Schedule.from_dict(asdict(schedule)) == schedule
    assert schedule.with_steps(schedule.steps) == schedule
    assert schedule.with_steps(1).steps == 1
    half = schedule.with_steps(schedule.steps // 2)
    assert half.total_work() == pytest.approx(schedule.total_work() / 2, rel=0.01)


def test_work_counts_passes():
    schedule = Schedule(
        steps=4, warm_up=2, ramp=0, small=3, decay=1,
        warm_up_batch=8, labelled_batch=4, unlabelled_batch=6,
    )  # fmt: skip
    assert [schedule.work(step) for step in range(4)] == [2, 2, 5, 20]
    assert schedule.total_work(start=2) == 25


@pytest.mark.parametrize(
    "change",
    [
        {"steps": 0},
        {"warm_up": 1_000_000},
        {"epsilon": 0.0},
        {"zoom": 1.0},
        {"precision": "float16"},
        {"seed": -1},
    ],
)
def test_impossible_schedules_are_refused(change):
    with pytest.raises(InputError, match=next(iter(change))):
        replace(PAPER, **change)


def test_unknown_fields_are_refused():
    with pytest.raises(InputError, match="surprise"):
        Schedule.from_dict({**asdict(PAPER), "surprise": 1})
