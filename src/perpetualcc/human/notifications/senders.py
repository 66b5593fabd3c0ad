"""
The processes that send messages, one each; the next one is started before it is needed.

Loading Apprise takes most of a second, so a process that has loaded it waits for the next message
to a remote address. It reads from a pipe of ours: when the engine dies, it ends by itself.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from perpetualcc.human.notifications import post
from perpetualcc.human.notifications.channels import Channel


class Senders:
    """Starts senders; keeps one ready while there is a remote channel."""

    def __init__(self, channels: Iterable[Channel]) -> None:
        self._schemes = sorted(
            {one.url.partition("://")[0].lower() for one in channels if one.is_remote}
        )
        self._ready: subprocess.Popen[bytes] | None = None

    def prepare(self) -> None:
        """Have a sender ready for the next message."""
        if self._ready is not None and self._ready.poll() is not None:
            self.close()
        if self._schemes and self._ready is None:
            self._ready = _start(self._schemes)

    def send(self, order: Mapping[str, Any]) -> subprocess.Popen[bytes]:
        """A sender that has been told what to do; it ends when it has left its receipt."""
        sender = self._take() if "url" in order else _start(())
        if sender.stdin is not None:
            with suppress(BrokenPipeError), sender.stdin as line:
                line.write(json.dumps(order).encode())
        return sender

    def close(self) -> None:
        """End the one that waits; those that send go on."""
        if self._ready is not None:
            self._ready.kill()
            self._ready.wait()
            if self._ready.stdin is not None:
                self._ready.stdin.close()
            self._ready = None

    def _take(self) -> subprocess.Popen[bytes]:
        self.prepare()
        ready, self._ready = self._ready, None
        return ready or _start(())


def _start(schemes: Iterable[str]) -> subprocess.Popen[bytes]:
    # Not asyncio's: its children are killed with the loop. This one outlives an engine that is
    # killed while it sends, so that its receipt tells the next one.
    return subprocess.Popen(
        [sys.executable, "-P", "-m", post.__name__, *schemes],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
