"""What a task that repeats leaves behind, and what becomes of a time that passed."""

import pytest

from perpetualcc.deferred.repeat import Repeated, repeated
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.tasks import Lane, Task, TaskState

HOUR = 3600.0
DUE = 1_790_000_000.0


def task(every="1 hour", missed="once", due=DUE, **payload):
    return Task(
        id=TaskId("t-1"),
        group="abc123",
        prompt="Update the dependencies",
        priority=3,
        after=(),
        due=due,
        lane=Lane.CRON,
        state=TaskState.QUEUED,
        attempts=0,
        max_attempts=2,
        fence=0,
        payload={"every": every, "missed": missed, **payload},
        signal=None,
        answer=None,
        result="",
        packet=None,
        created_at=DUE - HOUR,
        updated_at=DUE - HOUR,
    )


def test_the_next_time_is_the_same_task_later():
    left = repeated(task(), DUE + 1)

    following = left.following
    assert following.id != "t-1"
    assert following.due == DUE + HOUR
    assert (following.group, following.prompt, following.priority) == (
        *("abc123", "Update the dependencies", 3),
    )
    assert (following.lane, following.max_attempts) == (Lane.CRON, 2)
    assert following.payload == {"every": "1 hour", "missed": "once"}
    assert (left.passed, left.missed) == (0, "")


@pytest.mark.parametrize(
    ("missed", "late", "begins", "hours_ahead", "passed"),
    [
        ("once", 0.0, True, 1, 0),
        ("once", 10.5, True, 11, 10),
        ("all", 10.5, True, 1, 0),
        ("skip", 0.05, True, 1, 0),
        ("skip", 0.5, False, 1, 0),
        ("skip", 10.5, False, 11, 10),
        ("2h", 1.5, True, 2, 1),
        ("2h", 2.5, True, 3, 2),
        ("skip", 2.05, True, 3, 2),
        ("30m", 2.4, True, 3, 2),
        ("30m", 2.6, False, 3, 2),
    ],
)
def test_what_becomes_of_a_time_that_passed(missed, late, begins, hours_ahead, passed):
    left = repeated(task(missed=missed), DUE + late * HOUR)

    assert (left.missed == "") is begins
    assert left.following.due == DUE + hours_ahead * HOUR
    assert left.passed == passed


def test_a_minute_that_was_missed_for_years_is_found_at_once_and_ahead():
    left = repeated(task(every="1 minute"), DUE + 3 * 365 * 24 * HOUR)

    assert left.following.due > DUE + 3 * 365 * 24 * HOUR
    assert left.passed >= 1_000


@pytest.mark.parametrize("every", ["", "whenever the moon is full", 17, "0 0 30 2 *"])
def test_a_rule_that_is_none_of_ours_repeats_nothing_and_stops_nobody(every):
    assert repeated(task(every=every), DUE) is None


def test_what_is_missed_is_told_with_the_time():
    left = repeated(task(missed="skip"), DUE + 2.5 * HOUR)

    assert "could not for 2h 30m" in left.missed
    added, missed = left.events(task())
    assert (added.kind, added.task) == ("TaskAdded", left.following.id)
    assert (missed.kind, missed.task, missed.state) == ("TaskSettled", "t-1", "missed")


@pytest.mark.parametrize(
    "rule", [Repeated("never"), Repeated("hour", "perhaps"), Repeated("hour", "")]
)
def test_a_rule_is_checked_before_it_is_kept(rule):
    with pytest.raises(PerpetualError):
        rule.check()
