"""Standard streams that every command may write to, whatever the caller made of them."""

import codecs
import errno
import io
import os
import sys
from pathlib import Path
from typing import cast

from perpetualcc.domain.errors import PerpetualError

# What the tables, panels and lines are drawn with; wide ones keep their width.
_PLAIN = {
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╯╰", "+"),
    "─": "-",
    "│": "|",
    "—": "-",
    "·": "-",
    "…": "~",
    "→": ">",
    "∞": "-",
    "�": "?",
    "✓": "+",
    "✗": "x",
    "○": "o",
    "●": "*",
    "■": "#",
    "⚠": "!",
    "⏳": "..",
    "⏸": "||",
}
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})


def use_safe_streams() -> None:
    """
    From now on a `print` cannot fail for want of a stream or of a character.

    A closed stream (`>&-`, some schedulers) becomes the null device. Where the encoding lacks a
    character, our own symbols have plain ones and the rest is escaped as JSON does it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, _nowhere(mode))
    codecs.register_error("pcc-plain", _plain)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="pcc-plain")


def give_up_output() -> None:
    """What the output could not take would be tried, and complained about, again at the exit."""
    sys.stdout = _nowhere("w")


def _nowhere(mode: str) -> io.TextIOWrapper:
    return cast("io.TextIOWrapper", Path(os.devnull).open(mode, encoding="utf-8"))


def full_disk(error: OSError) -> PerpetualError | None:
    """The words for a disk that takes nothing more, or None when it is something else."""
    if error.errno not in _FULL:
        return None
    where = "The output" if error.filename is None else f"'{error.filename}'"
    return PerpetualError(f"{where} cannot be written: {error.strerror}", hint=remedy(error))


def remedy(error: OSError) -> str:
    """What to do about something that cannot be written."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return "Free some space, or write elsewhere, and try again"
    if error.errno == errno.EROFS:
        return "It is on a file system that is read-only: make it writable, or write elsewhere"
    return "Check the permissions"


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_PLAIN.get(one) or _escaped(one) for one in lost), error.end


def _escaped(one: str) -> str:
    r"""`\u00fc`, and two of them beyond the first plane: also what JSON reads back."""
    units = one.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
