"""`[notifications]` of the configuration (seed 000, and the channels beyond the desktop)."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.hours import parse_hours, parse_time
from perpetualcc.domain.spans import CENTURY

_DAY = 86_400
"""Seconds."""
_NAME = 40


class Content(StrEnum):
    """What of a message leaves this machine."""

    BRIEF = "brief"
    """Ids, the names that you gave sessions, and the command to answer."""
    NAMES = "names"
    """The names of projects and of all sessions, too."""
    FULL = "full"
    """The text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationSettings:
    """What people are told, where, and when not."""

    enabled: bool = True
    """Tell people anything at all."""
    desktop: bool = True
    """Use the desktop of this machine: macOS, or `notify-send` on Linux."""
    sound: bool = True
    """Play a sound with it (macOS)."""
    on_question: bool = True
    """A question or a permission waits for a person."""
    on_complete: bool = True
    """A session has finished its queue."""
    on_rate_limit: bool = True
    """A usage limit stopped a session."""
    on_error: bool = True
    """A task has stopped and a person must look."""
    on_standstill: bool = True
    """Nothing runs any more: what is left waits for a person, a limit or a budget."""
    digest: str = ""
    """Local time at which what happened since the last one is told once a day, such as `08:00`;
    empty: never."""
    urls: tuple[str, ...] = ()
    """Where else, as Apprise writes addresses: `mailto://…`, `json://…`, `slack://…`, or
    `env:NAME` for an environment variable that holds one."""
    content: Content = Content.BRIEF
    """What leaves this machine: `brief` (ids, names that you gave, and the command to answer),
    `names` (those of projects and all sessions, too) or `full` (the text)."""
    machine: str = ""
    """What this machine is called in the titles of messages, for those who have several; empty:
    they do not say."""
    quiet_hours: str = ""
    """Local time in which nothing is sent, such as `22:00-07:00`; it is sent afterwards."""
    retry_seconds: float = 30.0
    """Until the second try when a channel does not work, above 0; each later wait is twice as long,
    up to a quarter of an hour."""
    give_up_hours: float = 24.0
    """After which a channel that does not work is given up; 0: after the first try."""

    def __post_init__(self) -> None:
        if not 0 < self.retry_seconds <= _DAY:
            raise PerpetualError(
                f"'notifications.retry_seconds' is {self.retry_seconds:g}; it is above 0 and at"
                f" most {_DAY}",
                hint="pcc config set notifications.retry_seconds 30",
            )
        if not 0 <= self.give_up_hours <= CENTURY:
            raise PerpetualError(
                f"'notifications.give_up_hours' is {self.give_up_hours:g}; it is at most {CENTURY}",
                hint="pcc config set notifications.give_up_hours 24",
            )
        if len(self.machine) > _NAME or not self.machine.isprintable():
            raise PerpetualError(
                f"'notifications.machine' is one line of at most {_NAME} characters",
                hint="pcc config set notifications.machine box",
            )
        parse_hours(self.quiet_hours)
        parse_time(self.digest)
        for number, url in enumerate(self.urls, start=1):
            if "://" not in url and not url.startswith("env:"):  # not shown: it may be a secret
                raise PerpetualError(
                    f"Number {number} of 'notifications.urls' is no address",
                    hint="Such as mailto://user:password@example.org, or env:NAME",
                )

    @property
    def give_up(self) -> timedelta:
        return timedelta(hours=self.give_up_hours)
