"""The scripted model, played to the real Claude Code binary."""

import asyncio
from pathlib import Path

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, HookMatcher, ResultMessage

pytestmark = pytest.mark.claude

STORY = """
steps:
  - say: I write it.
    tools:
      - Write: {file_path: "{project}/a.txt", content: hello}
  - tools:
      - Read: {file_path: "{project}/a.txt"}
      - Bash: {command: ls}
    expect: created
  - All done.
"""


async def _allow(*_):
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    return {"hookSpecificOutput": decision}


async def _play(project: Path, environment: dict[str, str]) -> ResultMessage:
    options = ClaudeAgentOptions(
        cwd=project,
        env=environment,
        setting_sources=[],
        hooks={"PreToolUse": [HookMatcher(hooks=[_allow])]},
    )
    async with ClaudeSDKClient(options) as client:
        await client.query("Write a file")
        return [message async for message in client.receive_response()][-1]


def test_the_real_claude_code_plays_a_scene_to_its_end(rehearsal, claude_world):
    server = rehearsal(STORY)

    result = asyncio.run(_play(claude_world.project, claude_world.environment(server)))

    assert result.result == "All done."
    assert (claude_world.project / "a.txt").read_text() == "hello"
    assert server.mismatches == []
    assert [one.steps for one in server.conversations] == [[0, 1, 2]]
