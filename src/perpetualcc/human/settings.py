"""`[human]` of the configuration: how patiently people are waited for."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.spans import CENTURY, parse_duration


class Unattended(StrEnum):
    """What becomes of a call that needs a person while nobody is attached."""

    DENY = "deny"
    """It is refused, and listed for review."""
    WAIT = "wait"
    """It waits for an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanSettings:
    """What happens while nobody answers."""

    hold_seconds: float = 300.0
    """How long a running Claude waits for a person. After that the run ends and the session
    waits without a process, for days if need be."""
    unattended: Unattended = Unattended.DENY
    """A call that needs a person while nobody is attached: `deny` it and list it for review, or
    `wait` for an answer."""
    permission_hours: float = 24.0
    """With `wait`: a call that nobody has approved after so long is refused."""
    remind_after: tuple[str, ...] = ("30m", "4h", "24h")
    """When people are told again about what waits for them, counted from the first time; after
    the last one, each time as much later again. Empty: never."""

    def __post_init__(self) -> None:
        if not 0 <= self.permission_hours <= CENTURY:
            raise PerpetualError(
                f"'human.permission_hours' is {self.permission_hours:g}; it is at most {CENTURY}",
                hint="pcc config set human.permission_hours 24",
            )
        for text in self.remind_after:
            parse_duration(text)

    @property
    def hold(self) -> timedelta:
        return timedelta(seconds=self.hold_seconds)

    @property
    def waits_unattended(self) -> bool:
        return self.unattended is Unattended.WAIT

    @property
    def permission_patience(self) -> timedelta:
        return timedelta(hours=self.permission_hours)

    @property
    def ladder(self) -> tuple[timedelta, ...]:
        return tuple(sorted(parse_duration(text) for text in self.remind_after))
