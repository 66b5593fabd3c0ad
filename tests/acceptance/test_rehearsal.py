"""The scripted model, played to the real Claude Code binary."""

import asyncio
import signal
import subprocess
import sys
import uuid

import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
)

from perpetualcc.rehearsal import (
    claude_environment,
    lay_out_files,
    load_scenario,
    shipped_scenario,
)

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]


async def _gate(given, *_):
    """Allow everything but a deletion."""
    forbidden = "rm -rf" in given["tool_input"].get("command", "")
    decision = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny" if forbidden else "allow",
        "permissionDecisionReason": "Deleting needs a person",
    }
    return {"hookSpecificOutput": decision}


async def _choose_first(_, given, __):
    chosen = {one["question"]: one["options"][0]["label"] for one in given.get("questions", ())}
    return PermissionResultAllow(updated_input={**given, "answers": chosen})


async def _play(project, environment, *prompts, **more):
    """Play prompts in one Claude Code process; returns each turn's result."""
    options = ClaudeAgentOptions(
        cwd=project,
        env=environment,
        setting_sources=[],
        hooks={"PreToolUse": [HookMatcher(hooks=[_gate])]},
        can_use_tool=_choose_first,
        **more,
    )
    results = []
    async with ClaudeSDKClient(options) as client:
        for prompt in prompts:
            await client.query(prompt)
            results.append([message async for message in client.receive_response()][-1])
    return results


@pytest.mark.parametrize(
    ("name", "made", "steps"),
    [
        ("demo", {"src/wordcount.py", "tests/test_wordcount.py", "build/old.txt"}, 8),
        ("question", {"DECISIONS.md"}, 3),
        ("parallel", {"notes/01.txt", "notes/20.txt"}, 22),
    ],
)
def test_a_shipped_scenario_plays_to_its_end(rehearsal, claude_world, name, made, steps):
    scenario = load_scenario(shipped_scenario(name))
    server = rehearsal(scenario, pace=0)
    lay_out_files(scenario, claude_world.project)

    results = asyncio.run(
        _play(claude_world.project, claude_world.environment(server), scenario.prompt)
    )

    assert results[0].result == scenario.scenes[0].replies[-1].say
    assert server.mismatches == []
    assert [one.steps for one in server.conversations] == [list(range(steps))]
    assert all((claude_world.project / path).exists() for path in made)


def test_sessions_at_once_play_their_own_scenes(rehearsal, claude_world):
    check_many_at_once(rehearsal, claude_world, 2)


@pytest.mark.soak
@pytest.mark.timeout(240)
def test_twenty_sessions_at_once_play_twenty_scenes(rehearsal, claude_world):
    check_many_at_once(rehearsal, claude_world, 20)


def check_many_at_once(rehearsal, world, count):
    scenes = [
        {
            "when": f"job {n:02}",
            "steps": [
                {"repeat": 3, "tools": [{"Bash": {"command": f"echo {{n}} >> {n:02}.txt"}}]},
                f"Job {n:02} is done.",
            ],
        }
        for n in range(count)
    ]
    server = rehearsal({"scenes": scenes})
    environment = world.environment(server)

    async def all_at_once():
        plays = [_play(world.project, environment, f"Do job {n:02}") for n in range(count)]
        return await asyncio.gather(*plays)

    results = asyncio.run(all_at_once())

    assert [one[0].result for one in results] == [f"Job {n:02} is done." for n in range(count)]
    assert [one.steps for one in server.conversations] == [[0, 1, 2, 3]] * count
    assert (world.project / "00.txt").read_text() == "1\n2\n3\n"


def test_a_compacted_conversation_goes_on_at_its_step(rehearsal, claude_world):
    server = rehearsal("steps: [{tools: [{Bash: {command: ls}}]}, One., Two., Three.]")
    environment = claude_world.environment(server)

    results = asyncio.run(
        _play(claude_world.project, environment, "go", "more", "/compact", "and more")
    )

    assert [one.result for one in results] == ["One.", "Two.", "", "Three."]
    assert server.overflows == []


def test_a_server_that_is_killed_and_started_again_goes_on_at_the_right_step(
    claude_world, tmp_path
):
    scenario = tmp_path / "story.yaml"
    scenario.write_text("steps: [{tools: [{Bash: {command: ls}}]}, One., {fail: overloaded}, Two.]")
    record = tmp_path / "record.jsonl"
    chosen = str(uuid.uuid4())

    def play(port, prompt, **more):
        command = [sys.executable, "-m", "perpetualcc.rehearsal", str(scenario), "--port", port]
        server = subprocess.Popen(
            [*command, "--record", str(record)], stdout=subprocess.PIPE, text=True
        )
        with server:
            url = server.stdout.readline().strip()
            environment = claude_environment(url, claude_world.home)
            results = asyncio.run(_play(claude_world.project, environment, prompt, **more))
            server.send_signal(signal.SIGKILL)
        return url.rpartition(":")[2], results[0].result

    port, first = play("0", "go", session_id=chosen)
    _, second = play(port, "more", resume=chosen)

    assert (first, second) == ("One.", "Two.")


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("steps: [a, b]", 0, "story: 2 replies\n"),
        ("steps: [a]", 0, "story: 1 reply\n"),
        ("steps: [{sya: a}]", 1, ""),
    ],
)
@pytest.mark.parametrize("command", ["perpetualcc.rehearsal", "perpetualcc rehearse"])
def test_a_scenario_can_be_checked_without_playing_it(tmp_path, command, text, code, said):
    path = tmp_path / "story.yaml"
    path.write_text(text)

    checked = subprocess.run(
        [sys.executable, "-m", *command.split(), "--check", str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (checked.returncode, checked.stdout) == (code, said)
    assert code == 0 or checked.stderr == (
        f"error: {path}, line 1: unknown key `sya` in a step\nhint:  Did you mean `say`?\n"
    )
