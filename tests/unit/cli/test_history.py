"""A long past: read in pages, passed over when one looks at a session, never what waits."""

from typing import Any

import pytest

from perpetualcc.cli.history import last_events, refuse_broken
from perpetualcc.cli.options import GlobalOptions
from perpetualcc.cli.stream import Ending, Watcher
from perpetualcc.daemon.views import newest_that_fit
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.gateway.client import ConnectionLost
from perpetualcc.gateway.protocol import SUBSCRIPTION_FAILED, PushedEvent


class Daemon:
    """An engine whose pages hold three events."""

    def __init__(self, events: int, waiting: list[dict[str, Any]] | None = None) -> None:
        self.numbers = list(range(11, 11 + events))
        self.waiting = waiting or []

    def call(self, method: str, **params: Any) -> Any:
        if method == "escalation.list":
            return self.waiting
        if method == "escalation.get":
            return next(one for one in self.waiting if one["number"] == params["number"])
        if method == "session.get":
            return {"status": "COMPLETED", "project": "/shop"}
        before = params.get("before") or 10**9
        found = [n for n in self.numbers if n < before]
        return [{"seq": n} for n in found[-min(3, params["count"]) :]]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 9, 10, 11, 50])
def test_pages_make_one_past_without_a_gap(count):
    daemon = Daemon(10)

    found = last_events(daemon, "abc", count)

    assert [event["seq"] for event in found] == daemon.numbers[-count:]


def test_an_empty_past_is_empty():
    assert last_events(Daemon(0), "abc", 5) == []


def watcher(daemon: Daemon, tail: int) -> Watcher:
    found = Watcher(GlobalOptions(), "abc", tail=tail)
    found._pass_over(daemon)
    return found


def test_a_short_past_is_shown_from_its_beginning(capsys):
    assert watcher(Daemon(4), 4)._since == 0
    assert capsys.readouterr().out == ""


def test_watching_a_session_whose_events_were_removed_ends_with_its_status(capsys):
    daemon = Daemon(0)
    daemon.next_event = lambda _timeout: None  # a wait instead would need a real connection

    seen = watcher(daemon, 4)

    assert seen._follow(daemon) is Ending.FINISHED
    assert "sessions.history_days" in capsys.readouterr().err


def test_a_long_past_is_passed_over_but_not_what_waits_for_a_person(capsys):
    question = {"number": 7, "type": "question", "title": "Which?"}
    review = {"number": 8, "type": "review", "title": "Seen?"}

    seen = watcher(Daemon(9, [question, review]), 4)

    assert seen._since == 15, "the next event is the fourth from the end"
    assert list(seen._waiting) == [7]
    assert seen._passed_ending is Ending.FINISHED, "its end may be among what was passed over"
    assert "the last 4 events" in capsys.readouterr().out


def test_an_answer_holds_what_fits_the_newest_first():
    small = [{"seq": n} for n in range(5)]
    large = {"seq": 5, "text": "x" * 2_000_000}

    assert newest_that_fit(small) == small
    assert newest_that_fit([]) == []
    assert newest_that_fit([*small, large]) == [large]
    assert newest_that_fit([large, *small]) == small
    many = [{"seq": n, "text": "x" * 1000} for n in range(2000)]
    assert newest_that_fit(many) == many[-len(newest_that_fit(many)) :]
    assert 900 < len(newest_that_fit(many)) < 1000


def test_a_subscription_that_broke_is_an_error_with_a_hint():
    refuse_broken(PushedEvent(event="TextSaid", data={}))
    with pytest.raises(PerpetualError, match="cannot show"):
        refuse_broken(PushedEvent(event=SUBSCRIPTION_FAILED, data=None))


class Dying(Daemon):
    """It goes away with whatever it is told."""

    def call(self, method: str, **params: Any) -> Any:
        raise ConnectionLost


def test_an_answer_that_went_away_with_the_daemon_is_asked_for_again():
    question = {"number": 7, "type": "question", "title": "Which?"}
    seen = watcher(Daemon(9, [question]), 4)

    with pytest.raises(ConnectionLost):
        seen._answer(Dying(0), "Blue\n")

    assert list(seen._waiting) == [7]
    assert not seen._waiting[7].given


def test_a_stop_that_went_away_with_the_daemon_is_asked_for_again():
    seen = watcher(Daemon(9), 4)
    seen._is_stopping = True

    with pytest.raises(ConnectionLost):
        seen._take(Dying(0), "y\n")

    assert seen._is_stopping
