"""When a session goes on after a limit."""

import time

import pytest

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.hours import end_of_quiet, parse_hours
from perpetualcc.domain.limits import IN_VAIN, LimitWindow, RateLimitInfo
from perpetualcc.sessions.resume_policy import BACK_OFF, PATIENCE, plan_resume
from perpetualcc.sessions.settings import LimitSettings, SessionSettings

NOW = 1_800_000_000.0


def plan(window=LimitWindow.FIVE_HOUR, *, resets_at=None, is_exact=True, model="", **more):
    settings = LimitSettings(**more.pop("settings", {}))
    info = RateLimitInfo(window=window, resets_at=resets_at, is_exact=is_exact, model=model)
    return plan_resume(info, settings, now=NOW, **({"in_a_row": 1} | more))


def test_a_typed_reset_is_waited_for_to_the_second_and_a_text_to_the_minute():
    assert plan(resets_at=NOW + 500).due == NOW + 501
    assert plan(resets_at=NOW + 500, is_exact=False).due == NOW + 560


@pytest.mark.parametrize("resets_at", [None, NOW - 1, NOW - 1e6])
def test_an_unknown_or_past_reset_is_waited_for_with_growing_patience(resets_at):
    waits = [plan(resets_at=resets_at, in_a_row=n).due - NOW for n in range(1, 8)]

    expected = [step.total_seconds() for step in PATIENCE]
    assert waits == [*expected, expected[-1], expected[-1]]


@pytest.mark.parametrize("window", [LimitWindow.OVERLOAD, LimitWindow.UNREACHABLE])
def test_a_hiccup_is_a_short_back_off_and_nobody_is_asked(window):
    found = [plan(window, in_a_row=n, asks=True) for n in range(1, 9)]

    steps = [step.total_seconds() for step in BACK_OFF]
    assert [one.due - NOW for one in found] == [*steps, steps[-1], steps[-1]]
    assert not any(one.asks for one in found)


def test_a_hiccup_that_is_none_is_said_once():
    reasons = [plan(LimitWindow.UNREACHABLE, in_a_row=n).reason for n in range(1, 30)]

    assert [reason for reason in reasons if reason] == [IN_VAIN]


@pytest.mark.parametrize(
    ("window", "waits"), [(LimitWindow.OVERLOAD, False), (LimitWindow.FIVE_HOUR, True)]
)
def test_quiet_hours_do_not_make_a_night_of_a_hiccup(window, waits):
    always = {"quiet_hours": "00:00-23:59"}

    assert (plan(window, resets_at=NOW + 60, settings=always).due > NOW + 3600) == waits


def test_a_models_own_limit_is_escaped_only_when_the_policy_names_another_model():
    until = NOW + 3600

    assert plan(LimitWindow.MODEL, resets_at=until, model="opus").due == until + 1
    policy = {"fallback_model": "sonnet"}
    escaped = plan(LimitWindow.MODEL, resets_at=until, model="opus", settings=policy)
    assert (escaped.due, escaped.model) == (NOW, "sonnet")
    # It is the fallback itself that is used up, or a window that no model escapes.
    assert plan(LimitWindow.MODEL, resets_at=until, model="sonnet", settings=policy).model == ""
    assert plan(LimitWindow.SEVEN_DAY, resets_at=until, settings=policy).model == ""


def local(clock: str) -> float:
    return time.mktime(time.strptime(f"2026-11-21 {clock}", "%Y-%m-%d %H:%M"))


def test_nothing_resumes_in_quiet_hours():
    night, morning, evening = (local(clock) for clock in ("03:00", "07:00", "23:30"))
    hours = parse_hours("23:00-07:00")

    assert end_of_quiet(night, hours) == morning
    assert end_of_quiet(evening, hours) == morning + 86400
    assert end_of_quiet(morning, hours) is None
    assert end_of_quiet(night, parse_hours("")) is None


@pytest.mark.parametrize("text", ["25:00-07:00", "23-7", "23:00", "a:bc-d:ef", "-1:00-02:00"])
def test_quiet_hours_that_are_none_are_refused(text):
    with pytest.raises(PerpetualError, match="span of local time"):
        LimitSettings(quiet_hours=text)


@pytest.mark.parametrize(
    "settings", [{"warn_at": 0.0}, {"warn_at": 1.1}, {"resume_tokens": -1}, {"stagger_seconds": -1}]
)
def test_absurd_numbers_are_refused(settings):
    with pytest.raises(PerpetualError):
        LimitSettings(**settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"max_concurrent": 0},
        {"history_days": 10**10},
        {"checkpoint_retention_days": -1},
        {"checkpoint_retention_days": 10**10},
    ],
)
def test_absurd_numbers_of_sessions_are_refused(settings):
    with pytest.raises(PerpetualError, match="sessions"):
        SessionSettings(**settings)
