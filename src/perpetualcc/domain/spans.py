"""Lengths of time in a person's words, as options and settings take them."""

import re
from contextlib import suppress
from datetime import timedelta

from perpetualcc.domain.errors import PerpetualError

CENTURY = 876_000
"""Hours: whoever waits longer waits for ever."""

_UNITS = {
    "s": timedelta(seconds=1), "sec": timedelta(seconds=1), "second": timedelta(seconds=1),
    "m": timedelta(minutes=1), "min": timedelta(minutes=1), "minute": timedelta(minutes=1),
    "h": timedelta(hours=1), "hr": timedelta(hours=1), "hour": timedelta(hours=1),
    "d": timedelta(days=1), "day": timedelta(days=1),
    "w": timedelta(weeks=1), "week": timedelta(weeks=1),
}  # fmt: skip
_SMALL = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
          "twelve")  # fmt: skip
_NUMBERS = {"a": 1.0, "an": 1.0, "half a": 0.5, "half an": 0.5} | {
    word: float(number) for number, word in enumerate(_SMALL, start=1)
}
_AMOUNT = re.compile(
    rf"(?:(\d{{1,7}}(?:\.\d+)?)\s*|({'|'.join(_NUMBERS)})\s+)([a-z]+?)s?(?![a-z])"
    r"(\s+and a half)?[\s,]*(?:and\s+)?"
)


def span_of(said: str) -> timedelta | None:
    """`2 hours and 30 minutes`, `1h30m`, `two days`, `an hour and a half`."""
    span, at = timedelta(), 0
    while at < len(said):
        part = _AMOUNT.match(said, at)
        if part is None or part[3] not in _UNITS:
            return None
        number = float(part[1]) if part[1] else _NUMBERS[part[2]]
        span += (number + (0.5 if part[4] else 0.0)) * _UNITS[part[3]]
        at = part.end()
    return span if at else None


def parse_duration(text: str) -> timedelta:
    """
    Of `span_of`, above nothing and below a century.

    Raises:
        PerpetualError: it is none.
    """
    with suppress(OverflowError):
        span = span_of(text.strip().lower())
        if span and span.total_seconds() <= CENTURY * 3600:
            return span
    raise PerpetualError(f"{text!r} is no length of time", hint='Such as 90s, 30m, "1h 30m" or 2d')
