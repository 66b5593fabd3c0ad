"""
One supervised Claude Code process, over the SDK's client.

Every tool call is held at the gate until it is answered. `allowed_tools` stays empty, because that
list means *allow without asking*.
"""

import asyncio
import json
import logging
import os
import re
import signal
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import claude_agent_sdk as sdk

from perpetualcc.agent.inbox import (
    Arrival,
    BackgroundBegan,
    BackgroundChanged,
    Gone,
    Inbox,
    MessageEnded,
    ToolEnded,
    TurnEnded,
)
from perpetualcc.agent.ports import Launch
from perpetualcc.claude import messages, processes, prompts
from perpetualcc.claude.binary import bundled_claude
from perpetualcc.claude.ends import explained
from perpetualcc.claude.gate import Gate
from perpetualcc.claude.launcher import write_launcher
from perpetualcc.claude.layers import Layers
from perpetualcc.claude.tools import OWN_SERVER, Tool, serve
from perpetualcc.domain.decisions import Decision
from perpetualcc.domain.errors import ProjectGoneError, first_cause
from perpetualcc.domain.ids import MessageId, RequestId

log = logging.getLogger(__name__)

_HOLD = timedelta(days=2)
"""How long Claude Code waits for our answer; held for 90 s in measurements without complaint."""
_PATIENCE = timedelta(seconds=5)
"""For an answer about the context, and to an interrupt; 0.08 s were measured."""
_PATIENCE_WITH_COST = timedelta(seconds=1)
"""2 ms were measured, and 60 ms while it works."""
_TRIES = 5
"""To learn what a conversation had cost before: a crowded machine may take longer."""
_COST = re.compile(r"cost:\s+\$(\d+(?:\.\d+)?)")
_TOO_LATE = "nothing is heard of it for a minute; a SessionStart hook of its settings may hang"
_LOOK = 0.1
"""Seconds between two looks whether a process that should begin to speak still lives."""
_LAST_WORDS = 0.5
"""Seconds in which what it wrote before its end comes through."""
_LARGEST_MESSAGE = 64 * 1024 * 1024
"""Bytes. A tool result may hold a whole file; the SDK's default of 1 MB would end the run."""


_NOT_HERE = {"CLAUDE_CODE_RETRY_WATCHDOG": ""}
"""Empty is absent (measured on 2.1.330). Whoever sets it has Claude Code wait for limits itself: in
a process, in silence, and asking the account again and again."""

_NOT_OFFERED = ["EnterPlanMode"]
"""In plan mode (2.1.332) Claude Code keeps every writing call for the person who agrees to the
plan: where nobody is there, all that follows is refused. `pcc start --plan` plans instead."""

Started = Callable[[int], Awaitable[None]]
"""Told the process id once the process runs, before the first prompt is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeSettings:
    """How Claude Code is run."""

    binary: Path | None = None
    """Default: the one that came with the SDK."""
    run_dir: Path
    """Where the launcher script lives."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to our own environment."""
    layers: Layers = field(default_factory=Layers)
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """Ours, for this run's Claude."""


class ClaudeCodeAdapter:
    """
    One client, owned by one task from connect to disconnect (the SDK demands it).

    Use `open_claude`: it makes the task, and ends the process however the caller leaves.
    """

    def __init__(
        self, launch: Launch, inbox: Inbox, settings: ClaudeSettings, started: Started
    ) -> None:
        self._started = started
        self._launch = launch
        self._inbox = inbox
        self._settings = settings
        self._gate = Gate(inbox)
        self._stderr: deque[str] = deque(maxlen=40)
        self._client: sdk.ClaudeSDKClient | None = None
        self._until: asyncio.Timeout | None = None
        self._leaving = False
        self._is_working = True
        """A turn is under way, or about to be."""
        self._over = False
        self._said: set[str] = set()
        """Messages that no turn has taken in yet: one is about to."""
        self._cost_before = 0.0
        """Dollars of the conversation before this process, which its totals include."""

    async def stream(self) -> None:
        """Connect, deliver everything to the inbox, disconnect. Ends with `Gone`, always."""
        error = ""
        try:
            client = sdk.ClaudeSDKClient(self._options())
            async with _connected(client):
                self._client = client
                await self._started(self.pid or 0)
                await self._begin_count()
                self._gate.hooks.listed(await self._told("get_hooks_listing", _PATIENCE) or {})
                await client.query(prompts.one(self._launch.prompt, self._launch.message))
                await self._deliver(client)
        except sdk.ClaudeSDKError as problem:
            error = explained(problem, self._stderr)
        finally:
            self._over = True
            self._client = None
            self._inbox.put(Gone(error="" if self._leaving else error))

    async def _deliver(self, client: sdk.ClaudeSDKClient) -> None:
        """
        Translate messages until the process ends or `leave` is called.

        Raises ClaudeSDKError, also for what neither the SDK nor we understand.
        """
        try:
            async with asyncio.timeout(0 if self._leaving else None) as self._until:
                async for message in prompts.all_messages(client):
                    if isinstance(message, sdk.HookEventMessage):
                        self._gate.hooks.saw(message.data)
                    for arrival in messages.arrivals(message):
                        self._note(arrival)
                        self._inbox.put(self._of_this_process(arrival))
        except TimeoutError:
            if not self._leaving:
                raise
        except (LookupError, ValueError, TypeError, RecursionError) as problem:
            log.exception("what Claude Code says is not understood")
            what = f"{type(problem).__name__}: {problem}"
            raise sdk.ClaudeSDKError(f"Claude Code does not speak as it should: {what}") from None

    def _note(self, arrival: Arrival) -> None:
        """What `leave` and the gate go by."""
        if isinstance(arrival, ToolEnded):
            self._gate.ended(arrival.request)
        if isinstance(arrival, TurnEnded):
            self._said.difference_update(arrival.heard)
        if not isinstance(arrival, BackgroundChanged | BackgroundBegan | MessageEnded):
            self._is_working = not isinstance(arrival, TurnEnded)

    def leave(self) -> None:
        """
        Ask the owning task to disconnect, from any task.

        In mid-turn the process is ended first, and what it holds is never answered: a refusal
        would let it go on for the seconds that disconnecting takes, and believe it was refused.
        """
        self._leaving = True
        if (self._is_working or self._said) and self.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)
        if self._until is not None and not self._over:
            self._until.reschedule(asyncio.get_running_loop().time())

    async def respond_permission(
        self, request: RequestId, decision: Decision, *, is_last: bool = False
    ) -> None:
        self._gate.respond(request, decision, is_last=is_last)

    async def respond_answer(self, request: RequestId, answers: Mapping[str, str]) -> None:
        self._gate.answer(request, {"answers": dict(answers)})

    async def interrupt(self) -> None:
        if self._client is not None:
            try:
                async with asyncio.timeout(_PATIENCE.total_seconds()):
                    await prompts.interrupt(self._client)
            except Exception as error:  # noqa: BLE001  # the SDK raises bare ones
                log.info("Claude Code is not interrupted, it ends or hangs: %r", error)

    async def say(self, text: str, message: MessageId) -> None:
        if self._client is None or self._leaving:
            return
        self._said.add(message)
        try:
            async with asyncio.timeout(_PATIENCE.total_seconds()):
                await self._client.query(prompts.one(text, message, is_typed=True))
        except Exception as error:  # noqa: BLE001  # the SDK raises bare ones
            log.info("Claude Code takes no word, it ends or hangs: %r", error)

    def remind(self, text: str) -> None:
        self._gate.reminder = text

    async def context_window(self) -> int | None:
        if self._client is None:
            return None
        try:
            async with asyncio.timeout(_PATIENCE.total_seconds()):
                usage = await self._client.get_context_usage()
        except Exception as error:  # noqa: BLE001  # the SDK raises bare ones
            log.info("Claude Code does not tell its window: %r", error)
            return None
        return int(usage.get("rawMaxTokens") or usage.get("maxTokens") or 0) or None

    async def _begin_count(self) -> None:
        """Of a conversation that goes on, whose count does: an unknown beginning is paid twice."""
        launch = self._launch
        for _ in range(_TRIES if launch.resume or launch.copies else 0):
            if (counted := await self._counted_usd()) is not None:
                self._cost_before = counted
                return

    async def cost_usd(self) -> float | None:
        counted = await self._counted_usd()
        return None if counted is None else max(0.0, counted - self._cost_before)

    async def _counted_usd(self) -> float | None:
        """To the cent, from $0.50 on: all that Claude Code tells before a turn has ended."""
        told = await self._told("get_session_cost", _PATIENCE_WITH_COST) or {}
        found = _COST.search(str(told.get("text")))
        return float(found[1]) if found else None

    async def _told(self, what: str, patience: timedelta) -> dict[str, Any] | None:
        """What Claude Code tells of itself, where the SDK has no method for it."""
        query = getattr(self._client, "_query", None)
        if query is None:
            return None
        try:
            async with asyncio.timeout(patience.total_seconds()):
                told = await query._send_control_request({"subtype": what})  # noqa: SLF001
        except Exception as error:  # noqa: BLE001  # the SDK raises bare ones
            log.info("Claude Code does not answer %s: %r", what, error)
            return None
        return dict(told)

    def _of_this_process(self, arrival: Arrival) -> Arrival:
        if not isinstance(arrival, TurnEnded):
            return arrival
        return replace(arrival, cost_usd=max(0.0, arrival.cost_usd - self._cost_before))

    @property
    def pid(self) -> int | None:
        return getattr(_process(self._client), "pid", None)

    @property
    def is_stopped(self) -> bool:
        return self.pid is not None and processes.is_stopped(self.pid)

    def _options(self) -> sdk.ClaudeAgentOptions:
        launch, settings = self._launch, self._settings
        options = launch.session.options
        return sdk.ClaudeAgentOptions(
            cwd=launch.session.project,
            resume=launch.claude_session if launch.resume else launch.copies,
            session_id=None if launch.resume else launch.claude_session,
            fork_session=launch.copies is not None,
            cli_path=write_launcher(settings.run_dir, settings.binary or bundled_claude()),
            env={**_NOT_HERE, **settings.environment},
            model=options.claude_model or None,
            max_turns=options.max_turns,
            permission_mode="default",
            disallowed_tools=_NOT_OFFERED,
            setting_sources=list(settings.layers.sources),  # type: ignore[arg-type]
            strict_mcp_config="project" not in settings.layers.sources,
            settings=json.dumps(
                {**settings.layers.settings(), "autoCompactEnabled": launch.may_compact}
            ),
            system_prompt=settings.layers.system_prompt,  # type: ignore[arg-type]
            mcp_servers=serve(OWN_SERVER, settings.tools),
            hooks={
                "PreToolUse": [
                    sdk.HookMatcher(
                        hooks=[self._gate.pre_tool_use],
                        timeout=_HOLD.total_seconds(),
                        on_failure="block",
                    )
                ],
                "ConfigChange": [sdk.HookMatcher(hooks=[_keep_settings])],  # type: ignore[dict-item]
            },
            can_use_tool=self._gate.can_use_tool,
            include_hook_events=True,
            stderr=self._stderr.append,
            max_buffer_size=_LARGEST_MESSAGE,
        )


async def _keep_settings(_data: Any, _tool_use_id: str | None, _context: Any) -> Any:
    """
    Claude Code (2.1.330) takes settings and skills that change while it runs at once, and with
    them the hooks, the account's address and the environment: unless this callback says no.
    """
    return {"decision": "block", "reason": "A run keeps the settings that it began with"}


@asynccontextmanager
async def _connected(client: sdk.ClaudeSDKClient) -> AsyncIterator[None]:
    """
    Connect, and disconnect at the end.

    Raises sdk.ClaudeSDKError: it does not start. One that ends without a word is noticed at
    once; the SDK would wait a minute for it.
    """
    loop, has_spoken = asyncio.get_running_loop(), asyncio.Event()
    try:
        async with asyncio.timeout(None) as until:

            def look() -> None:
                if has_spoken.is_set():
                    return
                if getattr(_process(client), "returncode", None) is None:
                    loop.call_later(_LOOK, look)
                else:
                    until.reschedule(loop.time() + _LAST_WORDS)

            loop.call_later(_LOOK, look)
            try:
                await client.connect()
            finally:
                has_spoken.set()
    except TimeoutError as error:
        raise sdk.CLIConnectionError("Claude Code ended before it said a word") from error
    except sdk.ClaudeSDKError:
        raise
    except Exception as error:  # the SDK raises bare ones: `Control request timeout: initialize`
        why = _TOO_LATE if "timeout: initialize" in str(error) else str(error)
        raise sdk.CLIConnectionError(f"Claude Code does not start: {why}") from error
    try:
        yield
    finally:
        await client.disconnect()


def _process(client: sdk.ClaudeSDKClient | None) -> Any:
    """The SDK's process; None before it was started."""
    return getattr(getattr(client, "_transport", None), "_process", None)


@asynccontextmanager
async def open_claude(
    launch: Launch, inbox: Inbox, settings: ClaudeSettings, started: Started
) -> AsyncIterator[ClaudeCodeAdapter]:
    """
    Start Claude Code and own it: leaving this context ends the process.

    Raises:
        ProjectGoneError: the project's directory is not there.
    """
    if not os.path.isdir(launch.session.project):  # noqa: PTH112  # False, whatever is wrong
        raise ProjectGoneError(launch.session.project)
    adapter = ClaudeCodeAdapter(launch, inbox, settings, started)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(adapter.stream(), name=f"claude {launch.run}")
            try:
                yield adapter
            finally:
                adapter.leave()
    except BaseExceptionGroup as group:  # whoever works with Claude knows nothing of our task
        raise first_cause(group) from None
