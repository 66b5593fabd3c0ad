"""The client's own promises; what the engine answers is tested with a real one."""

import socket

import pytest

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.gateway.client import Client


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
