"""`--since`: of the last so long."""

from perpetualcc.cli.ending import Mistyped
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.human.settings import parse_duration


def seconds_of(text: str) -> float:
    """Raises Mistyped for what is no duration."""
    try:
        return parse_duration(text).total_seconds()
    except PerpetualError:
        raise Mistyped(f"--since cannot be {text!r}", hint="Such as 30m, 6h, 2d or 3w") from None
