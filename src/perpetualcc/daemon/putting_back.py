"""
While a project's files are put back, or merged, no task begins on them, and nobody else writes any.

Whoever does it holds a lock and says for which folder. The lock ends with its last holder, and a
git that outlives a command that was killed is one of them.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from perpetualcc.daemon.state import hold, is_held, overwrite
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import overlap
from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.domain.locations import Locations

_WAIT = 2.0
"""Seconds: another one is mostly a matter of a moment."""
_LONGEST = 10_000


@contextmanager
def putting_back(locations: Locations, place: Path) -> Iterator[int]:
    """
    Hold it, before it is asked who is at work there: whoever is not yet will wait. Gives the
    descriptor that goes to what writes the files.

    Raises:
        PerpetualError: somebody else puts files back.
    """
    lock = hold(locations.putting_back, wait=_WAIT)
    if lock is None:
        raise PerpetualError(
            "Nothing was done: another pcc undo or accept is at work",
            hint="Try again when it is over",
        )
    try:
        overwrite(lock, os.fsencode(place))
        yield lock
    finally:
        os.close(lock)


def is_put_back(locations: Locations, project: Path) -> bool:
    """Whether somebody is about to write files there."""
    if not is_held(locations.putting_back):
        return False
    with suppress(OSError):
        place = Path(os.fsdecode(read_regular(locations.putting_back, _LONGEST)))
        return overlap(project, place)
    return False
