"""Who is at the other end of the socket, as the kernel says it."""

import asyncio
import errno
import logging
import os
import socket
import struct
from pathlib import Path

import pytest

from perpetualcc.gateway import protocol
from perpetualcc.gateway.methods import Method
from perpetualcc.gateway.server import GatewayServer, peer, user_in


class Gone(socket.socket):
    """A client as macOS shows it once it has hung up: it answers no more who it was."""

    def getsockopt(self, *_):
        raise OSError(errno.ENOTCONN, "Socket is not connected")


class Listener(socket.socket):
    """Whose clients are all like that."""

    def accept(self):
        client, address = super().accept()
        return Gone(fileno=client.detach()), address


def is_agent(_process: int) -> bool:
    return False


def test_the_user_is_read_from_what_macos_answers() -> None:
    # struct xucred: version, user, number of groups, and room for sixteen of them
    assert user_in(struct.pack("=IIh2x16I", 0, 501, 3, 20, 12, 61, *[0] * 13)) == 501


def test_the_kernel_names_the_user_and_the_process_of_a_client() -> None:
    ours, theirs = socket.socketpair()

    with ours, theirs:
        assert peer(ours) == (os.getpid(), os.getuid())


def test_a_client_that_is_gone_before_it_is_looked_at_is_let_go_in_silence(
    tmp_path: Path, caplog
) -> None:
    async def visit() -> bytes:
        with Listener(socket.AF_UNIX) as listener, caplog.at_level(logging.INFO):
            listener.bind(str(tmp_path / "s"))
            listener.listen()
            server = GatewayServer(methods={}, version="1", listener=listener, is_agent=is_agent)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(server.serve())
                reader, writer = await asyncio.open_unix_connection(tmp_path / "s")
                said = await reader.read()
                writer.close()
                server.close()
            assert server.connections == 0
            return said

    assert asyncio.run(visit()) == b""
    assert caplog.records == []


def served(tmp_path: Path, visit, **settings) -> list[str]:
    """What the visits read until they are hung up on."""

    async def play() -> list[str]:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(tmp_path / "s"))
            listener.listen()
            known = {"methods": {}, "version": "1", "is_agent": is_agent, **settings}
            server = GatewayServer(listener=listener, **known)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(server.serve())
                said = await visit(tmp_path / "s")
                server.close()
            return said

    return asyncio.run(play())


@pytest.mark.timeout(10)
def test_a_client_without_a_word_is_hung_up_on_and_told_why(tmp_path: Path) -> None:
    async def visit(place: Path) -> list[str]:
        silent, one = await asyncio.open_unix_connection(place)
        polite, other = await asyncio.open_unix_connection(place)
        other.write(protocol.request(1, "connect", {"protocol": protocol.PROTOCOL, "client": "x"}))
        said = (await silent.read()).decode()
        other.write(protocol.request(2, "ping", {}))
        answers = [(await polite.readline()).decode() for _ in range(2)]
        one.close()
        other.close()
        return [said, *answers]

    silent, _, pong = served(tmp_path, visit, introduced_within=0.3)

    assert "Nobody said connect" in silent
    assert "pong" in pong


@pytest.mark.timeout(10)
def test_one_client_more_than_there_is_room_for_is_refused_with_the_reason(tmp_path: Path) -> None:
    async def visit(place: Path) -> list[str]:
        others = [await asyncio.open_unix_connection(place) for _ in range(2)]
        more, writer = await asyncio.open_unix_connection(place)
        said = (await more.read()).decode()
        writer.close()
        for _, other in others:
            other.close()
        return [said]

    (said,) = served(tmp_path, visit, most=2)

    assert "2 clients are connected" in said


@pytest.mark.timeout(10)
def test_a_client_that_asks_for_much_at_once_leaves_room_for_others(tmp_path: Path) -> None:
    at_work: list[int] = []

    async def work(_params: object, _connection: object) -> None:
        at_work.append(1)
        await asyncio.Event().wait()

    async def visit(place: Path) -> list[str]:
        _, greedy = await asyncio.open_unix_connection(place)
        greedy.write(protocol.request(0, "connect", {"protocol": protocol.PROTOCOL, "client": "x"}))
        for number in range(1, 30):
            greedy.write(protocol.request(number, "work", {}))
        await asyncio.sleep(0.3)
        greedy.close()
        return []

    served(tmp_path, visit, methods={"work": Method(call=work)})

    assert len(at_work) == 8
