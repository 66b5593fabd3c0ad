"""When nothing ran, and why, in a person's words."""

from collections.abc import Iterator, Mapping
from typing import Any

from perpetualcc.cli.look import fit, one_line
from perpetualcc.domain.times import duration, moment

_WHY: Mapping[str, str] = {
    "slept": "the machine slept",
    "stood still": "the machine or the daemon was halted from outside, or the clock was set",
    "off": "the machine was off",
    "stopped": "you had stopped the daemon",
    "ended": "the daemon was ended from outside (a logout, a signal), and not started",
    "died": "the daemon had ended without a word, and nobody started it",
    "gave up": "the daemon had given up",
    "limit": "all that was left to do waited for",
}


def outage_lines(told: Mapping[str, Any]) -> Iterator[str]:
    """Of an answer of `report.show`; a daemon from before an upgrade tells of none."""
    for one in told.get("outages", ()):
        long = duration(one["ended"] - one["began"])
        yield f"Nothing ran {_when(one, told)} ({long}): {_why(one)}"


def _when(one: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    if one["ended"] >= told["until"]:
        return f"since {moment(one['began'])}"
    return f"from {moment(one['began'])} to {moment(one['ended'])}"


def _why(one: Mapping[str, Any]) -> str:
    words, detail = _WHY.get(one["cause"], one_line(one["cause"])), fit(one["detail"], 200)
    if one["cause"] == "limit":
        return f"{words} {detail}"
    return f"{words}: {detail}" if detail else words
