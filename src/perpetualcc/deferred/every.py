"""
Again and again, in a person's words: `weekday at 2am`, `monday and friday 18:30`, `6 hours`, or a
cron expression (seed 003: "0 2 * * *").

As in `when`, hours and days are those of the local clock. What is said as a while (`6 hours`) is
counted from the time before; everything else is a cron expression, read as Debian's cron reads it.
"""

import itertools
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from perpetualcc.deferred.when import WEEKDAYS, clock_time
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.spans import span_of

Rule = Callable[[float], float]
"""From a moment to the next one after it, both in UTC epoch seconds."""

_SHORTEST = timedelta(minutes=1)
_LONGEST = timedelta(days=366)
_CRON_FIELDS = 5
_SHORTEST_NAME = 3
"""Letters of a weekday."""
_DAYS = {
    "day": "*", "daily": "*", "night": "*", "nightly": "*", "morning": "*", "evening": "*",
    "weekday": "1-5", "weekend": "6,0",
}  # fmt: skip
_AT_NIGHT = frozenset({"night", "nights", "nightly", "evening", "evenings"})
_NAMED = {
    "minute": "* * * * *", "hour": "0 * * * *", "hourly": "0 * * * *", "@hourly": "0 * * * *",
    "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
}  # fmt: skip
_GAP = re.compile(r"[\s,]+(?:(?:and|at|on)\s+)*")


class EveryError(PerpetualError):
    """It is no rule that is known here, or one that never comes true."""

    def __init__(self, text: str, problem: str) -> None:
        super().__init__(
            f"--every {text!r:.80} {problem}",
            hint='Say it as "weekday at 2am", "monday and friday 18:30", "day at 9:30",'
            ' "6 hours" or "0 2 * * 1-5"',
        )


def parse_every(text: str) -> Rule:
    """
    The rule that is said.

    Raises:
        EveryError: it is written otherwise, is shorter than a minute, or never comes true.
    """
    said = " ".join(text.lower().replace("a.m.", "am").replace("p.m.", "pm").split())
    said = said.removeprefix("every ")
    if (span := span_of(said)) is not None:
        if not _SHORTEST <= span <= _LONGEST:
            raise EveryError(text, "is less than a minute or more than a year")
        return partial(_after_a_while, span.total_seconds())
    try:
        rule = partial(_by_the_clock, _NAMED.get(said) or _cron_of(said))
        rule(0.0)
    except ValueError as error:
        why = f" ({error})" if re.match(r"[\d*]\S* \S+ \S+ \S+ ", said) else ""
        raise EveryError(text, f"is no rule that is understood{why}") from None
    return rule


def _cron_of(said: str) -> str:
    """The cron expression that says the same; what is none of ours must be one itself."""
    words = [word for word in _GAP.split(said) if word]
    days = [day for word in words if (day := _day(word)) is not None]
    rest = " ".join(word for word in words if _day(word) is None)
    clock = clock_time(rest, is_night=not _AT_NIGHT.isdisjoint(words), needs_more=not days)
    if clock is None:
        return said
    return f"{clock.minute} {clock.hour} * * {','.join(days) or '*'}"


def _day(word: str) -> str | None:
    """The days of the week that a word means, as cron writes them."""
    if (known := _DAYS.get(word) or _DAYS.get(word.removesuffix("s"))) is not None:
        return known
    for number, name in enumerate(WEEKDAYS, start=1):
        if len(word) >= _SHORTEST_NAME and f"{name}s".startswith(word):
            return str(number % 7)
    first, _, last = word.partition("-")
    one, other = (_day(first), _day(last)) if last else (None, None)
    if one is None or other is None or not (one + other).isdigit():
        return None
    from_one = itertools.islice(itertools.cycle("0123456"), int(one), None)
    return ",".join([*itertools.takewhile(other.__ne__, from_one), other])


def _after_a_while(seconds: float, moment: float) -> float:
    return moment + seconds


def _by_the_clock(cron: str, moment: float) -> float:
    """
    An hour that the clock leaves out in spring is the hour after. Of one that comes twice in autumn
    it is the first, but for what comes every hour.

    Raises:
        ValueError: there is no such expression, or no such day.
    """
    from cronsim import CronSim, CronSimError  # noqa: PLC0415  # only where something repeats

    if len(cron.split()) > _CRON_FIELDS:  # to the library, the first is one of seconds
        raise ValueError("cron's are minute, hour, day, month, weekday")
    start = datetime.fromtimestamp(moment)  # noqa: DTZ006  # the local clock
    if cron.split()[1:2] == ["*"]:
        start = start.astimezone()  # as far from UTC as now: no hour comes twice
    try:
        for found in CronSim(cron, start):
            if (ahead := found.timestamp()) > moment:
                return ahead
    except CronSimError as error:
        raise ValueError(str(error).lower()) from None
    raise ValueError("no such day")
