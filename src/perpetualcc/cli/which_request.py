"""Which request is meant: by its number, or by the session that waits for its answer."""

from typing import Any

from perpetualcc.cli.ending import Mistyped
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.texts import first_few

_DIGITS = 15


def number_in(typed: str) -> int | None:
    """Of `3` or `#3`; None: it is no number."""
    digits = typed.strip().removeprefix("#")
    return int(digits) if digits.isdecimal() and len(digits) <= _DIGITS else None


def the_request(daemon: Any, typed: str) -> int:
    """
    The number of a request.

    Raises:
        Mistyped: it is no number, and no session that waits for exactly one answer.
    """
    if (number := number_in(typed)) is not None:
        return number
    try:
        waiting = [one["number"] for one in daemon.call("escalation.list", session=typed)]
    except PerpetualError as slip:
        told = f"{slip.message}, and it is no request's number"
        raise Mistyped(told, hint="See what waits with: pcc pending") from None
    if not waiting:
        raise Mistyped(f"Nothing of session {typed!r} waits for you", hint="pcc pending")
    if len(waiting) > 1:
        raise Mistyped(
            f"{len(waiting)} requests of session {typed!r} wait for you",
            hint=f"Say which by its number ({first_few(list(map(str, waiting)))}):"
            f" pcc respond {waiting[0]} --interactive",
        )
    return int(waiting[0])
