"""
What a usage limit looks like, as Claude Code reports it.

Typed events first, the synthetic error messages of Claude Code second, ordinary text never:
source files and issues speak of limits too (CLAUDE_CODE.md). Nothing here asks the account.
"""

import re
from collections.abc import Mapping
from datetime import timedelta, tzinfo
from types import MappingProxyType
from typing import Protocol

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.limits import LimitWindow, RateLimitInfo, WindowUse
from perpetualcc.sessions.reset_times import normal_epoch, reset_time

_W = LimitWindow


class TypedLimit(Protocol):
    """`agent.inbox.LimitReported`: what Claude Code says in so many fields."""

    @property
    def status(self) -> str: ...
    @property
    def window(self) -> str: ...
    @property
    def resets_at(self) -> float | None: ...
    @property
    def utilization(self) -> float | None: ...
    @property
    def is_overage(self) -> bool: ...


class SyntheticError(Protocol):
    """`agent.inbox.TroubleReported`: what Claude Code says in a model's place."""

    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...


LONGEST_WAIT: Mapping[LimitWindow, timedelta] = MappingProxyType(
    {
        _W.FIVE_HOUR: timedelta(hours=6),
        _W.SEVEN_DAY: timedelta(days=8),
        _W.MODEL: timedelta(days=8),
        _W.SPEND: timedelta(days=32),
        _W.RATE: timedelta(days=1),
        _W.OVERLOAD: timedelta(hours=1),
        _W.UNREACHABLE: timedelta(hours=1),
    }
)
"""A window's length and some room. A reset further ahead is not believed."""

_TYPED = {
    "five_hour": _W.FIVE_HOUR,
    "seven_day": _W.SEVEN_DAY,
    "overage": _W.SPEND,
}
_MODEL_WINDOW = re.compile(r"seven_day_(?P<model>\w+)")

_NO_WAIT = re.compile(r"credit balance is too low", re.IGNORECASE)
_OVERLOADED = re.compile(
    r"temporarily limiting|not your usage limit|overloaded|\b529\b", re.IGNORECASE
)
_SPEND = re.compile(r"spend(?:ing)? limit|extra usage|usage credits|regain access", re.IGNORECASE)
_OF_MODEL = re.compile(r"\b(?P<model>opus|sonnet|haiku|fable)\b[\w .-]{0,20}\blimit", re.IGNORECASE)
_WEEKLY = re.compile(r"\bweekly\b|\b7-day\b|\bseven.day\b", re.IGNORECASE)
_SESSION = re.compile(r"\b5-hour\b|\bsession limit\b|\busage limit\b", re.IGNORECASE)
_REFUSED = re.compile(r"\(429\)|\brate.?limit", re.IGNORECASE)

# "API Error: Connection dropped (ECONNRESET)" and its kin, which come as `server_error`.
_NETWORK = re.compile(
    r"\bE(?:CONN\w+|NOTFOUND|AI_AGAIN|TIMEDOUT|HOSTUNREACH|NETUNREACH|PIPE)\b"
    r"|connection (?:error|dropped|refused|reset|closed)|unable to connect|network|timed? ?out",
    re.IGNORECASE,
)
_SERVER = "server_error"
_FAILS = re.compile(r"\AAPI Error: 5\d\d\b")
"""The same by the number, where Claude Code does not name the kind."""
_INTERCEPTED = re.compile(r"\AAPI Error: (?:407|511|API returned an empty or malformed)\b")
"""Something on the way answers in the API's place: a network's login page, a proxy."""
_NEVER_LIMITS = frozenset({"invalid_request", "authentication_failed", "model_not_found"})
"""Errors whose messages quote what was sent, and so whatever a file says of limits."""
_WRONG = re.compile(r"\AAPI Error: 4(?!07|29)\d\d\b")
"""The same by the number, which stands first: Claude Code does not name the kind of each."""
_REGAIN = re.compile(r"\byou will regain access on \d{4}-\d\d-\d\d\b", re.IGNORECASE)
"""The one limit that comes as a wrong request: an organization's own for the API."""


class RateLimitMonitor:
    """Tells limits from everything else that may go wrong."""

    def __init__(
        self,
        clock: Clock,
        *,
        warn_at: float = 0.85,
        overage_allowed: bool = False,
        zone: tzinfo | None = None,
    ) -> None:
        self._clock = clock
        self._warn_at = warn_at
        self._zone = zone
        self._overage_allowed = overage_allowed

    def detect(
        self, limit: TypedLimit | None, trouble: SyntheticError | None
    ) -> RateLimitInfo | None:
        """What stopped the run, when it was a limit. Never looks at what Claude said."""
        if trouble is not None and _NO_WAIT.search(trouble.text):
            return None
        if limit is not None and self._stops(limit):
            return self._typed(limit, trouble.text if trouble else "")
        return self._synthetic(trouble) if trouble is not None else None

    def approaches(self, limit: TypedLimit) -> bool:
        """Whether a person should hear of it: from 85 % of the window on (seed 000, Phase 4)."""
        if limit.utilization is None:
            return limit.status == "allowed_warning"
        return limit.utilization >= self._warn_at

    def _stops(self, limit: TypedLimit) -> bool:
        if limit.is_overage:
            return not self._overage_allowed
        return limit.status == "rejected"

    def _typed(self, limit: TypedLimit, text: str) -> RateLimitInfo:
        of_model = _MODEL_WINDOW.fullmatch(limit.window)
        window = _TYPED.get(limit.window) or (_W.MODEL if of_model else None)
        window = window or _window_in(text) or _W.FIVE_HOUR
        at = None if limit.resets_at is None else normal_epoch(limit.resets_at)
        is_exact = at is not None
        if at is None:
            at = reset_time(text, self._clock.now(), self._zone)
        return RateLimitInfo(
            window=window,
            resets_at=self._believable(window, at),
            is_exact=is_exact,
            model=of_model["model"].lower() if of_model else _model_in(text, window),
            text=text,
        )

    def _synthetic(self, trouble: SyntheticError) -> RateLimitInfo | None:
        if _is_wrong(trouble) and not _REGAIN.search(trouble.text):
            return None
        window = _window_in(trouble.text) or _on_their_side(trouble)
        if trouble.kind == "rate_limit":
            window = window or _W.RATE
        if window is None:
            return None
        at = reset_time(trouble.text, self._clock.now(), self._zone)
        return RateLimitInfo(
            window=window,
            resets_at=self._believable(window, at),
            model=_model_in(trouble.text, window),
            text=trouble.text,
        )

    def _believable(self, window: LimitWindow, at: float | None) -> float | None:
        """Years ahead is a mistake somewhere; the past is told as it is."""
        latest = self._clock.now() + LONGEST_WAIT[window].total_seconds()
        return None if at is None or at > latest else at


def believable_reset(use: WindowUse, now: float) -> float | None:
    """When the window resets, in epoch seconds. None: nobody said, or it cannot be that far."""
    if use.resets_at is None:
        return None
    at = normal_epoch(use.resets_at)
    longest = LONGEST_WAIT[_TYPED.get(use.window, _W.SEVEN_DAY)]
    return None if at > now + longest.total_seconds() else at


def _is_wrong(trouble: SyntheticError) -> bool:
    return trouble.kind in _NEVER_LIMITS or _WRONG.match(trouble.text) is not None


def _on_their_side(trouble: SyntheticError) -> LimitWindow | None:
    """What ails the server, or the way to it: nothing that the task could do better."""
    if _INTERCEPTED.search(trouble.text):
        return _W.UNREACHABLE
    if trouble.kind == _SERVER and _NETWORK.search(trouble.text):
        return _W.UNREACHABLE
    is_theirs = trouble.kind in {_SERVER, "overloaded"} or _FAILS.match(trouble.text)
    return _W.OVERLOAD if is_theirs else None


def _window_in(text: str) -> LimitWindow | None:
    """Which window a synthetic message speaks of; first match wins."""
    if _OVERLOADED.search(text):
        return _W.OVERLOAD
    for pattern, window in (
        (_SPEND, _W.SPEND),
        (_OF_MODEL, _W.MODEL),
        (_WEEKLY, _W.SEVEN_DAY),
        (_SESSION, _W.FIVE_HOUR),
        (_REFUSED, _W.RATE),
    ):
        if pattern.search(text):
            return window
    return None


def _model_in(text: str, window: LimitWindow) -> str:
    found = _OF_MODEL.search(text) if window is _W.MODEL else None
    return found["model"].lower() if found else ""
