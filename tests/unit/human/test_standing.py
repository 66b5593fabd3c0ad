"""A channel that fails at every try for an hour is told of where people look."""

from datetime import timedelta

import pytest

from perpetualcc.human.notifications.outbox import Kind, NewNotice, Notice, NoticeState
from perpetualcc.human.notifications.standing import address_of, standstills

NOON = 1_800_000_000.0
FAILING, GIVEN_UP, SENT, MOOT = (
    NoticeState.QUEUED,
    NoticeState.FAILED,
    NoticeState.SENT,
    NoticeState.MOOT,
)


def tried(at, state=FAILING, *, attempts=1, problem="no route", channel="json:x", created=None):
    """`at` are minutes after noon."""
    what = NewNotice(cause="event:1", channel=channel, kind=Kind.TEST, title="T", body="B")
    return Notice(
        id=1, what=what, state=state, attempts=attempts, problem="" if state is SENT else problem,
        created_at=NOON + 60 * (at if created is None else created), due=None,
        started_at=NOON + 60 * at, ended_at=None,
    )  # fmt: skip


def found(*notices, at=180, addresses=("x",)):
    return standstills(notices, addresses, timedelta(seconds=30), NOON + 60 * at)


@pytest.mark.parametrize(
    ("notices", "tries"),
    [
        ([tried(0), tried(1), tried(2)], 3),
        ([tried(0), tried(1)], None),
        ([tried(0), tried(1), tried(2), tried(3, SENT)], None),
        ([tried(0, SENT), tried(1, GIVEN_UP), tried(2), tried(3)], 3),
        ([tried(121), tried(122), tried(123)], None),
        ([tried(170, attempts=15, created=0)], 15),
        ([tried(0, MOOT), tried(1), tried(2)], None),
        ([tried(170, attempts=15, created=0, channel="json:taken-away")], None),
        ([tried(170, attempts=15, created=0, channel="desktop")], None),
        (
            [
                tried(170, attempts=15, created=0, channel="unknown:x"),
                tried(171, SENT, channel="json:x"),
            ],
            None,
        ),
    ],
)
def test_it_is_told_after_an_hour_without_one_success(notices, tries):
    assert [one.tries for one in found(*notices)] == ([tries] if tries else [])


def test_the_hour_is_of_tries_and_not_of_waiting_for_the_end_of_the_night():
    night = tried(175, attempts=3, created=-500)

    assert found(night) == []
    assert found(tried(175, attempts=12, created=-500))[0].since == NOON + 60 * (175 - 105.5)


def test_what_it_fails_with_now_is_what_is_told():
    [one] = found(tried(0), tried(1, problem="refused"), tried(2, problem="no such host"))

    assert (one.channel, one.since, one.problem) == ("json:x", NOON, "no such host")


def test_an_address_is_the_same_before_and_after_its_variable_is_set():
    assert address_of("unknown:TEAM_HOOK") == address_of("slack:TEAM_HOOK") == "TEAM_HOOK"
    assert address_of("desktop") == ""
