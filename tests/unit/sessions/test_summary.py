"""What a finished session came to, in words."""

from dataclasses import replace

import pytest

from perpetualcc.domain.tasks import Lane, Task, TaskState
from perpetualcc.sessions.summary import completion_summary


def done(number: int, began: float, ended: float) -> Task:
    return Task(
        id=f"t-{number}", group="abc123", prompt=f"Task {number}", priority=0, after=(), due=0.0,
        lane=Lane.INTERACTIVE, state=TaskState.DONE, attempts=1, max_attempts=3, fence=1,
        payload={}, signal=None, answer=None, result="", packet=None, created_at=began,
        updated_at=ended,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("spans", "said"),
    [
        ([(0, 90)], "1 task done in 1m 30s"),
        ([(0, 10), (1_000, 1_010)], "2 tasks done in 20s"),
        ([(0, 30), (0, 60), (50, 70)], "3 tasks done in 1m 10s"),
        ([(100, 100)], "1 task done in 0s"),
    ],
)
def test_only_the_time_in_which_there_was_work_counts(spans, said):
    tasks = [done(number, *span) for number, span in enumerate(spans)]

    assert completion_summary(tasks).splitlines()[0] == said


@pytest.mark.parametrize(
    ("others", "said"),
    [(0, "0 of 1 task done, 1 given up in 5s"), (2, "2 of 3 tasks done, 1 given up in 5s")],
)
def test_what_was_given_up_is_said_beside_what_was_done(others, said):
    given_up = replace(done(9, 0, 5), state=TaskState.CANCELLED)

    tasks = [given_up, *(done(number, 0, 5) for number in range(others))]

    assert completion_summary(tasks).splitlines()[0] == said


def test_of_a_long_life_what_ended_last_is_told():
    tasks = [done(number, 0, 100 - number) for number in range(50)]

    _, before, *lines = completion_summary(tasks).splitlines()

    assert before == "… 30 before, and then"
    assert lines == [f"✓ Task {number}" for number in range(19, -1, -1)]
