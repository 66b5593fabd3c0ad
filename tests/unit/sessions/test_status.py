"""
What a session's status may become, enumerated: x it may, . it is that already, - it may not.

                 IDLE  PROCESSING  WAITING  LIMITED  PAUSED  COMPLETED  STOPPED  ERROR
IDLE              .        x          x        x        x        x         x       x
PROCESSING        x        .          x        x        x        x         x       x
WAITING_INPUT     x        x          .        x        x        x         x       x
RATE_LIMITED      x        x          x        .        x        x         x       x
PAUSED            x        -          x        -        .        x         x       x
COMPLETED         x        -          -        -        -        .         -       -
STOPPED           -        -          -        -        -        -         .       -
ERROR             x        -          x        -        -        -         x       .
"""

import itertools

import pytest

from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.tasks import TaskState
from perpetualcc.sessions.status import (
    TRANSITIONS,
    Standing,
    StatusError,
    check_transition,
    standing_after,
)

_S = SessionStatus
_TABLE = {
    SessionStatus(line.split()[0]): dict(zip(_S, line.split()[1:], strict=True))
    for line in __doc__.strip().splitlines()[3:]
}


@pytest.mark.parametrize(("before", "after"), list(itertools.product(_S, repeat=2)))
def test_only_what_the_table_says_may_follow(before: SessionStatus, after: SessionStatus) -> None:
    mark = _TABLE[before][after]

    assert mark == "." or (after in TRANSITIONS[before]) == (mark == "x")
    if mark == "-":
        with pytest.raises(StatusError, match=r"cannot (become|go on)") as caught:
            check_transition("mine", before, after)
        assert caught.value.hint
        assert "{session}" not in caught.value.hint
    else:
        check_transition("mine", before, after)


def test_what_stopped_for_an_error_is_said_to_have() -> None:
    with pytest.raises(StatusError, match="'mine' has stopped for an error and cannot become"):
        check_transition("mine", _S.ERROR, _S.PAUSED)


def test_the_command_that_is_named_works_for_a_name_of_two_words() -> None:
    with pytest.raises(StatusError) as caught:
        check_transition("night shift", _S.COMPLETED, _S.STOPPED)

    assert caught.value.hint.endswith("""pcc add 'night shift' "…\"""")


@pytest.mark.parametrize("status", TRANSITIONS)
def test_whatever_works_can_be_stopped(status: SessionStatus) -> None:
    ended = {_S.COMPLETED, _S.STOPPED}

    assert (_S.STOPPED in TRANSITIONS[status]) == (status not in ended)


@pytest.mark.parametrize(
    ("state", "due", "limited", "left", "standing"),
    [
        (TaskState.DONE, None, False, 0, Standing(status=_S.COMPLETED)),
        (TaskState.DONE, None, False, 2, Standing(status=_S.IDLE)),
        (TaskState.CANCELLED, None, False, 0, Standing(status=_S.COMPLETED)),
        (TaskState.CANCELLED, None, False, 1, Standing(status=_S.IDLE)),
        (TaskState.QUEUED, None, False, 1, Standing(status=_S.IDLE)),
        (TaskState.FAILED, None, False, 3, Standing(status=_S.IDLE)),
        (TaskState.PARKED, None, False, 3, Standing(status=_S.IDLE)),
        (TaskState.WAITING, None, False, 1, Standing(status=_S.WAITING_INPUT, detail="why")),
        (
            TaskState.WAITING,
            50.0,
            True,
            1,
            Standing(status=_S.RATE_LIMITED, detail="why", resumes_at=50.0),
        ),
        (
            TaskState.WAITING,
            50.0,
            False,
            1,
            Standing(status=_S.IDLE, detail="will try again: why", resumes_at=50.0),
        ),
    ],
)
def test_a_session_stands_where_its_task_left_it(
    state: TaskState, due: float | None, limited: bool, left: int, standing: Standing
) -> None:
    assert standing_after(state, due=due, result="why", limited=limited, left=left) == standing


@pytest.mark.parametrize("state", [TaskState.PARKED, TaskState.FAILED, TaskState.DONE])
@pytest.mark.parametrize("left", [0, 3])
def test_where_nothing_goes_on_without_a_person_the_session_says_why(state, left):
    standing = standing_after(
        state, due=None, result="fine", limited=False, left=left, stuck="a sign-in"
    )

    assert standing == Standing(status=_S.ERROR, detail="a sign-in", held=True)


@pytest.mark.parametrize("state", TaskState)
@pytest.mark.parametrize("limited", [True, False])
@pytest.mark.parametrize("due", [None, 50.0])
@pytest.mark.parametrize("left", [0, 1])
def test_every_end_of_a_dispatch_has_a_standing_that_may_follow_work(
    state: TaskState, limited: bool, due: float | None, left: int
) -> None:
    after = standing_after(state, due=due, result="", limited=limited, left=left)

    check_transition("mine", SessionStatus.PROCESSING, after.status)
