"""The server on its socket: what the Messages API looks like to any client."""

import asyncio
import http.client
import json
import socket
import threading
from contextlib import closing, contextmanager

import pytest

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.rehearsal import RehearsalServer, read_scenario

BODY = {"model": "m", "stream": True, "messages": [], "tools": [{"name": "Bash"}]}
ASKED = {**BODY, "messages": [{"role": "user", "content": "go"}]}


@contextmanager
def _connection(server):
    port = int(server.url.rpartition(":")[2])
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        yield connection


def _post(server, body=ASKED, path="/v1/messages?beta=true", headers=None):
    with _connection(server) as connection:
        connection.request("POST", path, json.dumps(body), headers or {})
        answer = connection.getresponse()
        return answer, answer.read()


def _events(stream):
    chunks = stream.decode().strip().split("\n\n")
    return [json.loads(chunk.partition("\ndata: ")[2]) for chunk in chunks]


def test_a_reply_is_streamed_as_the_messages_api_does(rehearsal):
    server = rehearsal(
        "steps: [{say: Hi, tools: [{Bash: {command: ls}}], usage: {input: 7, output: 3}}]"
    )

    answer, stream = _post(server)

    events = _events(stream)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert [event["type"] for event in events] == [
        "message_start",
        "content_block_start", "content_block_delta", "content_block_stop",
        "content_block_start", "content_block_delta", "content_block_stop",
        "message_delta", "message_stop",
    ]  # fmt: skip
    assert events[0]["message"]["usage"]["input_tokens"] == 7
    assert events[4]["content_block"]["name"] == "Bash"
    assert json.loads(events[5]["delta"]["partial_json"]) == {"command": "ls"}
    assert events[7]["delta"]["stop_reason"] == "tool_use"
    assert events[7]["usage"] == {"output_tokens": 3}


def test_a_reply_that_is_not_streamed_is_one_document(rehearsal):
    server = rehearsal("steps: [Hi]")

    _, document = _post(server, {**ASKED, "stream": False})

    message = json.loads(document)
    assert message["content"] == [{"type": "text", "text": "Hi"}]
    assert (message["stop_reason"], message["usage"]["output_tokens"]) == ("end_turn", 20)


def test_a_slow_reply_comes_in_pieces_that_make_the_whole(rehearsal):
    server = rehearsal("steps: [{say: A sentence that takes its time., takes: 200ms}]")

    _, stream = _post(server)

    said = [event["delta"]["text"] for event in _events(stream) if "text" in event.get("delta", {})]
    assert len(said) > 5
    assert "".join(said) == "A sentence that takes its time."


@pytest.mark.parametrize(
    ("failure", "status", "error", "headers"),
    [
        (
            "{kind: usage_limit, in: 1h, window: seven_day}",
            429,
            "rate_limit_error",
            {
                "anthropic-ratelimit-unified-status": "rejected",
                "anthropic-ratelimit-unified-representative-claim": "seven_day",
                "anthropic-ratelimit-unified-7d-status": "rejected",
            },
        ),
        (
            "{kind: rate_limit, retry_after: 2s}",
            429,
            "rate_limit_error",
            {"retry-after": "2", "x-should-retry": "false"},
        ),
        ("overloaded", 529, "overloaded_error", {}),
        ("server_error", 500, "api_error", {}),
        (
            "{kind: http, status: 403, type: permission_error, headers: {x-a: b}}",
            403,
            "permission_error",
            {"x-a": "b"},
        ),
    ],
)
def test_an_error_has_the_status_and_headers_of_the_real_one(
    rehearsal, failure, status, error, headers
):
    server = rehearsal(f"steps: [{{fail: {failure}}}, Hi]")

    answer, document = _post(server)

    assert answer.status == status
    assert json.loads(document)["error"]["type"] == error
    assert {name: answer.headers[name] for name in headers} == headers


def test_a_good_reply_tells_of_further_windows_beside_the_one_that_counts(rehearsal):
    server = rehearsal(
        "steps: [{say: Hi, quota: {status: allowed, used: 0.2, also: [{used: 0.61, in: 2d}]}}]"
    )

    answer, _ = _post(server)

    told = {
        name.removeprefix("anthropic-ratelimit-unified-"): value
        for name, value in answer.headers.items()
        if name.startswith("anthropic-ratelimit-unified-")
    }
    of_the_week = float(told.pop("7d-reset")) - float(told.pop("5h-reset"))
    assert of_the_week == pytest.approx(47 * 3600, abs=2)
    assert told.pop("reset")
    assert told == {
        "status": "allowed",
        "representative-claim": "five_hour",
        "5h-status": "allowed",
        "5h-utilization": "0.2",
        "7d-status": "allowed",
        "7d-utilization": "0.61",
    }


def test_a_broken_stream_ends_in_the_middle_of_its_text(rehearsal):
    server = rehearsal("steps: [{fail: {kind: broken_stream, say: Half a}}, Whole.]")

    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        _post(server)

    assert b"Whole." in _post(server)[1]


def test_a_connection_can_be_reset_before_a_byte(rehearsal):
    server = rehearsal("steps: [{fail: connection_reset}, Hi]")

    with pytest.raises(ConnectionError):
        _post(server)

    assert b"Hi" in _post(server)[1]


def test_many_requests_share_one_connection(rehearsal):
    server = rehearsal("steps: [Hi]")

    with _connection(server) as connection:
        for _ in range(3):
            connection.request("POST", "/v1/messages", json.dumps(ASKED))
            assert b"Hi" in connection.getresponse().read()

    assert len(server.requests) == 3


def test_a_request_may_come_in_chunks(rehearsal):
    server = rehearsal("steps: [Hi]")
    text = json.dumps(ASKED).encode()

    with _connection(server) as connection:
        connection.request(
            "POST", "/v1/messages", iter([text[:9], text[9:]]), encode_chunked=True,
            headers={"Transfer-Encoding": "chunked"},
        )  # fmt: skip
        answer = connection.getresponse().read()

    assert b"Hi" in answer


@pytest.mark.parametrize(
    "sent", [b"nonsense\r\n\r\n", b"POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n", b"\0" * 300_000]
)
def test_a_client_that_talks_nonsense_is_hung_up_on_and_nobody_else(rehearsal, sent):
    server = rehearsal("steps: [Hi]")
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))) as client:
        client.settimeout(5)
        try:
            client.sendall(sent)
            answer = client.recv(10)
        except ConnectionError:
            answer = b""

    assert answer == b""
    assert b"Hi" in _post(server)[1]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/models", ASKED, 404),
        ("/v1/messages", {"no": "messages"}, 400),
        ("/v1/messages", [], 400),
        ("/v1/messages", BODY, 400),
        ("/v1/messages", {**BODY, "messages": ["?"]}, 400),
        ("/v1/messages", {**BODY, "messages": [{"role": "user", "content": [1]}]}, 200),
    ],
)
def test_what_cannot_be_answered_is_an_error_and_not_a_crash(rehearsal, path, body, status):
    assert _post(rehearsal("steps: [Hi]"), body, path)[0].status == status


def test_tokens_are_counted_by_the_script_or_by_size(rehearsal):
    by_script = rehearsal("count_tokens: 1234\nsteps: [Hi]")
    by_size = rehearsal("steps: [Hi]")

    counted = [_post(one, ASKED, "/v1/messages/count_tokens")[1] for one in (by_script, by_size)]

    assert json.loads(counted[0]) == {"input_tokens": 1234}
    assert json.loads(counted[1]) == {"input_tokens": len(json.dumps(ASKED)) // 4}


def test_what_was_asked_is_recorded_without_secrets(rehearsal):
    server = rehearsal("steps: [Hi]")

    _post(server, headers={"x-api-key": "sk-1", "authorization": "Bearer 2", "x-other": "3"})

    recorded = server.requests[0]
    assert (recorded.headers["x-api-key"], recorded.headers["authorization"]) == ("(hidden)",) * 2
    assert recorded.headers["x-other"] == "3"
    assert recorded.messages == ASKED["messages"]
    assert (recorded.scene, recorded.step, recorded.told) == ("scene 1", 0, "reply")


def test_a_restarted_server_reads_what_the_first_one_recorded(tmp_path):
    scenario = read_scenario("steps: [{fail: overloaded}, Hi]")
    file = tmp_path / "record.jsonl"

    async def ask():
        async with RehearsalServer(scenario, record=file) as server:
            answer, _ = await asyncio.to_thread(_post, server)
            return answer.status

    assert [asyncio.run(ask()), asyncio.run(ask())] == [529, 200]
    assert [json.loads(line)["told"] for line in file.read_text().splitlines()] == [
        "overloaded", "reply"
    ]  # fmt: skip
    assert "raw" not in json.loads(file.read_text().splitlines()[0])


def test_old_bodies_make_room_for_new_ones_and_the_news_stay(rehearsal, monkeypatch):
    monkeypatch.setattr("perpetualcc.rehearsal.records._BYTES_KEPT", 300)
    server = rehearsal("steps: [Hi]")

    for _ in range(5):
        _post(server)

    assert [bool(one.body) for one in server.requests] == [False, False, False, True, True]
    assert server.requests[0].news == ASKED["messages"]


def test_a_port_that_is_taken_is_an_error_with_a_hint():
    async def twice():
        async with RehearsalServer(read_scenario("steps: [Hi]")) as first:
            port = int(first.url.rpartition(":")[2])
            async with RehearsalServer(read_scenario("steps: [Hi]"), port=port):
                pass

    with pytest.raises(PerpetualError) as caught:
        asyncio.run(twice())

    assert caught.value.hint == "Port 0 takes a free one"


def test_twenty_conversations_at_once_each_hear_their_own_scene(rehearsal):
    scenes = [{"when": f"job {n:02}", "steps": [f"Heard {n:02}."]} for n in range(20)]
    server = rehearsal({"scenes": scenes})
    heard = {}

    def ask(n):
        asked = {**BODY, "messages": [{"role": "user", "content": f"do job {n:02}"}]}
        heard[n] = _post(server, asked)[1]

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(f"Heard {n:02}.".encode() in heard[n] for n in range(20))
