"""
What Claude Code really does, as far as the engine relies on it (measured on 2.1.330).

A new version of Claude Code that changes one of these facts fails here, and not in somebody's
night shift.
"""

import asyncio
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import claude_agent_sdk
import pytest
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    RateLimitEvent,
    ResultMessage,
    SystemMessage,
    UserMessage,
)

from perpetualcc.claude import prompts
from perpetualcc.claude.adapter import _COST
from perpetualcc.claude.layers import Layers
from perpetualcc.claude.transcripts import messages_in
from perpetualcc.domain.ids import new_message_id
from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.permissions.static_rules import ask_rules, deny_rules
from perpetualcc.rehearsal import isolated_world, wire
from tests.leftovers import LEAK_MARK, marked_processes

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

TOUCH = "steps: [{tools: [{Bash: {command: touch made}}]}, Done., More.]"
LONG_TOOL = """
steps:
  - say: It takes long.
    once: true
    tools: [{Bash: {command: "python3 -c 'import time; time.sleep(30)'"}}]
  - Done.
"""


def answer(decision, reason="", **more):
    given = {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}
    return {"hookSpecificOutput": given | ({"permissionDecisionReason": reason} if reason else {})}


class Play:
    """One scenario, one world: starts clients and keeps what they were asked."""

    def __init__(self, server, world):
        self.server, self.world = server, world
        self.hooked, self.asked, self.said = [], [], []
        self.decide = lambda _: answer("allow")
        self.permit = lambda _: PermissionResultAllow()

    def options(self, *, signed_in_as=None, env=None, **more):
        async def gate(given, tool_use_id, _):
            self.hooked.append((given, tool_use_id))
            decided = self.decide(given)
            return await decided if inspect.isawaitable(decided) else decided

        async def ask(name, given, _):
            self.asked.append(name)
            return self.permit(given)

        variables = self.world.environment(self.server, **(signed_in_as or {}))
        matcher = HookMatcher(matcher=None, hooks=[gate], timeout=600, on_failure="block")
        settled = {
            "cwd": self.world.project,
            "env": variables | (env or {}),
            "setting_sources": [],
            "permission_mode": "default",
            "hooks": {"PreToolUse": [matcher]},
            "can_use_tool": ask,
            "stderr": self.said.append,
        }
        return ClaudeAgentOptions(**(settled | more))

    @asynccontextmanager
    async def client(self, **more):
        async with ClaudeSDKClient(self.options(**more)) as client:
            yield client

    async def one_turn(self, prompt="Go", **more):
        async with self.client(**more) as client:
            return await turn(client, prompt)

    def last_messages(self):
        """Role and text or content of the newest request's last messages."""
        return [
            (message["role"], message["content"]) for message in self.server.requests[-1].messages
        ]


async def turn(client, prompt="Go"):
    await client.query(prompt)
    return [message async for message in client.receive_response()]


async def until(holds):
    """A process, a file, a request: nothing that tells us itself. The test has its timeout."""
    while not holds():  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def killed_when(client, pid, seen, is_time):
    """Kill Claude Code once a message fits and it is time; returns what the SDK raises."""
    await client.query("Go")
    try:
        async for message in client.receive_response():
            if seen(message):
                await until(is_time)
                await asyncio.sleep(0.4)
                os.kill(pid, signal.SIGKILL)
    except claude_agent_sdk.ProcessError as error:
        return error
    return None


def results(messages):
    """Texts of the tool results in SDK messages."""
    blocks = [block for one in messages if isinstance(one, UserMessage) for block in one.content]
    return [str(block.content) for block in blocks if hasattr(block, "tool_use_id")]


def kinds(messages):
    return [type(message).__name__ for message in messages]


def sleepers(world):
    """Processes of this world that are the long tool's shell or its child."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment, command = ((entry / name).read_bytes() for name in ("environ", "cmdline"))
        except OSError:
            continue
        if world.mark.encode() in environment and b"time.sleep(30)" in command:
            found[int(entry.name)] = environment
    return found


def calls_a_tool(message):
    blocks = message.content if isinstance(message, AssistantMessage) else ()
    return any(hasattr(block, "input") for block in blocks)


@pytest.fixture
def play(rehearsal, claude_world):
    return lambda text: Play(rehearsal(text), claude_world)


def test_a_session_says_init_after_the_first_prompt_and_ends_with_a_result(play):
    stage = play("""
        usage: {input: 1000, output: 100, cache_read: 150000, cache_write: 200}
        steps:
          - {say: I look., tools: [{Bash: {command: ls}}, {Bash: {command: pwd}}]}
          - Done.
          - Again.
        """)
    chosen = str(uuid.uuid4())

    async def two_turns():
        async with stage.client(session_id=chosen) as client:
            silence = asyncio.timeout(0.3)
            with pytest.raises(TimeoutError):
                async with silence:
                    await anext(client.receive_messages())
        async with stage.client(session_id=chosen) as client:
            first = await turn(client)
            usage = await client.get_context_usage()
            return first, await turn(client), usage

    first, second, usage = asyncio.run(two_turns())

    init, result = first[0], first[-1]
    assert kinds(first) == [
        "SystemMessage", "AssistantMessage", "AssistantMessage", "AssistantMessage",
        "UserMessage", "UserMessage", "AssistantMessage", "ResultMessage",
    ]  # fmt: skip
    assert (init.subtype, init.data["session_id"]) == ("init", chosen)
    assert init.data["apiKeySource"] == "ANTHROPIC_API_KEY"
    assert (result.subtype, result.is_error, result.result) == ("success", False, "Done.")
    assert result.terminal_reason == "completed"
    assert result.num_turns == 3  # tool results and one
    assert result.usage["input_tokens"] == 2000  # of this turn
    assert next(iter(result.model_usage.values()))["contextWindow"] > 0
    assert usage["totalTokens"] == 151_200  # input of the newest reply, cached or not
    assert second[-1].total_cost_usd > result.total_cost_usd  # of the whole client
    assert second[-1].usage["input_tokens"] == 1000
    assert second[0].subtype == "init"  # once a turn


def test_the_gate_sees_every_tool_and_its_deny_is_what_the_model_reads(play):
    stage = play("""
        steps:
          - tools: [{Read: {file_path: /etc/hostname}}, {Bash: {command: ls}}]
          - tools: [{Bash: {command: rm -rf build}}]
          - tools: [{Bash: {command: touch made}}]
          - Done.
        """)

    def decide(given):
        command = given["tool_input"].get("command", "")
        if "rm" in command:
            return answer("deny", "move it to the trash instead")
        return answer("ask", "unsure") if "touch" in command else answer("allow")

    stage.decide = decide
    stage.permit = lambda _: PermissionResultDeny(message="not today")

    messages = asyncio.run(stage.one_turn())

    assert [given["tool_name"] for given, _ in stage.hooked] == ["Read", "Bash", "Bash", "Bash"]
    assert all(given["tool_use_id"] == one for given, one in stage.hooked)
    assert stage.asked == ["Bash"]  # only what the gate asked about
    assert results(messages)[2:] == [
        "PreToolUse:Bash hook error: move it to the trash instead",
        "not today",
    ]
    assert [one["tool_input"]["command"] for one in messages[-1].permission_denials] == [
        "rm -rf build", "touch made",
    ]  # fmt: skip


def test_a_gate_that_breaks_blocks(play):
    stage = play(TOUCH)
    stage.decide = lambda _: {}["no such key"]

    messages = asyncio.run(stage.one_turn())

    assert 'blocking because onFailure is "block"' in results(messages)[0]
    assert not (stage.world.project / "made").exists()


def test_a_question_is_answered_where_permission_is_asked_even_when_the_gate_allows(play):
    stage = play("steps: [{ask: {question: 'Which one?', options: [A, B]}}, Done.]")
    stage.permit = lambda given: PermissionResultAllow(
        updated_input={**given, "answers": {"Which one?": "B"}}
    )

    messages = asyncio.run(stage.one_turn())

    assert stage.asked == ["AskUserQuestion"]
    assert results(messages)[0].startswith('Your questions have been answered: "Which one?"="B".')


def test_a_question_can_be_answered_by_the_gate_alone(play):
    stage = play("steps: [{ask: {question: 'Which one?', options: [A, B]}}, Done.]")
    stage.decide = lambda given: answer(
        "allow", updatedInput={**given["tool_input"], "answers": {"Which one?": "A"}}
    )

    messages = asyncio.run(stage.one_turn())

    assert stage.asked == []
    assert '"Which one?"="A"' in results(messages)[0]


def test_without_somebody_to_ask_there_is_no_tool_to_ask_with(play):
    stage = play("steps: [{ask: {question: 'Which one?', options: [A, B]}}, Done.]")

    messages = asyncio.run(stage.one_turn(can_use_tool=None))

    assert "AskUserQuestion is disabled" in results(messages)[0]


def test_static_deny_rules_hold_against_a_gate_that_allows(play):
    stage = play(
        "steps: [{tools: [{Bash: {command: touch made}}, {Read: {file_path: /etc/hosts}}]}, Done.]"
    )
    rules = '{"permissions": {"deny": ["Bash(touch:*)", "Read(//etc/**)"]}}'

    messages = asyncio.run(stage.one_turn(settings=rules))

    assert results(messages)[0] == "Permission to use Bash with command touch made has been denied."
    assert "denied by your permission settings" in results(messages)[1]


def test_static_rules_hold_in_any_case(play, claude_world):
    """As on the usual disk of a Mac, where `.GIT` is `.git`."""
    here = claude_world.project
    (here / ".SSH").mkdir()
    (here / ".SSH/config").write_text("Host example")
    stage = play(f"""
        steps:
          - tools:
              - {{Write: {{file_path: {here}/.GIT/Hooks/x, content: a}}}}
              - {{Write: {{file_path: {here}/.CLAUDE/settings.json, content: a}}}}
              - {{Bash: {{command: "echo a > .Git/hooks/x"}}}}
              - {{Read: {{file_path: {here}/.SSH/config}}}}
          - Done.
        """)
    stage.permit = lambda _: PermissionResultDeny(message="not this")
    settings = PermissionSettings()
    rules = {"deny": deny_rules(settings), "ask": ask_rules(settings)}

    messages = asyncio.run(stage.one_turn(settings=json.dumps({"permissions": rules})))

    *written, read = results(messages)
    assert all("denied" in result for result in written), written
    assert "not this" in read


def test_a_rule_that_asks_comes_back_although_the_gate_allowed(play):
    stage = play("steps: [{tools: [{Read: {file_path: /etc/hosts}}]}, Done.]")
    stage.permit = lambda _: PermissionResultDeny(message="not this")
    rules = '{"permissions": {"ask": ["Read(//etc)"]}}'

    messages = asyncio.run(stage.one_turn(settings=rules))

    assert stage.asked == ["Read"]
    assert "not this" in results(messages)[0]


def rewriting(command, *, first="true", last="true", **more):
    """Settings with a hook of somebody else's that makes every Bash call this one."""
    told = json.dumps(answer("allow", updatedInput={"command": command}))
    hook = {"type": "command", "command": f"{first}; echo '{told}'; {last}"}
    return json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}, **more})


@pytest.mark.parametrize("runs", ["theirs", "ours"])
def test_the_hook_that_ends_last_says_what_is_run(play, runs):
    stage = play(TOUCH)
    ended = stage.world.home / "ended"
    order = {
        "theirs": {"first": f"until test -e {ended}; do sleep 0.1; done; sleep 1"},
        "ours": {"last": f"touch {ended}"},
    }

    async def decide(_):
        if runs == "ours":
            await until(ended.exists)
            await asyncio.sleep(1)
        ended.touch()
        return answer("allow", updatedInput={"command": "touch ours"})

    stage.decide = decide

    asyncio.run(stage.one_turn(settings=rewriting("touch theirs", **order[runs])))

    assert [given["tool_input"]["command"] for given, _ in stage.hooked] == ["touch made"]
    assert (stage.world.project / runs).exists()


@pytest.mark.parametrize("rules", [[], ["Bash(touch theirs)"]])
def test_an_ask_of_the_gate_brings_what_hooks_made_of_a_call_and_hides_no_rule(play, rules):
    stage = play(TOUCH)
    came_back, ended = [], stage.world.home / "ended"

    async def decide(_):
        await until(ended.exists)  # an *allow* that comes after an *ask* changes nothing
        await asyncio.sleep(1)
        return answer("ask", "ours")

    async def permit(_, given, context):
        came_back.append((given["command"], context.decision_reason))
        return PermissionResultDeny(message="no")

    stage.decide = decide
    settings = rewriting("touch theirs", last=f"touch {ended}", permissions={"ask": rules})

    asyncio.run(stage.one_turn(settings=settings, can_use_tool=permit))

    assert came_back == [("touch theirs", None if rules else "ours")]


@pytest.mark.parametrize(("rule", "holds"), [("Edit(**/keys)", False), ("Edit(//**/keys)", True)])
def test_only_a_rooted_rule_holds_outside_the_project(play, claude_world, rule, holds):
    file = claude_world.home / "keys" / "new"
    write = {"Write": {"file_path": str(file), "content": "x"}}
    stage = play({"steps": [{"tools": [write]}, "Done."]})

    asyncio.run(stage.one_turn(settings=json.dumps({"permissions": {"deny": [rule]}})))

    assert file.exists() is not holds


def test_a_reply_that_was_cut_off_by_a_kill_is_asked_for_again(play):
    stage = play(
        "steps: [{tools: [{Bash: {command: ls}}]}, {say: Half of this is lost, takes: 4s}, Done.]"
    )
    chosen = str(uuid.uuid4())

    async def kill_and_resume():
        async with stage.client(session_id=chosen) as client:
            pid = (await client.get_server_info())["pid"]
            has_asked = lambda: len(stage.server.requests) == 2  # noqa: E731
            is_result = lambda one: isinstance(one, UserMessage)  # noqa: E731
            error = await killed_when(client, pid, is_result, has_asked)
        return error, await stage.one_turn("Continue", resume=chosen)

    error, messages = asyncio.run(kill_and_resume())

    assert error.exit_code == -signal.SIGKILL
    assert messages[-1].result == "Half of this is lost"
    assert stage.server.conversations[0].steps == [0, 1, 1]
    said = [str(content) for role, content in stage.last_messages() if role != "system"]
    assert "No response requested." in said[-2]  # put in by Claude Code
    assert "Continue" in said[-1]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_tool_outlives_a_killed_claude_and_its_result_is_called_unknown(play):
    stage = play(LONG_TOOL)
    chosen = str(uuid.uuid4())

    async def kill_and_resume():
        async with stage.client(session_id=chosen, env={"PERPETUALCC_RUN": "run-7"}) as client:
            pid = (await client.get_server_info())["pid"]
            await killed_when(client, pid, calls_a_tool, lambda: sleepers(stage.world))
            return pid, sleepers(stage.world)

    pid, orphans = asyncio.run(kill_and_resume())
    groups = {os.getpgid(orphan) for orphan in orphans}
    for orphan in orphans:
        os.kill(orphan, signal.SIGKILL)
    messages = asyncio.run(stage.one_turn("Continue", resume=chosen))

    assert orphans
    assert all(b"PERPETUALCC_RUN=run-7" in environment for environment in orphans.values())
    assert pid not in groups  # a group and session of its own: killing claude's group is not enough
    assert os.getpgid(0) not in groups
    assert messages[-1].result == "Done."
    assert "the session ended before this call's result was recorded" in str(
        stage.last_messages()[-3][1]
    )


HOST = """
import asyncio, sys
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, HookMatcher

async def gate(*_):
    await asyncio.sleep(60)

async def main(project, session):
    hooks = {"PreToolUse": [HookMatcher(hooks=[gate], timeout=600, on_failure="block")]}
    options = ClaudeAgentOptions(
        cwd=project, session_id=session, setting_sources=[], hooks=hooks
    )
    async with ClaudeSDKClient(options) as client:
        await client.query("Go")
        async for message in client.receive_response():
            if "ToolUseBlock" in repr(message):
                print("asks", flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


def test_an_orphan_can_use_no_tool_and_ends_by_itself(play):
    stage = play(
        "steps: [{tools: [{Read: {file_path: /etc/hosts}}, {Bash: {command: touch made}}]}, Done.]"
    )
    chosen = str(uuid.uuid4())
    command = [sys.executable, "-c", HOST, str(stage.world.project), chosen]
    environment = {**os.environ, **stage.world.environment(stage.server)}

    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as host:
        host.stdout.readline()
        host.kill()
    while marked_processes(LEAK_MARK, stage.world.mark):
        time.sleep(0.05)
    made_by_the_orphan = (stage.world.project / "made").exists()
    messages = asyncio.run(stage.one_turn("Continue", resume=chosen))

    told = [one.told for one in stage.server.requests]
    assert told == ["reply", "aside", "reply", "reply"]  # the orphan is told to stop, and does
    assert str(stage.server.requests[1].news).count("doesn't want to take this action") == 2
    assert not made_by_the_orphan
    assert (stage.world.project / "made").exists()
    assert messages[-1].result == "Done."


def test_a_polite_signal_ends_claude_with_its_tools(play):
    stage = play(LONG_TOOL)

    async def signalled():
        async with stage.client() as client:
            pid = (await client.get_server_info())["pid"]
            await client.query("Go")
            with suppress(claude_agent_sdk.ProcessError):
                async for message in client.receive_response():
                    if calls_a_tool(message):
                        running = await started(stage.world)
                        os.kill(pid, signal.SIGTERM)
            return running

    async def started(world):
        for _ in range(50 if sys.platform == "linux" else 2):
            await asyncio.sleep(0.2)
            if running := sleepers(world):
                break
        return running

    running = asyncio.run(signalled())

    assert sys.platform != "linux" or running
    assert sleepers(stage.world) == {}


def test_an_interrupt_ends_the_turn_and_the_conversation_goes_on(play):
    stage = play("steps: [{say: A long answer that nobody waits for., takes: 6s}, Done.]")

    async def interrupted():
        async with stage.client() as client:
            await client.query("Go")
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_interrupt(client))
                first = [message async for message in client.receive_response()]
            return first, await turn(client, "Once more")

    async def _interrupt(client):
        await until(lambda: stage.server.requests)
        await asyncio.sleep(0.8)
        await client.interrupt()

    first, _ = asyncio.run(interrupted())

    assert (first[-1].subtype, first[-1].terminal_reason) == (
        "error_during_execution",
        "aborted_streaming",
    )
    assert "[Request interrupted by user]" in str(stage.last_messages())


def test_a_prompt_in_the_middle_of_a_turn_reaches_the_model_with_the_tools_result(play):
    stage = play("""
        steps:
          - tools: [{Bash: {command: "until test -e heard; do sleep 0.1; done"}}]
          - Nobody said anything.
          - {on_prompt: hurry up, say: I hurry.}
        """)

    async def hurried():
        async with stage.client() as client:
            await client.query("Go")
            async for message in client.receive_response():
                if calls_a_tool(message):
                    await client.query("Please hurry up")
                    await asyncio.sleep(1)
                    (stage.world.project / "heard").touch()
            return message

    assert asyncio.run(hurried()).result == "I hurry."
    assert len(stage.server.requests) == 2


@pytest.mark.parametrize("stops", [False, True])
def test_a_message_that_waits_begins_a_turn_unless_an_interrupt_takes_it_along(play, stops):
    stage = play("""
        steps:
          - tools: [{Bash: {command: "until test -e heard; do sleep 0.1; done"}}]
          - Heard.
          - Heard.
        """)
    first, word = new_message_id(), new_message_id()

    async def told():
        became, ends = [], []
        async with stage.client() as client:
            await client.query(prompts.one("Go", first))
            with suppress(TimeoutError):
                async with asyncio.timeout(6):
                    async for message in prompts.all_messages(client):
                        if isinstance(message, dict) and message["command_uuid"] == word:
                            became.append(message["state"])
                        if isinstance(message, ResultMessage):
                            ends.append(message)
                        if calls_a_tool(message) and not became:
                            await client.query(prompts.one("Hurry", word, is_typed=True))
                            await asyncio.sleep(0.5)
                            await (prompts.interrupt if stops else type(client).interrupt)(client)
                            (stage.world.project / "heard").touch()
        return became, ends

    became, ends = asyncio.run(told())

    [path] = stage.world.home.glob(".claude/projects/*/*.jsonl")
    kept = messages_in(path.stem, [word], {"CLAUDE_CONFIG_DIR": str(path.parents[2])})
    heard = [word in (end.user_message_uuids or []) for end in ends]
    assert (became[-1], heard[-1], kept) == (
        ("cancelled", False, set()) if stops else ("completed", True, {word})
    )


OTHERS = """
scenes:
  - when: wait
    steps: [Ready., {tools: [{Bash: {command: touch told}}]}, Done.]
  - when: tell
    steps:
      - tools: [{ToolSearch: {query: "select:SendMessage"}}]
      - tools: [{SendMessage: {to: worker, message: Make the file, summary: s}}]
      - Told.
"""


@pytest.mark.parametrize(("settings", "acts"), [({}, True), (Layers().settings(), False)])
def test_another_session_is_heard_unless_it_is_refused(play, settings, acts):
    stage = play(OTHERS)

    async def told():
        acted = asyncio.Event()

        def decide(given):
            if given["tool_name"] == "Bash":
                acted.set()
            return answer("allow")

        stage.decide = decide
        named = {"settings": json.dumps(settings), "extra_args": {"name": "worker"}}
        async with stage.client(**named) as worker:
            await turn(worker, "wait")
            sent = await stage.one_turn("tell")
            with suppress(TimeoutError):
                await asyncio.wait_for(acted.wait(), 20 if acts else 3)
        return sent, acted.is_set()

    sent, acted = asyncio.run(told())

    assert '"success":true' in results(sent)[-1]
    assert acted is acts


def test_a_session_id_can_be_taken_once_and_then_only_resumed(play):
    stage = play("steps: [One., Two.]")
    chosen = str(uuid.uuid4())

    async def twice():
        await stage.one_turn(session_id=chosen)
        with pytest.raises(claude_agent_sdk.ProcessError):
            await stage.one_turn(session_id=chosen)
        return await stage.one_turn("More", resume=chosen)

    messages = asyncio.run(twice())

    assert stage.said == [f"Error: Session ID {chosen} is already in use."]
    assert (messages[-1].session_id, messages[-1].result) == (chosen, "Two.")
    assert [path.stem for path in stage.world.home.rglob("projects/*/*.jsonl")] == [chosen]


def test_a_session_that_never_was_cannot_be_resumed(play):
    unknown = str(uuid.uuid4())

    with pytest.raises(claude_agent_sdk.ResultError) as caught:
        asyncio.run(play("steps: [One.]").one_turn(resume=unknown))

    assert caught.value.errors == [f"No conversation found with session ID: {unknown}"]


def test_without_an_account_claude_code_says_so_itself(play):
    stage = play("steps: [One.]")

    messages = asyncio.run(stage.one_turn(signed_in_as={"signed_in": False}))

    init, said, result = messages
    assert isinstance(init, SystemMessage)
    assert init.data["apiKeySource"] == "none"
    assert (said.model, said.error) == ("<synthetic>", "authentication_failed")
    assert isinstance(result, ResultMessage)
    assert result.is_error
    assert result.result == "Not logged in · Please run /login"
    assert stage.server.requests == []


def test_a_subscription_limit_is_an_event_and_the_resumed_turn_goes_on(play):
    stage = play("steps: [{fail: {kind: usage_limit, in: 1s}}, Done.]")
    chosen = str(uuid.uuid4())

    async def wait_and_resume():
        first = await stage.one_turn(session_id=chosen, signed_in_as={"subscription": True})
        await asyncio.sleep(1)
        again = {"resume": chosen, "signed_in_as": {"subscription": True}}
        return first, await stage.one_turn("Continue", **again)

    first, second = asyncio.run(wait_and_resume())

    event = next(one for one in first if isinstance(one, RateLimitEvent)).rate_limit_info
    assert (event.status, event.rate_limit_type) == ("rejected", "five_hour")
    assert abs(event.resets_at - stage.server.requests[0].resets_at) <= 1
    assert first[-1].is_error
    assert first[-1].api_error_status == 429
    assert second[-1].result == "Done."


def test_each_window_s_use_is_told_with_the_replies_before_any_warning(play):
    stage = play("""
        steps:
          - quota: {status: allowed, used: 0.2, in: 1h, also: [{used: 0.61, in: 3d}]}
            tools: [{Bash: {command: ls}}]
          - {say: Done., quota: {status: allowed, used: 0.21, in: 1h, also: [{used: 0.62, in: 3d}]}}
        """)

    messages = asyncio.run(stage.one_turn(signed_in_as={"subscription": True}))

    told = [one.rate_limit_info for one in messages if isinstance(one, RateLimitEvent)]
    assert {(one.status, one.utilization) for one in told} == {("allowed", None)}
    windows = [one.raw["unifiedWindows"] for one in told]
    assert [
        (one["five_hour"]["utilization"], one["seven_day"]["utilization"]) for one in windows
    ] == [(0.2, 0.61), (0.21, 0.62)]
    week = windows[-1]["seven_day"]["resetsAt"] - windows[-1]["five_hour"]["resetsAt"]
    assert abs(week - 71 * 3600) <= 2


def test_a_key_limit_is_only_a_synthetic_message(play):
    stage = play("steps: [{fail: rate_limit}, Done.]")

    messages = asyncio.run(stage.one_turn())

    assert not any(isinstance(one, RateLimitEvent) for one in messages)
    assert (messages[1].model, messages[1].error) == ("<synthetic>", "rate_limit")


def test_passing_failures_are_retried_by_claude_code_itself(play):
    messages = asyncio.run(
        play("steps: [{fail: overloaded}, {fail: broken_stream}, Done.]").one_turn()
    )

    retries = [one for one in messages if getattr(one, "subtype", "") == "api_retry"]
    assert [one.data["attempt"] for one in retries] == [1, 2]
    assert [one.data["error_status"] for one in retries] == [529, None]
    assert messages[-1].result == "Done."


def test_a_launcher_script_may_stand_in_for_the_binary(play, tmp_path):
    binary = next(Path(claude_agent_sdk.__file__).parent.glob("_bundled/claude"))
    launcher = tmp_path / "claude"
    launcher.write_text(f'#!/bin/sh\nexport FROM_LAUNCHER=yes\nexec "{binary}" "$@"\n')
    launcher.chmod(0o755)
    stage = play("steps: [{tools: [{Bash: {command: 'echo $FROM_LAUNCHER'}}]}, Done.]")

    messages = asyncio.run(stage.one_turn(cli_path=str(launcher)))

    assert results(messages) == ["yes"]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="plays in the real zsh")
def test_commands_run_in_the_persons_own_shell_as_they_set_it_up(play):
    """The aliases and options of their files hold; code in names of files is switched off."""
    stage = play(
        """
        steps:
          - tools: [Bash: {command: "echo $options[equals] $options[promptsubst]; known; ls *(N)"}]
          - Done.
        """
    )
    (stage.world.home / ".zshrc").write_text("setopt promptsubst\nalias known='echo live'\n")

    messages = asyncio.run(stage.one_turn(env={"SHELL": shutil.which("zsh") or ""}))

    assert "off on\nlive\n(eval):1: no matches found: *(N)" in results(messages)[0]


def test_an_empty_variable_counts_as_an_absent_one(play, monkeypatch):
    for name in ("ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"):
        monkeypatch.setenv(name, "1")
    stage = play("steps: [Done.]")
    world = isolated_world(stage.server.url, stage.world.home)

    messages = asyncio.run(stage.one_turn(env=world.overlay))

    assert messages[-1].result == "Done."
    assert "authorization" not in stage.server.requests[0].headers


PRICED = """
scenes:
  - when: /^Go/
    usage: {input: 100000, output: 20000}
    steps:
      - tools:
          - Agent:
              description: h
              prompt: inner
              subagent_type: general-purpose
              run_in_background: false
      - One.
      - Two.
      - Three.
      - Four.
  - when: inner
    usage: {input: 100000, output: 20000}
    steps: [Inner.]
"""


def test_the_cost_is_the_conversations_and_its_tokens_are_the_turns(play):
    """Every reply costs $0.80. A process that goes on with a conversation takes its count over."""
    stage, chosen = play(PRICED), str(uuid.uuid4())

    async def costs():
        async with stage.client(session_id=chosen) as client:
            with_subagent = (await turn(client))[-1]
            compacted = (await turn(client, "/compact"))[-1]
            second = (await turn(client, "More"))[-1]
        other = (await stage.one_turn("Go elsewhere"))[-1]
        async with stage.client(resume=chosen) as client:
            before = await cost_told(client)
            third = (await turn(client, "More"))[-1]
            os.kill(client._transport._process.pid, signal.SIGKILL)
        async with stage.client(resume=chosen) as client:
            after_a_kill = await cost_told(client)
        return with_subagent, compacted, second, other, before, third, after_a_kill

    with_subagent, compacted, second, other, before, third, after_a_kill = asyncio.run(costs())

    tokens = [one.usage["input_tokens"] for one in (with_subagent, compacted, second, third)]
    assert tokens == [200_000, 0, 100_000, 100_000], "neither a subagent's nor the compaction's"
    assert with_subagent.total_cost_usd == pytest.approx(2.4)
    assert compacted.total_cost_usd > with_subagent.total_cost_usd
    assert second.total_cost_usd == pytest.approx(compacted.total_cost_usd + 0.8)
    assert other.total_cost_usd > 0
    assert before == pytest.approx(second.total_cost_usd, abs=0.005)
    assert third.total_cost_usd == pytest.approx(second.total_cost_usd + 0.8)
    assert after_a_kill == before, "what a killed process cost is in no later count"


def test_the_cost_is_told_while_a_turn_goes_on_and_counts_whole_replies(play, monkeypatch):
    """A call is wanted as soon as it is said whole, before its reply is at its end."""
    stage, told = (
        play("{usage: {output: 20000}, steps: [{tools: [{Bash: {command: x}}]}, Done.]}"),
        [],
    )

    def late_end(events, _):
        head, end = b"".join(events).split(b"event: message_delta")
        return [(0.0, head), (2.0, b"event: message_delta" + end)]

    monkeypatch.setattr(wire, "_paced", late_end)

    async def asked():
        async with stage.client() as client:

            async def decide(_):
                told.append(await cost_told(client))
                while (now := await cost_told(client)) == told[0]:  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
                told.append(now)
                return answer("allow")

            stage.decide = decide
            return await turn(client)

    result = asyncio.run(asked())[-1]

    assert told == [0.0, pytest.approx(result.total_cost_usd / 2, abs=0.01)]


async def cost_told(client):
    told = await client._query._send_control_request({"subtype": "get_session_cost"})
    return float(_COST.search(told["text"])[1])
