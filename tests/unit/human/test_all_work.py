"""When people hear that nothing runs any more, and when another message has said it."""

import pytest

from perpetualcc.human.all_work import AllWork, Standing, Stands, told_of_all
from perpetualcc.human.notifications.message import Who
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
        ),
        SETTINGS,
    )

    assert message is not None
    assert message.kind is Kind.STANDSTILL
    title, body = message.brief
    assert title.startswith(
        "PerpetualCC: nothing runs any more (2 wait for you, 1 is out of budget"
    )
    assert title.endswith(", 1 is paused)")
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
        ({"on_standstill": False}, work(standing("b")), False),
    ],
)
def test_it_is_told_where_no_other_message_has_said_it(settings, found, is_told):
    assert (told_of_all(found, NotificationSettings(**settings)) is not None) is is_told
