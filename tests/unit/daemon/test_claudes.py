"""Claude Code starts only where it can, and nothing of a run outlives it."""

import asyncio
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from perpetualcc.agent.inbox import Inbox
from perpetualcc.agent.ports import Launch
from perpetualcc.claude import processes
from perpetualcc.daemon.claudes import ClaudeRunner
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import ClaudeSessionId, RunId, SessionId
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session, SessionOptions

RUN = RunId("r-1")


def launch(project: Path) -> Launch:
    session = Session(
        id=SessionId("abc123"),
        name="mine",
        project=project,
        status=SessionStatus.PROCESSING,
        options=SessionOptions(),
        created_at=0,
        updated_at=0,
    )
    conversation = ClaudeSessionId("c")
    return Launch(session=session, run=RUN, claude_session=conversation, resume=False, prompt="x")


def runner(tmp_path: Path, binary: Path | None) -> ClaudeRunner:
    async def started(run: RunId, pid: int) -> None: ...

    async def nothing(*_: object) -> None:
        pytest.fail("it must not come so far")

    return ClaudeRunner(
        Locations(data=tmp_path / "data").prepare(),
        binary=binary,
        started=started,
        model_for=nothing,
        is_intact=nothing,
        layers=nothing,
        tools=nothing,
        watching=lambda _launch, _inbox: nullcontext(),
    )


@pytest.mark.parametrize("kind", ["missing", "a directory", "not executable"])
def test_a_claude_code_that_is_none_is_an_error_with_a_hint(tmp_path, kind):
    binary = tmp_path / "claude"
    if kind == "a directory":
        binary.mkdir()
    elif kind == "not executable":
        binary.write_text("")

    async def scene():
        async with runner(tmp_path, binary).open(launch(tmp_path), Inbox()):
            pytest.fail("it must not start")

    with pytest.raises(PerpetualError, match=f"Claude Code (is not )?at '{binary}'") as caught:
        asyncio.run(scene())

    hint = "chmod u+x" if kind == "not executable" else "pcc config set claude.binary"
    assert hint in caught.value.hint


def test_what_a_run_leaves_behind_is_ended_with_it(tmp_path):
    claudes = runner(tmp_path, None)
    data = tmp_path / "data"

    def left_behind(run: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(60)"],
            env={**os.environ, **processes.mark(data, RunId(run))},
        )

    mine, other = left_behind(RUN), left_behind("r-2")
    try:
        claudes._end(RUN)

        assert mine.wait(timeout=5) < 0
        assert other.poll() is None
    finally:
        for process in (mine, other):
            process.kill()
            process.wait()
