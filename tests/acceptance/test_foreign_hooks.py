"""Hooks of the user's settings, a trusted project's and a plugin's beside the gate."""

import json
import shlex
import sys

import pytest

pytestmark = [pytest.mark.claude, pytest.mark.timeout(150)]

HOOK = """
import json, os, sys, time
given, answer = json.load(sys.stdin), json.loads(sys.argv[1])
after, ended = answer.pop("after", "/"), answer.pop("ended", os.devnull)
while not os.path.exists(after):
    time.sleep(0.05)
time.sleep(answer.pop("seconds", 0))
event = given["hook_event_name"]
if event == "PermissionRequest":
    told = {"decision": {"behavior": "allow", **answer}}
else:
    told = answer
if "updatedInput" in answer:
    answer["updatedInput"] = {**given["tool_input"], **answer["updatedInput"]}
print(json.dumps({"hookSpecificOutput": {"hookEventName": event, **told}}), flush=True)
open(ended, "w").close()
"""
WAITS = '[human]\nunattended = "wait"\n'


def hooked(folder, event="PreToolUse", **answer):
    """Settings with one hook that gives this answer to whatever it is asked."""
    script = folder / "hook.py"
    script.write_text(HOOK)
    command = shlex.join([sys.executable, str(script), json.dumps(answer)])
    entry = {"matcher": "*", "hooks": [{"type": "command", "command": command}]}
    return {"hooks": {event: [entry]}}


def both(first, second):
    return {"hooks": first["hooks"] | second["hooks"]}


def of_the_user(pcc, settings):
    file = pcc.project.parent / "home" / ".claude" / "settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings))


def of_the_project(pcc, settings):
    file = pcc.project / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps(settings))
    pcc.pcc("trust", str(pcc.project), "--yes")


def of_a_plugin(pcc, settings):
    """A skill's directory with a manifest is a plugin; one in the user's own folder is enabled."""
    place = pcc.project.parent / "home" / ".claude" / "skills" / "rewriter"
    for name, content in (
        (".claude-plugin/plugin.json", {"name": "rewriter", "version": "1.0.0"}),
        ("hooks/hooks.json", settings),
    ):
        (place / name).parent.mkdir(parents=True)
        (place / name).write_text(json.dumps(content))


def made(pcc, session):
    """What was decided, oldest first: the call in one line, the verdict and why."""
    found = reversed(pcc.json("decisions", "--session", session))
    return [(one["summary"], one["verdict"], one["reason"]) for one in found]


def touch(name):
    return {"command": f"touch src/{name}"}


CALL = """
steps:
  - tools: [{Bash: {command: "touch src/given"}}]
  - Finished.
"""


def play(pcc):
    (pcc.project / "src").mkdir(exist_ok=True)
    session = pcc.start("x")
    pcc.wait(session)
    return session


def files(pcc):
    return sorted(path.name for path in (pcc.project / "src").iterdir())


@pytest.mark.parametrize("place", [of_the_user, of_the_project, of_a_plugin])
@pytest.mark.parametrize("decision", ["allow", "", "ask"])
def test_what_a_hook_makes_of_a_call_is_judged_before_it_happens(install, place, decision):
    pcc = install(CALL)
    told = {"permissionDecision": decision} if decision else {}
    place(pcc, hooked(pcc.project.parent, updatedInput={"command": "rm -rf src/given"}, **told))

    session = play(pcc)

    assert [(one, verdict) for one, verdict, _ in made(pcc, session)] == [
        ("touch src/given", "allow"),
        ("rm -rf src/given", "deny"),
    ]
    assert files(pcc) == []


def test_a_hook_that_rewrites_goes_on_working(install):
    pcc = install("""
        steps:
          - tools: [{Bash: {command: "touch src/given"}}]
          - tools: [{Write: {file_path: "{project}/src/a.py", content: "given"}}]
          - tools: [{Bash: {command: "touch src/given"}}]
          - Finished.
        """)
    of_the_user(pcc, hooked(pcc.project.parent, updatedInput=touch("changed")))

    session = play(pcc)

    assert files(pcc) == ["a.py", "changed"]
    (_, *first), (_, *second), *_ = made(pcc, session)
    assert (first[0], second[0]) == ("allow", "allow")
    assert second[1].startswith("A hook of the settings changed the call to this. ")


@pytest.mark.parametrize(
    "slow", [{"permissionDecision": "allow", "seconds": 0.5}, {"seconds": 2}], ids=str
)
def test_the_slowest_of_several_hooks_is_waited_for(install, tmp_path, slow):
    pcc, ended = install(CALL), str(tmp_path / "ended")
    of_the_user(pcc, hooked(pcc.project.parent, updatedInput=touch("quick"), ended=ended))
    last = hooked(pcc.project.parent, updatedInput=touch("slow"), after=ended, **slow)
    of_the_project(pcc, last)

    session = play(pcc)

    assert files(pcc) == ["slow"]
    assert [one for one, *_ in made(pcc, session)] == ["touch src/given", "touch src/slow"]


def test_hooks_that_change_nothing_cost_no_second_decision(install):
    pcc = install(CALL)
    of_the_user(pcc, hooked(pcc.project.parent, additionalContext="noted"))

    session = play(pcc)

    assert [one for one, *_ in made(pcc, session)] == ["touch src/given"]
    assert files(pcc) == ["given"]


def test_a_person_who_approved_a_call_is_asked_about_what_a_hook_makes_of_it(install):
    pcc = install('steps: [{tools: [{Bash: {command: "rm src/given"}}]}, Finished.]')
    of_the_user(pcc, hooked(pcc.project.parent, updatedInput={"command": "rm -r src"}))
    (pcc.locations.data.parent / "config.toml").write_text(WAITS)
    (pcc.project / "src").mkdir()
    (pcc.project / "src" / "given").touch()
    session = pcc.start("x")

    for number, words in ((1, "rm src/given"), (2, "rm -r src")):
        pcc.wait_for_event(session, "EscalationRaised", count=number)
        assert words in pcc.pcc("pending", str(number)).stdout
        assert (pcc.project / "src" / "given").exists()
        pcc.pcc("respond", str(number), "--approve" if number == 1 else "--deny")

    assert pcc.wait(session)["status"] == "COMPLETED"
    assert (pcc.project / "src" / "given").exists()


def test_a_hook_that_answers_permission_requests_takes_nobodys_place(install):
    """What Claude Code's own rules keep is held for a person before that hook hears of it."""
    call = "{Bash: {command: touch src/given}}"
    pcc = install(f"steps: [{{tools: [{call}]}}, {{tools: [{call}]}}, Finished.]")
    kept = {"permissions": {"ask": ["Bash(touch:*)"]}}
    of_the_user(pcc, hooked(pcc.project.parent, "PermissionRequest") | kept)
    (pcc.locations.data.parent / "config.toml").write_text(WAITS)
    (pcc.project / "src").mkdir()
    session = pcc.start("x")

    pcc.wait_for_event(session, "EscalationRaised")
    assert files(pcc) == []
    pcc.pcc("respond", "1", "--approve")

    assert pcc.wait(session)["status"] == "COMPLETED"
    assert files(pcc) == ["given"]
    first, second = pcc.events(session, "ToolFinished")
    assert "Make exactly this call again" in first["summary"]
    assert not second["is_error"]


def test_neither_does_one_beside_a_hook_that_rewrites(install):
    call = '{Bash: {command: "touch src/given"}}'
    pcc = install(f"steps: [{{tools: [{call}]}}, {{tools: [{call}]}}, Finished.]")
    rewrites = hooked(pcc.project.parent, updatedInput=touch("changed"))
    answers = hooked(pcc.project.parent, "PermissionRequest", updatedInput=touch("unjudged"))
    of_the_user(pcc, both(rewrites, answers))

    session = play(pcc)

    assert files(pcc) == ["changed"]
    assert [one for one, *_ in made(pcc, session)] == ["touch src/given", "touch src/changed"]


def test_nor_does_it_answer_questions(install):
    pcc = install("steps: [{ask: {question: 'Which one?', options: [Left, Right]}}, Finished.]")
    given = {"answers": {"Which one?": "Left"}}
    of_the_user(pcc, hooked(pcc.project.parent, "PermissionRequest", updatedInput=given))
    session = pcc.start("x")

    pcc.wait_for_event(session, "EscalationRaised")
    pcc.pcc("respond", "1", "Right")

    assert pcc.wait(session)["status"] == "COMPLETED"
    [finished] = pcc.events(session, "ToolFinished")
    assert '"Which one?"="Right"' in finished["summary"]
