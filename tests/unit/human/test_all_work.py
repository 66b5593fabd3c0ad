"""When people hear that nothing runs any more, and when another message has said it."""

import pytest

from perpetualcc.domain.times import sent_moment
from perpetualcc.human.all_work import AllWork, Standing, Stands, left_of, told_of_all
from perpetualcc.human.notifications.message import Next, Who
from perpetualcc.human.notifications.outbox import Kind
from perpetualcc.human.notifications.settings import NotificationSettings

SETTINGS = NotificationSettings()
MONDAY = 1_795_996_800.0


def standing(name="a", why=Stands.PERSON, **more):
    return Standing(who=Who(id=name, whole=f"api: {name} é"), why=why, **more)


def work(*found, **more):
    usual = {"goes_on": False, "alone": False, "turn": 7}
    return AllWork(standing=found, **{**usual, **more})


def test_it_counts_what_stands_and_names_each():
    message = told_of_all(
        work(
            standing("a"),
            standing("b", failed=True),
            standing("c", Stands.BUDGET, until=MONDAY),
            standing("d", Stands.PAUSED),
            standing("e", Stands.REVIEW),
        ),
        SETTINGS,
    )

    assert message is not None
    assert message.kind is Kind.STANDSTILL
    title, body = message.brief
    assert title.startswith(
        "PerpetualCC: nothing runs any more (2 wait for you, 1 is out of budget"
    )
    assert title.endswith(", 1 waits for your review, 1 is paused)")
    first, *others = body.splitlines()
    assert first.startswith("Nothing runs any more: 2 wait for you, 1 is out of budget until ")
    assert others[0] == "a waits for you"
    assert others[-1] == "See: pcc pending"
    assert "é" not in body
    assert "api: a é (a) waits for you" in message.named[1]


def test_thousands_that_stand_are_counted():
    message = told_of_all(work(*(standing(f"s{n}") for n in range(3000))), SETTINGS)

    assert message is not None
    assert "3000 wait for you" in message.brief[0]
    assert "and 2,992 sessions more: pcc list" in message.brief[1]
    assert len(message.full[1]) < 1000


@pytest.mark.parametrize(
    ("settings", "found", "is_told"),
    [
        ({}, work(standing(), goes_on=True), False),
        ({}, work(standing("b")), True),
        ({}, work(standing(), alone=True), False),
        ({}, work(standing()), True),
        ({"on_question": False}, work(standing(), alone=True), True),
        ({"on_error": False}, work(standing(), alone=True), False),
        ({"on_error": False}, work(standing(failed=True), alone=True), True),
        ({"on_rate_limit": False}, work(standing(why=Stands.LIMIT), alone=True), True),
        ({}, work(standing(why=Stands.LIMIT), alone=True), False),
        ({}, work(standing("b", Stands.PAUSED)), False),
        ({}, work(), False),
        ({"on_complete": False}, work(), True),
        # A session that is done says itself that nothing else runs.
        ({}, work(standing(why=Stands.LATER)), False),
        ({"on_complete": False}, work(standing(why=Stands.LATER)), True),
        ({}, work(standing(why=Stands.LATER), alone=True, begins_later=True), True),
        ({}, work(standing(), standing("b", Stands.LATER)), True),
        ({}, work(standing("a", Stands.PAUSED), standing("b", Stands.LATER)), True),
        ({"on_standstill": False}, work(standing("b")), False),
    ],
)
def test_it_is_told_where_no_other_message_has_said_it(settings, found, is_told):
    assert (told_of_all(found, NotificationSettings(**settings)) is not None) is is_told


NEXT_LINE = f"Next: b begins {sent_moment(MONDAY)}"
NEXT = Next(who=Who(id="b", whole="api: b é"), how="begins", at=MONDAY)


def test_what_begins_later_is_counted_and_the_first_of_it_named():
    message = told_of_all(
        work(standing(), *(standing(name, Stands.LATER) for name in "bc"), next=NEXT), SETTINGS
    )

    assert message is not None
    title, body = message.brief
    assert title == "PerpetualCC: nothing runs any more (1 waits for you, 2 begin later)"
    assert body.splitlines() == [
        "Nothing runs any more: 1 waits for you, 2 begin later",
        "a waits for you",
        NEXT_LINE,
        "See: pcc pending",
    ]
    assert "Next: api: b é (b) begins" in message.named[1]


@pytest.mark.parametrize(
    ("found", "left"),
    [
        (work(), "Nothing else runs: all work is done."),
        (work(goes_on=True), ""),
        (work(standing()), ""),
        (
            work(standing("b", Stands.LATER), next=NEXT),
            f"Nothing else runs.\n{NEXT_LINE}",
        ),
        (
            work(next=NEXT),
            f"Nothing else runs: all work is done.\n{NEXT_LINE}",
        ),
    ],
)
def test_a_session_that_is_done_says_what_is_left_of_all_work(found, left):
    assert left_of(found) == left
