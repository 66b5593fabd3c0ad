"""Usage limits: which window is used up, and until when."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class LimitWindow(StrEnum):
    """What a limit counts. The names of the first two are Claude Code's own."""

    FIVE_HOUR = "five_hour"
    """The subscription's session window: the whole account waits, five hours at most."""
    SEVEN_DAY = "seven_day"
    """The subscription's weekly window: the whole account waits, for days."""
    MODEL = "model"
    """One model's own window: another model may go on."""
    SPEND = "spend"
    """Money or extra usage: the whole account waits, up to a month."""
    RATE = "rate"
    """Requests or tokens a minute of an API key."""
    OVERLOAD = "overload"
    """The server, not the account: a short back-off. It is busy, or has an error of its own."""
    UNREACHABLE = "unreachable"
    """The network, or something on the way that answers itself: the same short back-off."""

    @property
    def is_of_the_account(self) -> bool:
        """Whether every session meets it."""
        return self in {LimitWindow.FIVE_HOUR, LimitWindow.SEVEN_DAY, LimitWindow.SPEND}

    @property
    def is_a_hiccup(self) -> bool:
        """Whether it is no limit of anybody's, and passes within minutes."""
        return self in {LimitWindow.OVERLOAD, LimitWindow.UNREACHABLE}


LIMIT_NAMES: Mapping[LimitWindow, str] = MappingProxyType(
    {
        LimitWindow.FIVE_HOUR: "the 5-hour limit",
        LimitWindow.SEVEN_DAY: "the weekly limit",
        LimitWindow.MODEL: "a limit of the model",
        LimitWindow.SPEND: "the spend limit",
        LimitWindow.RATE: "the API key's rate limit",
        LimitWindow.OVERLOAD: "the server is overloaded or fails",
        LimitWindow.UNREACHABLE: "the server cannot be reached",
    }
)
"""What a person reads of each; what a session waits for begins with it."""
IN_VAIN = "tried in vain for an hour"
"""And ends with this, once, when a hiccup is none: a person may know of a login page, a proxy."""
REVIEW = "waits for your review"
"""And so where the limit is a person's own: `sessions.unreviewed`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowUse:
    """How much of a subscription's window is used. Alone no reason to stop, or to tell anybody."""

    window: str
    """Claude Code's name: five_hour, seven_day, …"""
    used: float
    """Share of it; more than 1 where work went on past its end."""
    resets_at: float | None
    """UTC epoch seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimitInfo:
    """A limit that stopped a run."""

    window: LimitWindow
    resets_at: float | None = None
    """UTC epoch seconds; None: nobody said, or nobody could believe it."""
    is_exact: bool = False
    """The time came typed, to the second. Otherwise it was read from a text for people."""
    model: str = ""
    """Of `MODEL`: which one, in lower case."""
    text: str = ""
    """What Claude Code said."""
