"""`--since`: of the last so long."""

from perpetualcc.cli.ending import Mistyped
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.spans import parse_duration


def seconds_of(text: str) -> float:
    """`12h`, `1h 30m`, `2 days`, `a week`. Raises Mistyped for what is no length of time."""
    try:
        return parse_duration(text).total_seconds()
    except PerpetualError as slip:
        raise Mistyped(f"--since cannot be {text!r}", hint=slip.hint) from None
