"""Tells a person when the disk of the data directory fills up."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

from perpetualcc.daemon.disk import DiskSpace, Room, disk_space
from perpetualcc.domain.errors import PerpetualError

log = logging.getLogger(__name__)

_LOOKS = timedelta(minutes=1)


async def watch_disk(
    place: Path,
    tell: Callable[[DiskSpace], Awaitable[None]],
    *,
    every: timedelta = _LOOKS,
    look: Callable[[Path], DiskSpace | None] = disk_space,
) -> None:
    """Tell once when it gets worse, and again only after there was room; never ends by itself."""
    told = Room.ENOUGH
    while True:
        space = look(place)
        room = Room.ENOUGH if space is None else space.room
        if space is not None and _is_worse(room, told):
            log.warning("The disk of the data directory is %s", space.described())
            try:
                await tell(space)
            except PerpetualError:  # there is no room for the message either: at the next look
                log.exception("nobody can be told that the disk is full")
                room = told
        told = room
        await asyncio.sleep(every.total_seconds())


def _is_worse(room: Room, than: Room) -> bool:
    order = tuple(Room)
    return order.index(room) > order.index(than)
