"""Claude Code's own worktrees, real ones: work goes on in them, and what is guarded stays so."""

import pytest

from tests.repositories import git

pytestmark = [pytest.mark.claude, pytest.mark.timeout(150)]

STORY = """
scenes:
  - when: outer
    steps:
      - tools: [ToolSearch: {query: "select:EnterWorktree,ExitWorktree", max_results: 5}]
      - tools: [EnterWorktree: {name: feat}]
      - tools: [Write: {file_path: "{project}/.claude/worktrees/feat/src/made.py", content: "1"}]
      - tools: [Bash: {command: "echo 1 > src/redirected.py"}]
      - tools: [Write: {file_path: "{project}/.claude/worktrees/feat/.claude/x", content: "1"}]
      - tools: [Bash: {command: "echo 1 > .git"}]
      - tools: [Bash: {command: "echo 1 > ../../settings.json"}]
      - tools: [ExitWorktree: {action: keep}]
      - tools: [Write: {file_path: "{project}/.claude/worktrees/feat/src/late.py", content: "1"}]
      - tools: [Bash: {command: "echo 1 > .claude/worktrees/feat/src/later.py"}]
      - tools: [Agent: {description: i, prompt: inner, subagent_type: general-purpose,
                        isolation: worktree, run_in_background: false}]
      - Finished.
  - when: inner
    steps:
      - tools: [Write: {file_path: "{project}/src/helper.py", content: "1"}]
      - tools: [Bash: {command: "echo 1 > src/helped.py"}]
      - tools: [Write: {file_path: "{project}/.claude/settings.json", content: "{}"}]
      - Helped.
"""


def test_work_goes_on_in_worktrees_and_what_is_guarded_stays_so(install):
    pcc = install(STORY)
    (pcc.project / "src").mkdir()
    (pcc.project / "src" / "app.py").write_text("print(1)")
    git(pcc.project, "init", "-q")
    git(pcc.project, "add", "src")
    git(pcc.project, "commit", "-qm", "one")

    pcc.pcc("start", str(pcc.project), "--task", "outer", check=False)

    session = pcc.json("list")[0]["id"]
    made = pcc.json("decisions", "--session", session)
    refused = {one["summary"] for one in made if one["verdict"] != "allow"}
    holder = pcc.project / ".claude" / "worktrees"
    [helper] = (path for path in holder.iterdir() if path.name.startswith("agent-"))
    where = "[in .claude/worktrees/feat]"
    assert refused == {f"echo 1 > .git {where}", f"echo 1 > ../../settings.json {where}"}
    failed = [one for one in pcc.events(session, "ToolFinished") if one["is_error"]]
    assert len(failed) == 4, "the static rules refuse the two that are written by `Write`"
    assert {path.name for path in (holder / "feat" / "src").iterdir()} == {
        "app.py", "made.py", "redirected.py", "late.py", "later.py",
    }  # fmt: skip
    assert not (helper / ".claude").exists()
    helped = {path.name for path in (helper / "src").iterdir()}
    assert helped == {"app.py", "helper.py", "helped.py"}
    assert [path.name for path in (pcc.project / ".claude").iterdir()] == ["worktrees"]
    assert git(holder / "feat", "status", "--short", "src").count("??") == 4


OWN = """
scenes:
  - steps:
      - tools: [Write: {file_path: "{project}/src/made.py", content: "1"}]
      - tools: [Bash: {command: "echo 1 > src/redirected.py"}]
      - tools: [Bash: {command: "git add -A"}]
      - tools: [Bash: {command: "git stash list"}]
      - tools: [Write: {file_path: "{project}/.claude/settings.json", content: "{}"}]
      - Finished.
"""


def committed(pcc) -> None:
    (pcc.project / "src").mkdir()
    (pcc.project / "src" / "app.py").write_text("print(1)")
    (pcc.project / "CLAUDE.md").write_text("Use tabs")
    git(pcc.project, "init", "-q")
    git(pcc.project, "add", "src", "CLAUDE.md")
    git(pcc.project, "commit", "-qm", "one")


def test_sessions_work_side_by_side_in_worktrees_that_are_guarded_as_the_project_is(install):
    pcc = install(OWN)
    committed(pcc)
    pcc.pcc("trust", str(pcc.project), "--yes")
    policy = pcc.project / ".perpetualcc" / "policy.toml"
    policy.parent.mkdir(exist_ok=True)
    policy.write_text('[permissions]\nblocked_commands = ["git stash"]\n')
    dark = pcc.project / ".claude" / "worktrees" / "dark"
    here = ("start", str(pcc.project), "--task", "go")
    pcc.pcc(*here, "--at", "in 9 hours")
    git(pcc.project, "add", "-f", ".perpetualcc/policy.toml")
    before = git(pcc.project, "status", "--short")

    pcc.pcc(*here, "--worktree", "dark", "--check", "test -f src/made.py", check=False)

    session = next(one for one in pcc.json("list") if one["name"] == "dark")
    assert (session["project"], session["status"]) == (str(dark), "COMPLETED")
    made = pcc.json("decisions", "--session", session["id"])
    refused = [one["summary"] for one in made if one["verdict"] != "allow"]
    assert refused == ["git stash list"], "the static rules refuse the settings"
    assert not (dark / ".claude").exists()
    assert git(dark, "branch", "--show-current") == "worktree-dark\n"
    assert git(dark, "status", "--short") == "A  src/made.py\nA  src/redirected.py\n"
    assert git(pcc.project, "status", "--short") == before, "git does not see the worktrees"

    pcc.pcc(*here, "--worktree", "dark", "--detach")

    assert git(pcc.project, "worktree", "list").count("\n") == 2, "it is the same one"


ASKS = """
steps:
  - ask: [{question: "Which shade?", header: Shade, options: [{label: Grey}, {label: Black}]}]
  - It is dark.
"""


def test_a_worktree_stays_while_a_session_works_there_and_may_go_then(install):
    pcc = install(ASKS)
    git(pcc.project, "init", "-q")
    git(pcc.project, "commit", "-qm", "one", "--allow-empty")
    session = pcc.start("Make it dark", "--worktree", "dark")
    pcc.wait(session, "WAITING_INPUT")
    place = pcc.project / ".claude" / "worktrees" / "dark"

    [waiting] = pcc.json("worktrees", str(pcc.project))
    pcc.pcc("worktrees", str(pcc.project), "--remove")

    assert waiting["keeps"][0].startswith(f"session {session} is ")
    assert place.is_dir()
    pcc.pcc("respond", str(pcc.json("pending")[0]["number"]), "Grey")
    assert pcc.wait(session)["status"] == "COMPLETED"
    assert pcc.pcc("worktrees", str(pcc.project), "--remove").stdout.startswith("Removed dark, ")
    assert not place.exists()
