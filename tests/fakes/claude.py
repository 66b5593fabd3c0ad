"""
Claude Code without Claude Code: works through steps, and has an account with a window.

All it knows is in files, so it survives whatever is killed: a conversation's place, the account's
window, and the steps that were done.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from perpetualcc.agent.inbox import (
    Gone,
    LimitReported,
    Said,
    Started,
    ToolEnded,
    ToolWanted,
    TroubleReported,
    TurnEnded,
)
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.decisions import Verdict
from perpetualcc.domain.ids import RequestId

TOKENS = 1000
"""Of each reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeClaudes:
    """`agent.ports.Claudes`. Each task takes `steps` replies; a window allows `allowed`."""

    folder: Path
    clock: Clock
    steps: int = 5
    allowed: int = 4
    window: float = 5 * 3600.0

    @asynccontextmanager
    async def open(self, launch, inbox) -> AsyncIterator["FakeClaude"]:
        claude = FakeClaude(claudes=self, launch=launch, inbox=inbox)
        async with asyncio.TaskGroup() as tasks:
            playing = tasks.create_task(claude.play())
            try:
                yield claude
            finally:
                playing.cancel()

    async def can_resume(self, session, conversation) -> bool:
        return self.file(conversation).exists()

    def file(self, conversation: str) -> Path:
        return self.folder / f"{conversation}.json"

    def write(self, path: Path, value) -> None:
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(value))
        draft.replace(path)

    def resets_at(self) -> float | None:
        """Use one reply of the account's window; the reset when there is none left."""
        path, now = self.folder / "account", self.clock.now()
        start, used = json.loads(path.read_text()) if path.exists() else (now, 0)
        # The account's own clock never goes back, whatever this machine's does.
        if now >= start + self.window:
            start, used = now, 0
        if used >= self.allowed:
            return start + self.window
        self.write(path, [start, used + 1])
        return None


@dataclass(slots=True, kw_only=True)
class FakeClaude:
    """One process."""

    claudes: FakeClaudes
    launch: object
    inbox: object
    _answer: asyncio.Event = field(default_factory=asyncio.Event)
    _stop: bool = False
    _is_last: bool = False
    is_stopped: bool = False

    async def play(self) -> None:
        put, claudes, launch = self.inbox.put, self.claudes, self.launch
        path = claudes.file(launch.claude_session)
        place = json.loads(path.read_text()) if path.exists() else 0
        claudes.write(path, place)
        put(Started(model="fake", permission_mode="default"))
        used = 0
        while place < claudes.steps and not self._stop:
            if (resets_at := claudes.resets_at()) is not None:
                put(LimitReported(status="rejected", window="five_hour", resets_at=resets_at))
                put(TroubleReported(kind="rate_limit", text="You've hit your 5-hour limit"))
                put(self._ended(used, is_error=True, result="limit"))
                return
            used += TOKENS
            put(Said(text=f"Step {place}", message=f"m{place}", tokens_fresh=TOKENS))
            request = RequestId(f"{launch.run}-{place}")
            given = {"file_path": f"{launch.session.project}/src/step_{place}.py", "content": "x"}
            self._answer.clear()
            put(ToolWanted(request=request, tool="Write", input=given))
            await self._answer.wait()
            if self._stop:
                break
            place += 1
            claudes.write(path, place)
            put(ToolEnded(request=request, is_error=False))
            if self._is_last:
                break
            await asyncio.sleep(0.005)
        put(self._ended(used, is_error=self._stop, result="Finished"))

    def _ended(self, used: int, *, is_error: bool, result: str) -> TurnEnded:
        return TurnEnded(is_error=is_error, subtype="success", result=result, tokens_in=used)

    async def respond_permission(self, request, decision, *, is_last=False) -> None:
        assert decision.verdict is Verdict.ALLOW, decision
        self._is_last = is_last
        self._answer.set()

    async def respond_answer(self, request, answers) -> None: ...

    async def say(self, text, message) -> None: ...

    async def interrupt(self) -> None:
        self._stop = True
        self._answer.set()

    def remind(self, text: str) -> None: ...

    async def context_window(self) -> int | None:
        return 200_000

    async def cost_usd(self) -> float | None:
        return 0.0

    def leave(self) -> None:
        self.inbox.put(Gone())
