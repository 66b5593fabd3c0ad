"""An API that does not answer, or refuses: neither is a usage limit, nor the end of the work."""

import json
import socket
import time
from collections import defaultdict

import pytest

from perpetualcc.rehearsal import RehearsalServer
from perpetualcc.rehearsal.scenario import Failure, FailureKind
from perpetualcc.rehearsal.wire import failure_answer

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

    pcc.wait_for_event(session, "ApiUnanswered", within=15)

    assert time.monotonic() - before < 12
    assert "The API does not answer; it is tried again in" in pcc.pcc("status", session).stdout
    log = pcc.pcc("logs", session).stdout
    assert "(attempt 3 of 10)" in log
    assert "limit" not in log.lower()
    pcc.pcc("stop", session)


def test_an_export_that_the_daemon_does_not_know_is_said(install, closed_port):
    pcc = install("steps: [It is over.]", "--idle-exit", "60")
    pcc.pcc("list")
    quiet = pcc.pcc("start", str(pcc.project), "--task", "One", "--detach").stderr
    pcc.environment["ANTHROPIC_BASE_URL"] = closed_port

    told = pcc.pcc("start", str(pcc.project), "--task", "Two", "--detach", check=False).stderr
    doctor = pcc.pcc("doctor")
    pcc.pcc("daemon", "restart")
    after = pcc.pcc("doctor").stdout

    assert quiet == ""
    assert "without your ANTHROPIC_BASE_URL" in told
    assert "daemon restart" in told
    assert "was started without your ANTHROPIC_BASE_URL" in doctor.stdout
    assert "ANTHROPIC_BASE_URL" not in after
    assert "sk-" not in pcc.locations.steering.read_text()


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
