"""`--since`: of the last so long."""

from contextlib import suppress

from perpetualcc.cli.ending import Mistyped
from perpetualcc.deferred.when import span_of
from perpetualcc.human.settings import CENTURY


def seconds_of(text: str) -> float:
    """`12h`, `1h30m`, `2 days`, `a week`. Raises Mistyped for what is no duration."""
    with suppress(OverflowError):
        span = span_of(text.strip().lower())
        if span and (seconds := span.total_seconds()) <= CENTURY * 3600:
            return seconds
    raise Mistyped(f"--since cannot be {text!r}", hint="Such as 30m, 6h, 2d or 3w")
