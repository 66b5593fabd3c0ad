"""
What is a limit, which one, and until when. The texts are Claude Code's own (CLAUDE_CODE.md).

    typed event        first
    synthetic error    second
    ordinary text      never: nothing here can even be given one
"""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.agent.inbox import LimitReported, TroubleReported
from perpetualcc.domain.limits import LimitWindow
from perpetualcc.sessions.rate_limit import LONGEST_WAIT, RateLimitMonitor
from perpetualcc.sessions.reset_times import reset_time
from tests.fakes.clock import FakeClock

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 8, 8, 14, 0, tzinfo=BERLIN)  # a Saturday
W = LimitWindow


def berlin(*when: int) -> float:
    return datetime(*when, tzinfo=BERLIN).timestamp()


def utc(*when: int) -> float:
    return datetime(*when, tzinfo=UTC).timestamp()


TEXTS = [
    ("You've hit your session limit · resets 3:45pm", W.FIVE_HOUR, berlin(2026, 8, 8, 15, 45)),
    ("You've hit your weekly limit · resets Mon 12:00am", W.SEVEN_DAY, berlin(2026, 8, 10)),
    (
        "You've hit your weekly limit · resets Aug 14 at 8pm (America/Chicago)",
        W.SEVEN_DAY,
        utc(2026, 8, 15, 1),
    ),
    ("You've hit your Opus limit · resets 3:45pm", W.MODEL, berlin(2026, 8, 8, 15, 45)),
    (
        "You're out of extra usage · resets 11:30am (Asia/Colombo)",
        W.SPEND,
        utc(2026, 8, 9, 6),
    ),
    (f"Claude AI usage limit reached|{1786199400}", W.FIVE_HOUR, 1786199400.0),
    ("5-hour limit reached ∙ resets 3pm", W.FIVE_HOUR, berlin(2026, 8, 8, 15)),
    (
        "You have reached your limit. You will regain access on 2026-09-01 at 00:00 UTC",
        W.SPEND,
        utc(2026, 9, 1),
    ),
    ("spend limit reached (daily; resets 2026-08-09 00:00 UTC)", W.SPEND, utc(2026, 8, 9)),
    ("You've hit your 5-hour limit · resets 8:30pm (UTC)", W.FIVE_HOUR, None),
    ("You've hit your 5-hour limit · resets 4:30pm (UTC)", W.FIVE_HOUR, utc(2026, 8, 8, 16, 30)),
    ("API Error: Request rejected (429) · Number of request tokens is exceeded", W.RATE, None),
    ("API Error: Request rejected (429) · try again in 2h 15m", W.RATE, utc(2026, 8, 8, 14, 15)),
]


def monitor(now: datetime = NOW, **more) -> RateLimitMonitor:
    return RateLimitMonitor(FakeClock(now.timestamp()), zone=BERLIN, **more)


def trouble(text: str, kind: str = "rate_limit") -> TroubleReported:
    return TroubleReported(kind=kind, text=text)


@pytest.mark.parametrize(("text", "window", "at"), TEXTS)
def test_every_known_text_names_its_window_and_its_reset(text, window, at):
    found = monitor().detect(None, trouble(text))

    assert (found.window, found.resets_at) == (window, at)


@pytest.mark.parametrize(("text", "window", "at"), TEXTS)
def test_the_same_text_inside_an_api_error_means_the_same(text, window, at):
    found = monitor().detect(None, trouble(f"API Error: Request rejected (429) · {text}"))

    assert (found.window, found.resets_at) == (window, at)


@pytest.mark.parametrize("kind", ["billing_error", "rate_limit", "unknown"])
def test_an_empty_credit_balance_is_no_wait(kind):
    assert monitor().detect(None, trouble("Credit balance is too low", kind)) is None


@pytest.mark.parametrize(
    ("kind", "text", "window"),
    [
        (
            "rate_limit",
            "Server is temporarily limiting requests (not your usage limit)",
            "overload",
        ),
        ("server_error", "API Error: 529 Overloaded. This is a server-side issue", "overload"),
        ("overloaded", "", "overload"),
        ("server_error", "API Error: Connection dropped (ECONNRESET). Check", "unreachable"),
        ("server_error", "API Error: 500 Internal server error", "overload"),
        ("server_error", "API Error: Server error mid-response. The response", "overload"),
        ("unknown", "API Error: 520 Login", "overload"),
        ("unknown", "API Error: 407 Login", "unreachable"),
        ("unknown", "API Error: API returned an empty or malformed response (HTTP", "unreachable"),
        ("unknown", "API Error: 418 I'm a teapot", None),
        ("authentication_failed", "Please run /login", None),
        ("invalid_request", "prompt is too long", None),
        ("invalid_request", "API Error: 400 You've hit your weekly limit, says the file", None),
        ("invalid_request", "API Error: 400 '429 rate limit' is not allowed here", None),
        ("unknown", "API Error: 400 the text '429 rate limit' is not allowed here", None),
        ("invalid_request", "API Error: 400 You will regain access on 2026-09-01", "spend"),
    ],
)
def test_what_is_nobodys_limit_is_told_apart(kind, text, window):
    found = monitor().detect(None, trouble(text, kind))

    assert (found and found.window.value) == window


def typed(**fields) -> LimitReported:
    given = {"status": "rejected", "window": "five_hour", "resets_at": NOW.timestamp() + 60}
    return LimitReported(**(given | fields))


def test_a_typed_event_wins_over_the_text_and_is_exact():
    found = monitor().detect(typed(), trouble("You've hit your weekly limit · resets Mon 12:00am"))

    assert (found.window, found.resets_at, found.is_exact) == (
        W.FIVE_HOUR,
        NOW.timestamp() + 60,
        True,
    )


@pytest.mark.parametrize(
    ("name", "window", "model"),
    [
        ("five_hour", W.FIVE_HOUR, ""),
        ("seven_day", W.SEVEN_DAY, ""),
        ("seven_day_opus", W.MODEL, "opus"),
        ("seven_day_sonnet", W.MODEL, "sonnet"),
        ("overage", W.SPEND, ""),
        ("something_new", W.FIVE_HOUR, ""),
    ],
)
def test_typed_windows(name, window, model):
    found = monitor().detect(typed(window=name), None)

    assert (found.window, found.model) == (window, model)


@pytest.mark.parametrize("status", ["allowed", "allowed_warning"])
def test_an_event_that_lets_the_request_through_is_no_limit(status):
    assert monitor().detect(typed(status=status, utilization=0.99), None) is None


def test_paid_credits_are_used_only_when_they_are_allowed():
    on_credits = typed(status="allowed", is_overage=True)

    assert monitor().detect(on_credits, None) is not None
    assert monitor(overage_allowed=True).detect(on_credits, None) is None


@pytest.mark.parametrize(
    ("status", "used", "warns"),
    [
        ("allowed", 0.84, False),
        ("allowed", 0.85, True),
        ("allowed_warning", 0.5, False),
        ("allowed_warning", None, True),
        ("allowed", None, False),
    ],
)
def test_a_person_is_warned_from_85_percent_on(status, used, warns):
    assert monitor().approaches(typed(status=status, utilization=used)) is warns


@pytest.mark.parametrize("window", ["five_hour", "seven_day", "seven_day_opus", "overage"])
def test_a_reset_years_ahead_is_not_believed_and_milliseconds_are_understood(window):
    ahead = NOW.timestamp() + 3 * 365 * 86400

    assert monitor().detect(typed(window=window, resets_at=ahead), None).resets_at is None
    soon = NOW.timestamp() + 3600
    assert monitor().detect(typed(window=window, resets_at=soon * 1000), None).resets_at == soon


def test_a_reset_in_the_past_is_told_as_it_is():
    assert monitor().detect(typed(resets_at=NOW.timestamp() - 10), None).resets_at < NOW.timestamp()


@pytest.mark.parametrize(
    ("now", "text", "at"),
    [
        # Just past means just past, not in a day: the message took its time to arrive.
        ((2026, 8, 8, 15, 2), "resets 3pm", (2026, 8, 8, 15, 0)),
        ((2026, 8, 8, 15, 30), "resets 3pm", (2026, 8, 9, 15, 0)),
        ((2026, 8, 8, 23, 50), "resets 12:05am", (2026, 8, 9, 0, 5)),
        ((2026, 8, 9, 0, 3), "resets 11:55pm", (2026, 8, 8, 23, 55)),
        ((2026, 8, 8, 9, 0), "resets tomorrow at 7am", (2026, 8, 9, 7, 0)),
        # A year's end, and a month that is over.
        ((2026, 12, 31, 9, 0), "resets Jan 2 at 8am", (2027, 1, 2, 8, 0)),
        ((2026, 12, 31, 9, 0), "resets Jan 2, 2027, 8am", (2027, 1, 2, 8, 0)),
        # Weekdays: today's counts while it is ahead.
        ((2026, 8, 8, 9, 0), "resets Sat 10:00am", (2026, 8, 8, 10, 0)),
        ((2026, 8, 8, 11, 0), "resets Sat 10:00am", (2026, 8, 15, 10, 0)),
        # Summer time ends on 25 October 2026 at 3:00 and begins on 28 March 2027 at 2:00.
        ((2026, 10, 24, 22, 0), "resets 2:30am", (2026, 10, 25, 2, 30)),
        ((2027, 3, 27, 22, 0), "resets 3:30am", (2027, 3, 28, 3, 30)),
        ((2026, 10, 24, 12, 0), "resets Mon 12:00am", (2026, 10, 26, 0, 0)),
    ],
)
def test_ambiguous_times_become_the_earliest_that_is_ahead(now, text, at):
    assert reset_time(text, berlin(*now), BERLIN) == berlin(*at)


@pytest.mark.parametrize(
    "text",
    [
        "resets 27:00",
        "resets 13pm",
        "resets Feb 31 at 8pm",
        "resets 2026-13-40 00:00",
        "",
        "resets 3",
    ],
)
def test_nonsense_is_no_time(text):
    assert reset_time(text, NOW.timestamp(), BERLIN) is None


def test_an_unknown_zone_means_local_time():
    at = reset_time("resets 3:45pm (Mars/Olympus)", NOW.timestamp(), BERLIN)

    assert at == berlin(2026, 8, 8, 15, 45)


@given(st.text(max_size=300), st.sampled_from(["rate_limit", "unknown", "server_error", "x"]))
def test_any_text_is_survived_and_no_reset_is_absurd(text, kind):
    found = monitor().detect(None, trouble(text, kind))

    if found is not None and found.resets_at is not None:
        longest = LONGEST_WAIT[found.window].total_seconds()
        assert found.resets_at <= NOW.timestamp() + longest


@given(
    st.integers(0, 23),
    st.integers(0, 59),
    st.integers(1_767_225_600, 1_893_456_000),
    st.sampled_from(
        ["Europe/Berlin", "Asia/Colombo", "America/Chicago", "UTC", "Australia/Lord_Howe"]
    ),
)
def test_a_time_of_day_comes_back_within_a_day(hour, minute, now, name):
    zone = ZoneInfo(name)
    now = datetime.fromtimestamp(now, zone)
    half, twelve = ("pm" if hour >= 12 else "am"), hour % 12 or 12
    at = reset_time(f"resets {twelve}:{minute:02}{half} ({name})", now.timestamp())

    # An hour of room: a day may have 25 hours.
    assert now.timestamp() - 15 * 60 <= at <= now.timestamp() + 25 * 3600
    read = datetime.fromtimestamp(at, zone)
    # In the gap of a spring night the clock shows another hour.
    assert (read.hour, read.minute) == (hour, minute) or read.utcoffset() != now.utcoffset()
