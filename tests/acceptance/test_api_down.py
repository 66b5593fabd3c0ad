"""An API that nobody answers for is told of within seconds, and is no usage limit."""

import socket
import time

import pytest

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
