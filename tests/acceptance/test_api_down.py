"""An API that does not answer, or refuses: neither is a usage limit, nor the end of the work."""

import json
import socket
import time
from collections import defaultdict

import pytest

from perpetualcc.rehearsal import RehearsalServer
from perpetualcc.rehearsal.scenario import Failure, FailureKind
from perpetualcc.rehearsal.wire import Answer, error_answer, failure_answer
from tests.acceptance.supervised import ENDED

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]


@pytest.fixture
def closed_port():
    """An address at which nobody listens, and nobody else begins to."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_an_api_that_does_not_answer_is_told_of_in_seconds(install, closed_port):
    pcc = install("steps: [Never.]", "--idle-exit", "60")
    pcc.environment["ANTHROPIC_BASE_URL"] = closed_port
    session = pcc.start("Anything")
    pcc.wait_for_event(session, "RunInitialized")
    before = time.monotonic()

    pcc.wait_for_event(session, "ApiUnanswered", within=40)

    assert time.monotonic() - before < 30
    assert "The API does not answer; it is tried again in" in pcc.pcc("status", session).stdout
    log = pcc.pcc("logs", session).stdout
    assert "(attempt 3 of 10)" in log
    assert "limit" not in log.lower()
    pcc.pcc("stop", session)


def test_a_claude_that_only_waits_to_ask_the_api_again_holds_up_no_stop(install, closed_port):
    pcc = install("steps: [It is over.]", "--idle-exit", "60")
    server = pcc.environment["ANTHROPIC_BASE_URL"]
    pcc.environment["ANTHROPIC_BASE_URL"] = closed_port
    session = pcc.start("Anything")
    pcc.wait_for_event(session, "ApiUnanswered", within=40)
    before = time.monotonic()

    pcc.pcc("daemon", "stop")

    assert time.monotonic() - before < 15, "its grace is 30 seconds"
    assert pcc.claudes() == []
    pcc.environment["ANTHROPIC_BASE_URL"] = server
    pcc.pcc("daemon", "start")
    assert pcc.wait(session)["status"] == "COMPLETED"


def test_an_export_that_the_daemon_does_not_know_is_said(install, closed_port):
    pcc = install("steps: [It is over.]", "--idle-exit", "60")
    pcc.pcc("list")
    quiet = pcc.pcc("start", str(pcc.project), "--task", "One", "--at", "9pm", "--detach").stderr
    pcc.environment["ANTHROPIC_BASE_URL"] = closed_port

    told = pcc.pcc("start", str(pcc.project), "--task", "Two", "--detach", check=False).stderr
    doctor = pcc.pcc("doctor")
    pcc.pcc("daemon", "restart")
    after = pcc.pcc("doctor").stdout

    assert quiet.startswith("note: Nobody waits for it: ")
    assert quiet.count("\n") == 1
    assert "without your ANTHROPIC_BASE_URL" in told
    assert "daemon restart" in told
    assert "was started without your ANTHROPIC_BASE_URL" in doctor.stdout
    assert "ANTHROPIC_BASE_URL" not in after
    assert "sk-" not in pcc.locations.steering.read_text()


def test_a_daemon_that_has_nothing_to_do_takes_an_export_over_by_itself(install, closed_port):
    pcc = install("steps: [It is over.]", "--idle-exit", "60")
    pcc.wait(pcc.start("One"))
    before = pcc.supervisor
    pcc.environment["ANTHROPIC_BASE_URL"] = closed_port

    told = pcc.pcc("start", str(pcc.project), "--task", "Two", "--detach").stderr

    assert told.endswith(
        "note: The daemon had nothing to do and was started anew, with your ANTHROPIC_BASE_URL\n"
    )
    assert pcc.supervisor not in {None, before}
    assert "Environment" not in pcc.pcc("doctor").stdout


def test_an_export_is_only_told_of_where_the_daemon_would_lose_another(install, closed_port):
    pcc = install("steps: [It is over.]", "--idle-exit", "60")
    pcc.environment["HTTPS_PROXY"] = "http://127.0.0.1:9"
    pcc.wait(pcc.start("One"))
    before = pcc.supervisor
    del pcc.environment["HTTPS_PROXY"]
    pcc.environment["ANTHROPIC_BASE_URL"] = closed_port

    told = pcc.pcc("start", str(pcc.project), "--task", "Two", "--detach").stderr

    assert "without your ANTHROPIC_BASE_URL" in told
    assert pcc.supervisor == before


def test_a_terminal_that_is_signed_in_is_not_the_daemon(install):
    pcc = install("steps: [It is over.]", "--idle-exit", "60")
    key = pcc.environment.pop("ANTHROPIC_API_KEY")
    pcc.pcc("list")
    pcc.environment["ANTHROPIC_API_KEY"] = key

    found = pcc.pcc("doctor", check=False)

    assert found.returncode == 1
    assert "✗ Signed in to Claude: only this terminal is (api_key); the daemon" in found.stdout
    assert "your ANTHROPIC_API_KEY: pcc daemon restart" in found.stdout
    assert pcc.pcc("daemon", "restart").stdout.startswith(
        "The daemon was started anew (supervisor "
    )
    assert "✓ Signed in to Claude: api_key" in pcc.pcc("doctor").stdout


WRITE = """
steps:
  - say: I begin.
    tools: [{Write: {file_path: "{project}/src/one.py", content: "n = 1"}}]
  - It is written.
"""


class Refusing(RehearsalServer):
    """Of each conversation it refuses what `refuses` says of it and the number of its refusals."""

    refusal: Failure

    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        self.refused: dict[str, int] = defaultdict(int)

    async def _answer(self, request):
        if request.path != "/v1/messages" or not request.json().get("tools"):
            return await super()._answer(request)
        body = request.json()
        conversation = json.loads(body["metadata"]["user_id"])["session_id"]
        if len(body["messages"]) >= 3 and self.refuses(conversation):
            self.refused[conversation] += 1
            return failure_answer(self.refusal, resets_at=0, model="", message_id="")
        return await super()._answer(request)


class Poisoned(Refusing):
    """What the first conversation holds is refused, whoever sends it."""

    refusal = Failure(kind=FailureKind.HTTP, message="tool_use ids were found without tool_result")

    def refuses(self, conversation):
        return conversation == next(iter(self.refused), conversation)


class Renewed(Refusing):
    """The sign-in is refused, and then another process has renewed it."""

    refusal = Failure(
        kind=FailureKind.HTTP, status=403, type="permission_error", message="Request not allowed"
    )

    def refuses(self, conversation):
        return self.refused[conversation] == 0


def test_a_conversation_that_the_api_refuses_is_left_and_its_work_goes_on(install, servers):
    pcc = install(WRITE, server_of=Poisoned)

    session = pcc.start("Write it")

    found = pcc.wait(session, within=60)
    assert found["status"] == "COMPLETED", found["detail"]
    assert len(servers[0].refused) == 1
    [due] = pcc.events(session, "HandoverDue")
    assert "tool_use ids" in due["reason"]


def test_a_sign_in_that_is_refused_once_wakes_nobody(install):
    pcc = install(WRITE, server_of=Renewed)

    session = pcc.start("Write it")

    found = pcc.wait(session, within=90)
    assert found["status"] == "COMPLETED", found["detail"]
    assert pcc.events(session, "EscalationRaised") == []


BEGUN = "".join(
    f"event: {kind}\ndata: {json.dumps({'type': kind} | data)}\n\n"
    for kind, data in [
        (
            "message_start",
            {
                "message": {
                    "id": "msg_1",
                    "type": "message",
                    "role": "assistant",
                    "model": "claude-sonnet-4-5",
                    "content": [],
                    "stop_reason": None,
                    "usage": {"input_tokens": 9, "output_tokens": 1},
                }
            },
        ),
        ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
        ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "I beg"}}),
        ("content_block_stop", {"index": 0}),
        ("error", {"error": {"type": "overloaded_error", "message": "Overloaded"}}),
    ]
)


class Failing(RehearsalServer):
    """Every request of the story is answered with what is no reply."""

    answer: Answer

    async def _answer(self, request):
        is_ours = request.path == "/v1/messages" and request.json().get("tools")
        return self.answer if is_ours else await super()._answer(request)


class LoginPage(Failing):
    """A network that wants a person at a browser first."""

    answer = Answer(headers={"content-type": "text/html"}, pieces=[(0.0, b"<html>Sign in</html>")])


class OverloadedInMidReply(Failing):
    """Its answer is a good one until the error comes in it."""

    answer = Answer(
        headers={"content-type": "text/event-stream"},
        pieces=[(0.0, BEGUN.encode())],
    )


class Broken(Failing):
    """An error of its own."""

    answer = error_answer(500, "api_error", "Internal server error")


@pytest.mark.parametrize(
    ("server_of", "waits_for"),
    [
        (LoginPage, "the server cannot be reached"),
        (OverloadedInMidReply, "the server is overloaded or fails"),
        (Broken, "the server is overloaded or fails"),
    ],
)
def test_what_ails_the_server_or_the_way_to_it_is_waited_out(install, server_of, waits_for):
    pcc = install("steps: [Never.]", server_of=server_of)
    pcc.environment["CLAUDE_CODE_MAX_RETRIES"] = "1"

    session = pcc.start("Write it")

    waiting = pcc.wait(session, "RATE_LIMITED", *ENDED, within=60)
    assert (waiting["status"], waiting["detail"]) == ("RATE_LIMITED", waits_for)
    assert waiting["tasks"][0]["attempts"] == 0
