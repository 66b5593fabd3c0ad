"""
A scripted session of 200 tool calls on the bare SDK, with a gate that allows everything.

`bare_sdk_seconds` is what a supervised session is held against; here it shows that the scripted
model is not what takes the time.
"""

import asyncio
import http.client
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.result import Result
from perpetualcc.rehearsal import RehearsalServer, Scenario, isolated_world, read_scenario

CALLS = 200
PROMPT = "Write and read a hundred files"


def scenario_of_calls(calls: int = CALLS) -> Scenario:
    """A scene of so many tool calls, half of them `Write` and half `Read`, one a reply."""
    file = "{project}/notes/{n:03}.txt"
    pair = [
        {"tools": [{"Write": {"file_path": file, "content": "note {n}\n"}}]},
        {"tools": [{"Read": {"file_path": file}}]},
    ]
    return read_scenario({"steps": [{"repeat": calls // 2, "steps": pair}, "All is written."]})


OWN_PROMPT = {"system_prompt": {"type": "preset", "preset": "claude_code"}}
"""Options of the SDK for Claude Code with its own prompt. The bare runs have the SDK's defaults: an
empty prompt, and the settings and memory files that Claude Code looks for by itself. Without these
(`setting_sources=[]`, the SDK's isolation mode) a call takes some milliseconds less."""


def bare_sdk_seconds(scenario: Scenario, project: Path, **options: Any) -> float:
    """Wall time from before the client connects until it is disconnected, in seconds."""
    return asyncio.run(_measure(scenario, project, **options))[0]


async def _measure(scenario: Scenario, project: Path, **options: Any) -> tuple[float, float]:
    """Seconds of the session, and of asking the server its questions again without Claude."""
    with tempfile.TemporaryDirectory() as home:
        async with RehearsalServer(scenario) as server:
            world = isolated_world(server.url, Path(home) / "home")
            started = time.perf_counter()
            await _play(project, world.overlay, options)
            session = time.perf_counter() - started
            asked = [one.raw for one in server.requests]
            again = await asyncio.to_thread(_ask_again, server.url, asked)
    if server.overflows or len(asked) != len(scenario.scenes[0].replies):
        message = f"the session asked {len(asked)} times and not once for each reply"
        raise RuntimeError(message)
    return session, again


async def _play(project: Path, environment: dict[str, str], more: dict[str, Any]) -> None:
    from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, HookMatcher

    async def allow(*_: Any) -> Any:
        decision = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
        return {"hookSpecificOutput": decision}

    options = ClaudeAgentOptions(
        cwd=project,
        env=environment,
        hooks={"PreToolUse": [HookMatcher(hooks=[allow])]},
        **more,
    )
    async with ClaudeSDKClient(options) as client:
        await client.query(PROMPT)
        async for _ in client.receive_response():
            pass


def _ask_again(url: str, bodies: list[bytes]) -> float:
    started = time.perf_counter()
    with closing(http.client.HTTPConnection(url.removeprefix("http://"))) as connection:
        for body in bodies:
            connection.request("POST", "/v1/messages", body)
            connection.getresponse().read()
    return time.perf_counter() - started


def run() -> list[Result]:
    """Measure one session of 200 tool calls."""
    with tempfile.TemporaryDirectory() as project:
        session, again = asyncio.run(_measure(scenario_of_calls(), Path(project)))
    return [
        Result(
            name="scripted model's share of a session of 200 tool calls",
            value=again / session,
            unit="of the wall time",
            limit=0.15,
            note=f"session {session:.2f} s on the bare SDK, server {again:.2f} s",
        )
    ]
