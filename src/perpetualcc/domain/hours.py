"""Hours of every day, as people write them in settings."""

import re
from datetime import time

from perpetualcc.domain.errors import PerpetualError

_SPAN = re.compile(r"\s*([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)\s*")


def parse_hours(text: str) -> tuple[time, time] | None:
    """
    `23:00-07:00` as two local times; None for an empty text.

    Raises:
        PerpetualError: it is written otherwise, or ends when it begins.
    """
    if not text.strip():
        return None
    found = _SPAN.fullmatch(text)
    if found is None:
        raise PerpetualError(
            f"{text!r} is not a span of local time", hint="Write it as 23:00-07:00"
        )
    first, second, third, fourth = map(int, found.groups())
    begin, end = time(first, second), time(third, fourth)
    if begin == end:
        raise PerpetualError(
            f"{text!r} ends when it begins", hint='Write "" for never, 00:00-23:59 for always'
        )
    return begin, end
