"""A perpetual session on the real Claude Code: the work moves on before a context is full."""


import pytest

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]


@pytest.fixture
def servers():
    """The scripted models that the test started."""
    return []


@pytest.fixture
def rehearsal(rehearsal, servers):
    def play(text, **more):
        servers.append(rehearsal(text, **more))
        return servers[-1]

    return play


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


def start(pcc, *words: str, task: str = MISSION) -> str:
    said = pcc.pcc("perpetual", str(pcc.project), "--task", task, "--detach", *words).stdout
    return said.split()[2]


def handovers(pcc, session):
    return pcc.events(session, "HandoverDone")


def test_a_session_hands_over_at_the_warning_and_a_fresh_one_finishes(install, servers):
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
    third = servers[0].conversations[2].requests[0]
    prompt = "\n".join(str(message["content"]) for message in third.messages)
    assert MISSION in prompt
    assert "Build wonder 3" in prompt
    assert "- Wonder 1" in prompt
    assert "which must not count" not in prompt
    archive = pcc.project / ".claude-handover" / "archive"
    assert sorted(path.name for path in archive.iterdir()) == ["1", "2"]
    assert (archive / "2" / "status.txt").read_text().splitlines()[0].startswith("TOKENS: 95,0")
