"""A perpetual session on the real Claude Code: the work moves on before a context is full."""

import json
import os
import signal
import subprocess
import time
from dataclasses import replace

import pytest

from perpetualcc.rehearsal.position import message_text
from tests.acceptance.supervised import wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]


MISSION = "Build the seven wonders, one after the other"


def document(number: int, *, done: str, following: str) -> str:
    """The handover document as Claude would write it in iteration `number`."""
    return f"""\
# Claude Code Handover Document
**Iteration**: {number}

## Mission Objective
Something else entirely, which must not count.

## Previous Session Summary
Wonder {number} is built.

## Files Modified This Session
- src/wonder_{number}.py - the wonder

## Current State
### Active Tasks
- [ ] {following}

### Completed This Session
- [x] {done}

### Blockers
- None

## Technical Context
### Architecture Decisions
Built of stone.

## Next Steps (Priority Order)
1. {following}
"""


def scene(number: int, *, last: bool, tokens: int = 95_000, trigger: bool = True) -> dict:
    """An iteration: build one wonder, be warned at the next tool, write the handover."""
    when = f'/perpetual-session iteration="{number}"/'
    write = {"Write": {"file_path": f"{{project}}/src/wonder_{number}.py", "content": f"{number}"}}
    if last:
        return {"name": f"iteration {number}", "when": when,
                "steps": [{"tools": [write]}, "All wonders are built."]}  # fmt: skip
    folder = "{project}/.claude-handover"
    text = document(number, done=f"Wonder {number}", following=f"Build wonder {number + 1}")
    steps = [
        {"say": f"I build wonder {number}.", "tools": [write]},
        {"tools": [{"Read": {"file_path": f"{folder}/handover.md"}}], "expect": "HANDOVER DUE"},
        {"tools": [{"Write": {"file_path": f"{folder}/handover.md", "content": text}}]},
        *([{"tools": [{"Write": {"file_path": f"{folder}/trigger.flag", "content": ""}}]}]
          if trigger else []),
        {"say": "I would go on for ever.", "takes": "20s"},
    ]  # fmt: skip
    usage = {"input": tokens}
    return {"name": f"iteration {number}", "when": when, "usage": usage, "steps": steps}


def scenario(count: int) -> dict:
    """Scenes for `count` iterations; the most specific first, as `1` is a part of `12`."""
    return {"scenes": [scene(n, last=n == count) for n in range(1, count + 1)]}


def told_by_the_document(count: int) -> dict:
    """
    The same, but the model knows only what it reads: it builds the wonder that stands first among
    the next steps, and begins with the first one where there are none.
    """
    scenes = scenario(count)["scenes"]
    for number, one in enumerate(scenes, start=1):
        one["when"] = rf"/<handover .*\n1\. Build wonder {number}\n/"
    del scenes[0]["when"]
    return {"scenes": scenes}


def start(pcc, *words: str, task: str = MISSION) -> str:
    said = pcc.pcc("perpetual", str(pcc.project), "--task", task, "--detach", *words).stdout
    return said.split()[2]


def handovers(pcc, session):
    return pcc.events(session, "HandoverDone")


def test_a_session_hands_over_at_the_warning_and_fresh_ones_finish(install, servers):
    pcc = install(scenario(3))
    session = start(pcc)

    assert pcc.wait(session)["status"] == "COMPLETED"

    assert [(one["iteration"], one["manner"]) for one in handovers(pcc, session)] == [
        (1, "written"),
        (2, "written"),
    ]
    assert [one["findings"] for one in handovers(pcc, session)] == [[], []]
    runs = pcc.events(session, "RunStarted")
    assert len({run["claude_session"] for run in runs}) == len(runs) == 3
    assert servers[0].mismatches == []
    prompt = last_prompt(servers[0])
    assert MISSION in prompt
    assert "Build wonder 3" in prompt
    assert "- Wonder 1" in prompt
    assert "which must not count" not in prompt
    archive = pcc.project / ".claude-handover" / "archive"
    assert sorted(path.name for path in archive.iterdir()) == ["1", "2"]
    assert (archive / "2" / "status.txt").read_text().splitlines()[0].startswith("TOKENS: 95,0")


def last_prompt(server) -> str:
    """All that the newest conversation was first told."""
    return first_prompts(server)[-1]


def first_prompts(server) -> list[str]:
    found = [conversation.requests[0] for conversation in server.conversations]
    return ["\n".join(map(message_text, request.messages)) for request in found]


IGNORES = """
usage: {{input: {tokens}}}
scenes:
  - when: '/perpetual-session iteration="1"/'
    steps:
      - say: I write the first part.
        tools: [{{Write: {{file_path: "{{project}}/src/part_1.py", content: "1"}}}}]
      - repeat: 90
        say: I ignore all warnings.
        delay: 300ms
        tools: [{{Write: {{file_path: "{{project}}/src/more_{{n}}.py", content: "{{n}}"}}}}]
        usage: {{input: {later}}}
      - Never reached.
  - when: '/perpetual-session iteration="2"/'
    steps:
      - say: I write the second part.
        usage: {{input: 100}}
        tools: [{{Write: {{file_path: "{{project}}/src/part_2.py", content: "2"}}}}]
      - say: Both parts are written.
        usage: {{input: 100}}
"""


def test_the_hard_limit_hands_over_when_the_warning_is_ignored(install, servers):
    pcc = install(IGNORES.format(tokens=95_000, later=121_000))

    session = start(pcc)

    assert pcc.wait(session)["status"] == "COMPLETED"
    due = pcc.events(session, "HandoverDue")
    assert [one["status"] for one in due] == ["WARNING", "CRITICAL"]
    done = handovers(pcc, session)
    assert [(one["manner"], one["reason"]) for one in done] == [
        ("forced", "121,001 tokens of context")
    ]
    told = last_prompt(servers[0])
    assert "src/part_1.py - changed" in told
    assert "I ignore all warnings." in told
    assert (pcc.project / "src" / "part_2.py").exists()


@pytest.mark.soak
def test_time_alone_brings_a_handover(install):
    pcc = install(IGNORES.format(tokens=100, later=100))

    session = start(pcc, "--warn-minutes", "0.05", "--hard-minutes", "0.2")

    assert pcc.wait(session)["status"] == "COMPLETED"
    due = pcc.events(session, "HandoverDue")
    assert [one["status"] for one in due] == ["WARNING", "CRITICAL"]
    assert all(one["reason"].endswith("minutes") for one in due)
    assert due[1]["minutes"] >= 0.2


def test_a_person_touches_the_trigger_and_the_session_hands_over_at_once(install, servers):
    pcc = install(IGNORES.format(tokens=100, later=100))
    session = start(pcc)
    wait_until((pcc.project / "src" / "part_1.py").exists, within=60)

    trigger = pcc.project / ".claude-handover" / "trigger.flag"
    trigger.touch()

    wait_until(lambda: not trigger.exists())
    assert pcc.wait(session)["status"] == "COMPLETED"
    done = handovers(pcc, session)
    assert [one["reason"] for one in done] == ["a person asked for it (trigger.flag)"]
    assert MISSION in last_prompt(servers[0])


STOPS_IN_MIDDLE = scene(1, last=False, trigger=False)


@pytest.mark.parametrize(
    "victim",
    [
        "engine",
        pytest.param("claude", marks=pytest.mark.soak),
        pytest.param("everything", marks=pytest.mark.soak),
    ],
)
def test_a_crash_in_the_middle_of_a_handover_loses_nothing(install, servers, victim):
    """The document is written, the trigger is not: then something dies."""
    pcc = install({"scenes": [STOPS_IN_MIDDLE, scene(2, last=True)]})
    session = start(pcc)
    document = pcc.project / ".claude-handover" / "handover.md"
    wait_until(lambda: document.exists() and "Wonder 1 is built" in document.read_text(), within=60)
    time.sleep(0.3)

    match victim:
        case "engine":
            pcc.kill_engine()
        case "claude":
            os.kill(pcc.claudes()[0], signal.SIGKILL)
        case "everything":
            for pid in [pcc.supervisor, pcc.engine, *pcc.claudes()]:
                os.kill(pid, signal.SIGKILL)

    assert pcc.wait(session, within=60)["status"] == "COMPLETED"
    assert [(one["iteration"], one["manner"]) for one in handovers(pcc, session)] == [
        (1, "emergency")
    ]
    told = last_prompt(servers[0])
    assert "RECOVERY" in told
    assert "Build wonder 2" in told
    assert MISSION in told
    written = [one for one in pcc.events(session, "ToolDecided") if "wonder_" in one["summary"]]
    assert [one["summary"] for one in written] == ["src/wonder_1.py", "src/wonder_2.py"]


@pytest.mark.soak
def test_a_kill_switch_after_each_warning_is_nothing_that_the_work_is_to_blame_for(install):
    scenes = [scene(n, last=n == 4, trigger=False) for n in range(1, 5)]
    pcc = install({"scenes": scenes})
    session = start(pcc)
    document = pcc.project / ".claude-handover" / "handover.md"

    for number in range(1, 4):
        built = f"Wonder {number} is built"
        wait_until(
            lambda built=built: document.exists() and built in document.read_text(), within=60
        )
        pcc.pcc("daemon", "stop", "--now")
        pcc.pcc("daemon", "start")

    assert pcc.wait(session, within=60)["status"] == "COMPLETED"
    assert [one["manner"] for one in handovers(pcc, session)] == ["emergency"] * 3


@pytest.mark.parametrize(
    "damage",
    [
        "half a document",
        pytest.param("", marks=pytest.mark.soak),
        pytest.param("\x00\x01 binary", marks=pytest.mark.soak),
    ],
)
def test_a_damaged_document_costs_nothing_that_is_known(install, servers, damage):
    """The last whole version of the iteration is used; the mission never came from it."""
    first = scene(1, last=False, trigger=False)
    folder = "{project}/.claude-handover"
    first["steps"][-1] = {"tools": [
        {"Write": {"file_path": f"{folder}/handover.md", "content": damage}},
    ]}  # fmt: skip
    first["steps"] += [
        {"tools": [{"Write": {"file_path": f"{folder}/trigger.flag", "content": ""}}]},
        {"say": "I would go on for ever.", "takes": "20s"},
    ]
    pcc = install({"scenes": [first, scene(2, last=True)]})

    session = start(pcc)

    assert pcc.wait(session)["status"] == "COMPLETED"
    assert "handover.md was damaged" in handovers(pcc, session)[0]["findings"][0]
    told = last_prompt(servers[0])
    assert "Build wonder 2" in told
    assert "damaged" in told
    assert MISSION in told


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_twelve_iterations_need_no_hand(install, servers):
    pcc = install(told_by_the_document(12))

    session = start(pcc)

    assert pcc.wait(session, within=240)["status"] == "COMPLETED"
    done = handovers(pcc, session)
    assert [one["iteration"] for one in done] == list(range(1, 12))
    assert {one["manner"] for one in done} == {"written"}
    assert [one["findings"] for one in done] == [[]] * 11
    prompts = first_prompts(servers[0])
    assert len(prompts) == 12
    assert all(prompt.count(MISSION) >= 1 for prompt in prompts)
    assert not any("must not count" in prompt for prompt in prompts)
    for number, prompt in enumerate(prompts[1:], start=1):
        assert f"Wonder {number} is built." in prompt
        assert all(f"- Wonder {one}\n" in prompt for one in range(1, number + 1))
    written = [one["summary"] for one in pcc.events(session, "ToolDecided")
               if "wonder_" in one["summary"]]  # fmt: skip
    assert written == [f"src/wonder_{n}.py" for n in range(1, 13)], "nothing is done twice"
    for number in range(1, 13):
        assert (pcc.project / "src" / f"wonder_{number}.py").read_text() == str(number)
    tasks = pcc.status(session)["tasks"]
    assert [(task["prompt"], task["state"]) for task in tasks] == [(MISSION, "done")]
    assert servers[0].mismatches == []
    assert pcc.json("pending") == [], "no hand was needed"


def ordinary(*tokens: int) -> dict:
    """A session that is not perpetual, in a window of 200,000 tokens."""
    folder = "{project}/.claude-handover"
    text = document(1, done="Half", following="The other half")
    reads = [{"tools": [{"Read": {"file_path": "{project}/src/half.py"}}],
              "usage": {"input": one}} for one in tokens]  # fmt: skip
    write = {"Write": {"file_path": "{project}/src/half.py", "content": "1"}}
    return {"scenes": [
        {"when": "/RECOVERY|earlier session worked/", "steps": ["The other half is done."]},
        {"steps": [
            {"tools": [write]},
            *reads,
            {"tools": [{"Read": {"file_path": f"{folder}/handover.md"}}], "expect": "HANDOVER DUE",
             "usage": {"input": tokens[-1]}},
            {"tools": [{"Write": {"file_path": f"{folder}/handover.md", "content": text}}]},
            {"tools": [{"Write": {"file_path": f"{folder}/trigger.flag", "content": ""}}]},
            {"say": "I would go on for ever.", "takes": "20s"},
        ]},
    ]}  # fmt: skip


def test_an_ordinary_session_hands_over_when_its_window_is_nearly_full(install, servers):
    """At 80 % of the real window, which Claude Code is asked for: no compaction comes first."""
    pcc = install(ordinary(90_000, 150_000, 161_000))
    claude = {**pcc.environment, "ANTHROPIC_MODEL": "claude-haiku-4-5"}
    pcc = replace(pcc, environment=claude)

    session = pcc.start(MISSION)

    assert pcc.wait(session)["status"] == "COMPLETED"
    due = pcc.events(session, "HandoverDue")
    assert [(one["status"], one["reason"]) for one in due] == [
        ("WARNING", "161,001 tokens of context"),
        ("CRITICAL", "trigger.flag, after the warning at 161,001 tokens of context"),
    ]
    assert [one["manner"] for one in handovers(pcc, session)] == ["written"]
    assert "The other half" in last_prompt(servers[0])
    assert not any("create a detailed summary" in one.raw.decode() for one in servers[0].requests)
    ignored = subprocess.run(
        ["git", "-C", str(pcc.project), "status", "--porcelain"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ".claude-handover" not in ignored.stdout


@pytest.mark.soak
def test_a_context_that_is_full_at_once_is_handed_over_and_not_retried(install):
    pcc = install(ordinary(90_000, 199_000))
    claude = {**pcc.environment, "ANTHROPIC_MODEL": "claude-haiku-4-5"}
    pcc = replace(pcc, environment=claude)

    session = pcc.start(MISSION)

    assert pcc.wait(session)["status"] == "COMPLETED"
    assert [one["manner"] for one in handovers(pcc, session)] == ["forced"]


DIES = """
scenes:
  - when: /perpetual-session/
    usage: {input: 130000}
    steps:
      - {say: "I say much and do nothing.", tools: [{Read: {file_path: "{project}/none"}}]}
      - {say: "And on.", takes: 20s}
"""


@pytest.mark.soak
def test_iterations_that_do_nothing_stop_after_three_and_ask_a_person(install):
    pcc = install(DIES)

    session = start(pcc)

    found = pcc.wait(session)
    assert found["status"] == "ERROR"
    assert "three iterations in a row" in found["detail"]
    assert len(handovers(pcc, session)) == 3
    packet = found["tasks"][0]["packet"]
    assert packet["attempts"] == 3
    assert "pcc resume" in packet["hint"]
    assert (pcc.project / ".claude-handover" / "handover.md").exists(), "everything is kept"


REPEATS = """
usage: {{{first}}}
steps:
  - say: First.
    tools: [{{Write: {{file_path: "{{project}}/src/b1.txt", content: "1"}}}}]
  - say: The same again.
    tools: [{{Write: {{file_path: "{{project}}/src/b1.txt", content: "1"}}}}]
    usage: {{cache_read: 150000, input: 4000}}
  # Not at once: a task that says it is done before its run is ended has been done.
  - {{say: Done., takes: 20s}}
"""


@pytest.mark.parametrize(
    ("first", "iterations", "why"),
    [
        (
            "cache_read: 150000, input: 4000",
            3,
            "the first reply of a fresh conversation is already at the hard limit of 120,000",
        ),
        # The first iteration does something, and the next three the same again.
        ("input: 100", 4, "nothing was done that had not been done before"),
    ],
)
def test_iterations_that_come_no_further_stop_and_say_what_to_do(install, first, iterations, why):
    pcc = install(REPEATS.format(first=first))

    session = start(pcc)

    found = pcc.wait(session)
    assert (found["status"], len(handovers(pcc, session))) == ("ERROR", iterations)
    assert why in found["detail"]
    [asked] = pcc.json("pending")
    assert asked["type"] == "error"
    assert why in asked["context"]
    shown = pcc.pcc("pending", str(asked["number"])).stdout
    assert f"--resume-from {iterations} --hard-tokens" in shown
    assert "Split the task" in shown
    pcc.pcc("resume", session)
    wait_until(lambda: len(handovers(pcc, session)) > iterations, within=60)
    assert why in pcc.wait(session)["detail"]
    assert len(handovers(pcc, session)) == iterations + 1, "a person who resumes gets one more"


@pytest.mark.soak
def test_iterations_are_counted_and_an_earlier_one_is_taken_up_again(install, servers):
    pcc = install(scenario(3))
    first = start(pcc, "--max-iterations", "1")
    stopped = pcc.wait(first)
    assert stopped["status"] == "ERROR"
    assert "at most 1 were asked for" in stopped["detail"]
    pcc.pcc("stop", first)

    said = pcc.pcc("perpetual", str(pcc.project), "--resume-from", "1", "--detach").stdout
    second = said.split()[2]

    assert pcc.wait(second)["status"] == "COMPLETED"
    assert [one["iteration"] for one in handovers(pcc, second)] == [2]
    assert MISSION in first_prompts(servers[0])[1], "the words of the person who began it"
    assert "Build wonder 2" in first_prompts(servers[0])[1]
    unknown = pcc.pcc("perpetual", str(pcc.project), "--resume-from", "9", check=False)
    assert unknown.returncode == 1
    assert "There are: 1, 2" in unknown.stderr


ABSURD = [
    ("--hard-tokens", "-1"),
    ("--warn-tokens", "0"),
    ("--hard-minutes", "nan"),
    ("--warn-minutes", "1e30"),
    ("--hard-tokens", "9" * 30),
    ("--max-iterations", "-3"),
    ("--resume-from", "0"),
]


def test_what_cannot_be_meant_is_refused_before_anything_starts(install, tmp_path):
    pcc = install("steps: [Never.]")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = pcc.project / ".claude-handover"

    def refused(*flags: str) -> str:
        done = pcc.pcc("perpetual", str(pcc.project), "--task", "x", *flags, check=False)
        assert done.returncode == (2 if flags else 1), "a number is typed wrong, a link is there"
        return done.stderr

    numbers = refused("--warn-tokens", "50000", "--hard-tokens", "40000")
    absurd = [refused(*words) for words in ABSURD]
    folder.symlink_to(elsewhere)
    linked = refused()
    started = pcc.pcc("start", str(pcc.project), "--task", "x", "--perpetual", check=False)
    folder.unlink()
    folder.write_text("a file")
    blocked = refused()

    assert all("makes no sense" in said and "hint:" in said for said in absurd), absurd
    assert "hint:" in numbers
    assert "The warning at 50000 tokens would come after the hard limit at 40000" in numbers
    assert "is a link" in linked
    assert "is a link" in started.stderr, "pcc start --perpetual is the same"
    assert "cannot be used" in blocked
    assert list(elsewhere.iterdir()) == []
    assert folder.read_text() == "a file"
    assert pcc.json("list") == []


@pytest.mark.soak
def test_the_figures_are_the_models_own(install):
    """Within 2 % of what the replies claimed: uncached, written to the cache, read from it."""
    pcc = install("""
        scenes:
          - when: /iteration="1"/
            usage: {input: 1200, cache_read: 85000, cache_write: 9000, output: 400}
            steps:
              - {say: Working., tools: [{Read: {file_path: "{project}/none"}}]}
              - say: Working on.
                takes: 20s
                usage: {input: 1000, cache_read: 125000, cache_write: 0}
          - when: /iteration="2"/
            steps: [Done.]
        """)
    session = start(pcc)

    pcc.wait(session)

    due = pcc.events(session, "HandoverDue")
    assert [one["status"] for one in due] == ["WARNING", "CRITICAL"]
    for one, reported in zip(due, (1200 + 85000 + 9000 + 400, 1000 + 125000 + 400), strict=True):
        assert abs(one["tokens"] - reported) / reported < 0.02


def size(value) -> int:
    """Bytes of all the text in a request."""
    if isinstance(value, dict):
        return sum(len(key) + size(one) for key, one in value.items())
    if isinstance(value, list):
        return sum(map(size, value))
    return len(str(value).encode())


SOURCE = "".join(f"def function_{n}(value):\n    return value + {n}\n\n\n" for n in range(400))
PROSE = "The reconciler walks the ledger once and notes each difference it cannot explain. "
CHINESE = "对账程序会逐行检查账本，把每一行与银行的报告进行比较，并记录它无法解释的每一个差异。"


def use(tool, **given) -> dict:
    return {"tools": [{tool: given}]}


SHAPES = {
    # what the work is like, and the bytes that Claude's public tokenizer made a token of there
    "big files are read": (2.82, [use("Read", file_path=f"src/module_{n}.py") for n in range(6)]),
    "much is said": (
        4.45,
        [{"say": PROSE * 40, **use("Read", file_path=f"none_{n}")} for n in range(20)],
    ),
    "commands print much": (
        3.36,
        [use("Bash", command=f"cat src/module_{n}.py | head -c 20000") for n in range(5)],
    ),
    "many small steps": (
        2.57,
        [use("Write", file_path=f"src/step_{n}.py", content=f"n = {n}") for n in range(40)],
    ),
    "it is Chinese": (
        3.70,
        [{"say": CHINESE * 6, **use("Write", file_path=f"{n}.md", content=CHINESE * 50)}
         for n in range(8)],
    ),
}  # fmt: skip
_INSTRUCTIONS = 9_821
"""Tokens of Claude Code's system prompt and tools, by the same tokenizer."""


@pytest.mark.soak
@pytest.mark.parametrize("shape", SHAPES)
def test_the_estimate_is_near_what_really_was_sent(install, servers, shape):
    """Within 20 % of the newest request where no usage is claimed, whatever the work is like."""
    ratio, steps = SHAPES[shape]
    working = {"say": "Working on.", "takes": "4s"}
    pcc = install({"usage": {"input": 0, "output": 0}, "steps": [*steps, working]})
    (pcc.project / "src").mkdir()
    for n in range(6):
        (pcc.project / "src" / f"module_{n}.py").write_text(SOURCE)

    session = start(pcc, "--warn-tokens", "900000", "--hard-tokens", "950000")

    pcc.wait(session, within=90)
    [status] = pcc.project.glob(".claude-handover/**/status.txt")
    estimate = int(status.read_text().split()[1].replace(",", ""))
    body = json.loads(servers[0].conversations[0].requests[-1].raw)
    real = _INSTRUCTIONS + size(body["messages"]) / ratio
    assert abs(estimate - real) / real < 0.2, (estimate, real)
