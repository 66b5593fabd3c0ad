"""
The daemon's last sign of life: one file, whose time is renewed while an engine lives.

It outlives a `kill -9` and, but for half a minute, the machine's power. Standard library only.
"""

import json
import os
import time
from contextlib import suppress

from perpetualcc.daemon import clocks
from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.private_files import write_whole
from perpetualcc.sessions.outages import LastSign

_LONGEST = 10_000
"""Bytes: more is none of ours."""
_LONGEST_DETAIL = 500


def read_sign(locations: Locations) -> LastSign | None:
    """None: there was none, or it cannot be read."""
    try:
        told = json.loads(read_regular(locations.alive, _LONGEST))
        return LastSign(at=locations.alive.stat().st_mtime, **told)
    except (OSError, ValueError, TypeError, RecursionError):
        return None


def leave_sign(
    locations: Locations, left: str = "", *, due: float | None = None, detail: str = ""
) -> None:
    """Now somebody lives, or takes leave: see `LastSign`. A full disk only costs the news of it."""
    told = {
        "boot": clocks.boot(),
        "slept": clocks.slept(),
        "left": left,
        "due": due,
        "detail": detail[:_LONGEST_DETAIL],
    }
    with suppress(OSError):
        write_whole(locations.alive, json.dumps(told))


def renew_sign(locations: Locations) -> None:
    """The same life goes on: needs no room on the disk."""
    now = time.time()
    with suppress(OSError):
        os.utime(locations.alive, (now, now))
