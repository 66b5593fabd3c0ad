"""When nothing ran, and why, in a person's words: the same in the report and the digest."""

from collections.abc import Callable, Mapping
from typing import Any

from perpetualcc.domain.times import duration
from perpetualcc.sessions.outages import OutageCause

Told = Mapping[str, Any]
_WHY: Mapping[str, str] = {
    OutageCause.SLEPT: "the machine slept",
    OutageCause.STOOD_STILL: "the machine or the daemon was halted from outside, "
    "or the clock was set",
    OutageCause.OFF: "the machine was off",
    OutageCause.STOPPED: "you had stopped the daemon",
    OutageCause.ENDED: "the daemon was ended from outside (a logout, a signal), and not started",
    OutageCause.DIED: "the daemon had ended without a word, and nobody started it",
    OutageCause.GAVE_UP: "the daemon had given up",
    OutageCause.LIMIT: "all that was left to do waited for",
}


def outage_words(told: Told, *, until: float, moment: Callable[[float], str]) -> str:
    """
    Of an `Outage` as clients see it. `until`: the end of what is told of, UTC epoch seconds; what
    lasts until then goes on.
    """
    began, ended = told["began"], told["ended"]
    when = f"since {moment(began)}" if ended >= until else f"{moment(began)} to {moment(ended)}"
    return f"Nothing ran {when} ({duration(ended - began)}): {_why(told)}"


def _why(told: Told) -> str:
    cause, detail = told["cause"], told["detail"]
    words = _WHY.get(cause, cause)
    if cause == OutageCause.LIMIT:
        return f"{words} {detail}"
    return f"{words}: {detail}" if detail else words
