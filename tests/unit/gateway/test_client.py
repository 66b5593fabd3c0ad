"""The client's own promises; what the engine answers is tested with a real one."""

import socket
import threading
from contextlib import suppress

import pytest

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.gateway.client import Client, ConnectionLost
from perpetualcc.gateway.protocol import FRAME_LIMIT


@pytest.mark.parametrize(
    "params",
    [{"project": "bad\udcff"}, {"after": ["bad\udcff"]}, {"options": {"a": {"b": "bad\udcff"}}}],
)
def test_a_name_that_is_no_unicode_is_refused_and_not_sent_as_another(params):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        client = Client(ours)

        with pytest.raises(PerpetualError, match="is not UTF-8 text"):
            client.call("session.start", **params)

        theirs.setblocking(False)
        with pytest.raises(BlockingIOError):
            theirs.recv(1)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "said", [b"", b'{"type": "res", "id"', b"x" * (FRAME_LIMIT + 100_000)], ids=["", "half", "more"]
)
def test_a_daemon_that_hangs_up_or_never_ends_its_line_is_gone(said):
    ours, theirs = socket.socketpair()
    client = Client(ours)
    writer = threading.Thread(target=_say, args=(theirs, said))
    writer.start()
    with ours, pytest.raises(ConnectionLost) as told:
        client.call("task.add")
    writer.join()
    assert "Before you ask again, see whether it is done" in str(told.value.hint)


def _say(to, words):
    with to, suppress(ConnectionError):
        to.recv(65536)  # the request
        to.sendall(words)
