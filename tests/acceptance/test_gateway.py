"""Good, bad and ugly clients on the socket of one real daemon."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from perpetualcc.claude import processes
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import RunId
from perpetualcc.domain.version import code_version
from perpetualcc.gateway import protocol
from perpetualcc.gateway.client import Client, ConnectionLost
from perpetualcc.gateway.protocol import FRAME_LIMIT, ErrorCode
from tests.acceptance.daemons import ToyDaemon, toy_daemon


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToyDaemon]:
    with toy_daemon(tmp_path_factory.mktemp("gateway")) as daemon:
        daemon.connect().close()
        yield daemon


@pytest.fixture
def client(daemon: ToyDaemon) -> Iterator[Client]:
    with daemon.connect() as client:
        yield client


@pytest.fixture
def line(daemon: ToyDaemon) -> Iterator[socket.socket]:
    """A bare socket, for clients that were not written by us."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(10)
        line.connect(str(daemon.locations.socket))
        yield line


def said(line: socket.socket) -> dict[str, Any]:
    text = b""
    while not text.endswith(b"\n"):
        chunk = line.recv(65536)
        assert chunk, f"hung up after {text!r}"
        text += chunk
    frame: dict[str, Any] = json.loads(text)
    return frame


def test_the_welcome_names_version_and_methods(client: Client) -> None:
    assert client.server_version == code_version()
    assert {"ping", "toy.echo", "events.follow", "events.unfollow"} <= set(client.capabilities)


ASKS = """
import os, sys, time
from pathlib import Path
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.gateway.client import Client
client = Client.open(Path(sys.argv[1]))
client.call("toy.pid")
if sys.argv[2] == "forks" and os.fork():
    os._exit(0)
time.sleep(0.3)
try:
    client.call("toy.look")
    if sys.argv[2] == "attends":
        print("decided", client.call("toy.look", attend=True))
    else:
        print("decided", client.call("toy.decide"))
except PerpetualError as error:
    print(error.message, error.hint)
"""


@pytest.mark.parametrize(
    ("environment", "how", "may"),
    [
        pytest.param({}, "asks", True, id="a person's"),
        pytest.param("ours", "asks", False, id="a run's"),
        pytest.param("ours", "attends", False, id="a run's that says a person looks"),
        pytest.param({}, "attends", True, id="a person's who looks"),
        pytest.param("theirs", "asks", True, id="a run's of another data directory"),
        pytest.param({}, "forks", False, id="one that is gone when it decides"),
    ],
)
def test_a_process_that_a_run_started_decides_nothing(daemon, tmp_path, environment, how, may):
    data = {"ours": daemon.locations.data, "theirs": tmp_path}.get(environment or "")
    mark = processes.mark(data, RunId("r-1")) if data else {}
    words = [sys.executable, "-c", ASKS, str(daemon.locations.socket), how]

    done = subprocess.run(
        words, env=os.environ | mark, capture_output=True, text=True, check=True, timeout=20
    )

    assert ("decided" in done.stdout) is may, done.stdout
    assert ("Only a person may ask for 'toy." in done.stdout) is not may


def test_an_error_for_a_person_arrives_with_its_hint(client: Client) -> None:
    with pytest.raises(PerpetualError) as caught:
        client.call("toy.fail", how="person")

    assert (caught.value.message, caught.value.hint) == ("No session 'x'", "pcc list")


def test_a_bug_in_a_method_is_named_logged_and_survived(daemon: ToyDaemon, client: Client) -> None:
    with pytest.raises(PerpetualError, match=r"toy\.fail failed: RuntimeError"):
        client.call("toy.fail", how="bug")

    assert client.call("ping") == "pong"
    assert "RuntimeError: a bug" in daemon.locations.engine_log.read_text()


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("no.such", {}, "no method 'no.such'"),
        ("toy.echo", {}, "'text' must be str, not None"),
        ("toy.echo", {"text": 7}, "'text' must be str, not 7"),
        ("toy.echo", {"text": "x", "loud": True}, "Unknown parameter 'loud'; known: text"),
        ("toy.block", {"seconds": True}, "'seconds' must be float, not True"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    client: Client, method: str, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(PerpetualError) as caught:
        client.call(method, **params)

    assert message in caught.value.message
    assert client.call("ping") == "pong"


def test_another_version_of_the_protocol_gets_told_what_to_do(line: socket.socket) -> None:
    line.sendall(protocol.request(1, "connect", {"protocol": 99, "client": "future"}))

    with pytest.raises(PerpetualError, match="daemon runs version 0") as caught:
        raise protocol.as_exception(said(line)["error"])

    assert "pcc daemon restart" in str(caught.value.hint)


def test_nothing_is_answered_before_connect(line: socket.socket) -> None:
    line.sendall(protocol.request(1, "toy.echo", {"text": "hi"}))

    assert said(line)["error"]["code"] == ErrorCode.AUTH_REQUIRED


@pytest.mark.parametrize(
    ("garbage", "code"),
    [
        (b"\n", ErrorCode.PARSE_ERROR),
        (b"\x00\xff\xfe\n", ErrorCode.PARSE_ERROR),
        (b"GET / HTTP/1.1\r\n", ErrorCode.PARSE_ERROR),
        (b"[" * 100_000 + b"\n", ErrorCode.PARSE_ERROR),
        (b"[]\n", ErrorCode.INVALID_REQUEST),
        (b"{}\n", ErrorCode.INVALID_REQUEST),
        (b'{"type":"req","id":1}\n', ErrorCode.INVALID_REQUEST),
        (b'{"type":"req","id":{},"method":"ping"}\n', ErrorCode.INVALID_REQUEST),
        (b'{"type":"req","id":1,"method":"ping","params":[]}\n', ErrorCode.INVALID_REQUEST),
        (b'{"type":"res","id":1,"result":1}\n', ErrorCode.INVALID_REQUEST),
    ],
)
def test_garbage_gets_an_error_frame_and_a_second_chance(
    line: socket.socket, garbage: bytes, code: ErrorCode
) -> None:
    line.sendall(garbage)
    assert said(line)["error"]["code"] == code

    line.sendall(protocol.request("x", "connect", {"protocol": 1, "client": "test"}))
    assert said(line)["id"] == "x"


def test_a_frame_that_is_too_long_ends_only_its_own_conversation(
    daemon: ToyDaemon, line: socket.socket
) -> None:
    def pour() -> None:
        with suppress(OSError):  # hung up on
            while True:
                line.sendall(b"x" * FRAME_LIMIT)

    pouring = threading.Thread(target=pour)
    pouring.start()
    answer = said(line)
    pouring.join(timeout=10)

    assert answer["error"]["code"] == ErrorCode.INVALID_REQUEST
    assert str(FRAME_LIMIT) in answer["error"]["message"]
    with daemon.connect() as client:
        assert client.call("ping") == "pong"


def test_a_large_frame_below_the_limit_passes_both_ways(client: Client) -> None:
    text = "ä" * (FRAME_LIMIT // 2 - 1000)

    assert client.call("toy.echo", text=text) == text


def test_our_own_client_refuses_to_send_what_is_too_long(client: Client) -> None:
    with pytest.raises(PerpetualError, match="over the limit"):
        client.call("toy.echo", text="x" * FRAME_LIMIT)

    assert client.call("ping") == "pong"


def test_fifty_clients_at_once_each_get_their_own_answers(daemon: ToyDaemon) -> None:
    def visit(number: int) -> list[str]:
        with daemon.connect() as client:
            return [client.call("toy.echo", text=f"{number}.{turn}") for turn in range(20)]

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(visit, range(50)))

    assert answers == [[f"{number}.{turn}" for turn in range(20)] for number in range(50)]


def test_a_client_that_never_reads_costs_nobody_else(daemon: ToyDaemon) -> None:
    with daemon.connect() as lazy, daemon.connect() as quick:
        for _ in range(10):
            lazy.call("events.follow", since=0)
        before = memory(daemon)
        time.sleep(1.0)
        started = time.monotonic()
        for number in range(100):
            quick.call("toy.echo", text=str(number))

        assert time.monotonic() - started < 2.0
        assert memory(daemon) - before < 5_000_000


def test_unfollow_ends_a_subscription(client: Client) -> None:
    name = client.call("events.follow", since=41)
    first = client.next_event(5.0)
    assert first
    assert (first.event, first.data["seq"], first.subscription) == ("Counted", 42, name)

    assert client.call("events.unfollow", subscription=name) is True
    assert client.call("events.unfollow", subscription=name) is False

    for _ in client.events(timeout=0.2):
        pass  # what was on its way; then nothing
    assert client.next_event(0.1) is None


def test_no_client_has_more_subscriptions_than_its_share(client: Client) -> None:
    names = [client.call("events.follow", since=41) for _ in range(16)]

    with pytest.raises(PerpetualError, match="16 subscriptions of this connection are open"):
        client.call("events.follow", since=41)
    client.call("events.unfollow", subscription=names[0])

    assert client.call("events.follow", since=41) not in names


def test_leaving_in_the_middle_of_everything_disturbs_nobody(daemon: ToyDaemon) -> None:
    for _ in range(20):
        client = daemon.connect()
        client.call("events.follow", since=0)
        client._write(b'{"type":"req","id":7,"meth')
        client.close()

    with daemon.connect() as client:
        assert client.call("ping") == "pong"


def test_a_client_notices_that_its_engine_died(daemon: ToyDaemon) -> None:
    with daemon.connect() as client, pytest.raises(ConnectionLost):
        client.call("toy.fail", how="exit")


def memory(daemon: ToyDaemon) -> int:
    """Resident bytes of the engine."""
    with open(f"/proc/{daemon.status.engine}/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * 4096
