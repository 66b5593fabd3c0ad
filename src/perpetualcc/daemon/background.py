"""How a supervisor takes its place: the socket it listens on, and out of the terminal's way."""

import os
import socket

from perpetualcc.domain.locations import Locations
from perpetualcc.domain.private_files import opened_log


def listen(locations: Locations) -> socket.socket:
    """The listening socket, 0600; what an earlier supervisor left in its place is removed."""
    locations.socket.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(str(locations.socket))
    finally:
        os.umask(before)
    listener.listen(128)
    listener.setblocking(False)
    return listener


def detach(locations: Locations) -> None:
    """
    Go on in the background, without terminal, and let the caller's process end.

    Raises OSError, while the caller can still be told, when the log cannot be written.
    """
    log = opened_log(locations.supervisor_log)
    if os.fork():
        os._exit(0)
    os.setsid()
    os.chdir(locations.data)
    null = os.open(os.devnull, os.O_RDWR)
    for stream, target in ((0, null), (1, log), (2, log)):
        os.dup2(target, stream)
    os.close(null)
    os.close(log)
