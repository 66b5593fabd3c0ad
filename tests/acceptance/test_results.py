"""What a night made in a worktree is looked at, taken, or thrown away; nothing of it is lost."""

import os
import signal
import subprocess

import pytest

from perpetualcc.daemon.putting_back import putting_back
from tests.acceptance.supervised import wait_until
from tests.repositories import git

pytestmark = [pytest.mark.claude, pytest.mark.timeout(240)]

STORY = """
scenes:
  - when: resolve the conflicts
    steps:
      - tools: [Bash: {command: "git merge main"}]
      - tools: [Bash: {command: "echo both > app.py"}]
      - tools: [Bash: {command: "git add -A; git commit -qm Both"}]
      - Resolved.
  - steps:
      - tools: [Write: {file_path: "{project}/made.py", content: "made\\n"}]
      - tools: [Bash: {command: "echo dark > app.py"}]
      - tools: [Bash: {command: "git add -A; git commit -qm 'A dark mode'"}]
      - tools: [Bash: {command: "git push --force"}]
      - Finished.
"""


def evening(pcc) -> None:
    place = pcc.project
    git(place, "init", "-q", "-b", "main")
    git(place, "config", "user.name", "Anna")
    git(place, "config", "user.email", "anna@example.com")
    (place / "app.py").write_text("light\n")
    (place / "other.py").write_text("other\n")
    (place / ".gitignore").write_text(".env\n")
    git(place, "add", ".")
    git(place, "commit", "-qm", "A person's")
    git(place, "branch", "-M", "main")


def night(pcc, name: str = "dark", *words: str) -> tuple[str, "object"]:
    session = pcc.start("Make it dark", "--worktree", name, *words)
    assert pcc.wait(session)["status"] == "COMPLETED"
    return session, pcc.project / ".claude" / "worktrees" / name


def head(place, name: str = "HEAD") -> str:
    return git(place, "rev-parse", name).strip()


def standing(place) -> tuple[str, ...]:
    """All that must stay as it is."""
    words = ("status --porcelain", "rev-parse HEAD", "branch -a", "stash list", "log --format=%H")
    return tuple(git(place, *line.split()) for line in words)


def test_a_night_in_a_worktree_is_reviewed_taken_and_cleared_away(install):
    pcc = install(STORY)
    evening(pcc)
    session, place = night(pcc, "dark", "--check", "test -f made.py")
    (place / "notes.txt").write_text("left over\n")
    before = standing(pcc.project)

    told = pcc.json("review", session)
    said = pcc.pcc("review", session).stdout

    assert standing(pcc.project) == before
    assert [one["subject"] for one in told["commits"]] == ["A dark mode"]
    assert told["not_committed"] == [{"name": "notes.txt", "change": "added"}]
    assert {one["name"]: (one["added"], one["removed"]) for one in told["lines"]} == {
        "app.py": (1, 1),
        "made.py": (1, 0),
        "notes.txt": (1, 0),
    }
    assert (told["merge"], told["conflicts"], told["blocked"]) == ("forward", [], [])
    assert told["proofs"] == {"test -f made.py": ""}
    for line in (
        "✓ Check test -f made.py",
        "Refused: Bash → git push --force",
        "A dark mode",
        "Not committed: notes.txt",
        "3 files, 3 lines more, 1 less:",
        f"pcc accept {session} --commit",
        f"pcc discard {session}",
    ):
        assert line in said
    assert f"pcc review {session}" in pcc.pcc("status", session).stdout
    assert f"pcc review {session}" in pcc.pcc("report", session).stdout

    refused = pcc.pcc("accept", session, "--yes", check=False)
    assert (refused.returncode, "notes.txt" in refused.stderr) == (1, True)
    assert f"pcc accept {session} --commit" in refused.stderr
    assert "nobody can be asked" in pcc.pcc("accept", session, "--commit", check=False).stderr
    assert standing(pcc.project) == before
    assert head(place) == told["head"]

    with putting_back(pcc.locations, pcc.project):
        held = pcc.pcc("accept", session, "--commit", "--yes", check=False).stderr
    assert "another pcc undo or accept is at work" in held
    assert head(place) == told["head"]

    (pcc.project / "other.py").write_text("mine, not committed\n")
    done = pcc.pcc("accept", session, "--commit", "--remove", "--yes").stdout

    assert git(pcc.project, "log", "--format=%an %s") == (
        "Anna Make it dark\nAnna A dark mode\nn A person's\n"
    )
    assert git(pcc.project, "status", "--porcelain") == " M other.py\n"
    assert (pcc.project / "app.py").read_text() == "dark\n"
    assert "Take that back with: git -C" in done
    assert not place.exists()
    assert git(pcc.project, "branch", "--format=%(refname:short)") == "main\n"
    assert f"pcc undo {session} undo-1\n" in done
    report = pcc.pcc("report", session).stdout
    assert "pcc review" not in report
    assert "Merged worktree-dark into main: 3 files, by " in report
    assert f"back from there: pcc undo {session} undo-1" in report
    for line in ("Merged worktree-dark into main: 3 files, ", "Thrown away: worktree-dark, by "):
        assert line in pcc.log(session)
    [began], [merged] = pcc.events(session, "MergeBegan"), pcc.events(session, "MergeDone")
    told = ("branch", "into", "before", "after", "files", "by")
    assert [began[name] for name in told] == [merged[name] for name in told]
    assert (merged["before"], merged["after"]) == (before[1].strip(), head(pcc.project))


def test_conflicts_change_nothing_and_the_session_resolves_them(install):
    pcc = install(STORY)
    evening(pcc)
    session, place = night(pcc)
    (pcc.project / "app.py").write_text("lighter\n")
    git(pcc.project, "commit", "-qam", "Meanwhile")
    before = standing(pcc.project)

    told = pcc.json("review", session)
    ways = pcc.pcc("review", session).stdout
    refused = pcc.pcc("accept", session, "--yes", check=False)

    assert (told["merge"], told["conflicts"]) == ("conflicts", ["app.py"])
    assert refused.returncode == 1
    assert "conflicts in app.py" in refused.stderr
    for said in (refused.stderr, ways):
        assert f'pcc add {session} "Merge main into this branch' in said
    assert "pcc accept" not in ways
    assert standing(pcc.project) == before

    pcc.pcc("add", session, "Merge main into this branch and resolve the conflicts")
    wait_until(lambda: len(pcc.events(session, "TaskSettled")) == 2, within=60)
    assert "Both" in git(place, "log", "-1", "--format=%s"), pcc.log(session)
    pcc.pcc("accept", session, "--squash", "--message", "Dark, and lighter", "--yes")

    assert git(pcc.project, "log", "--format=%s") == "Dark, and lighter\nMeanwhile\nA person's\n"
    assert (pcc.project / "app.py").read_text() == "both\n"
    assert git(pcc.project, "status", "--porcelain") == ""
    again = pcc.pcc("accept", session, "--yes").stdout
    assert again.startswith("Nothing to merge: ")


def test_what_was_thrown_away_is_brought_back_whole(install):
    pcc = install(STORY)
    evening(pcc)
    session, place = night(pcc)
    tip = head(place)
    (place / "notes.txt").write_text("not committed\n")
    (place / "app.py").write_text("darker\n")
    (place / "other.py").unlink()
    before = git(place, "status", "--porcelain")

    assert "nobody can be asked" in pcc.pcc("discard", session, check=False).stderr
    assert place.is_dir()
    said = pcc.pcc("discard", session, "--yes").stdout

    assert not place.exists()
    assert [one.name for one in place.parent.iterdir()] == [".gitignore"]
    assert git(pcc.project, "branch", "--format=%(refname:short)") == "main\n"
    assert git(pcc.project, "worktree", "list").count("\n") == 1
    assert said.endswith(f"Bring it back with: pcc undo {session} undo-1\n")
    refused = pcc.pcc("add", session, "More", check=False)
    assert refused.returncode == 1
    assert "is gone" in refused.stderr

    pcc.pcc("undo", session, "undo-1", "--yes")

    assert head(place) == tip
    assert git(place, "branch", "--show-current") == "worktree-dark\n"
    assert git(place, "status", "--porcelain") == before
    assert (place / "app.py").read_text() == "darker\n"
    assert pcc.json("review", session)["merge"] == "forward"


def test_one_at_work_is_neither_taken_nor_thrown_away(install):
    pcc = install(
        """
steps:
  - ask: [{question: "Which shade?", header: Shade, options: [{label: Grey}, {label: Black}]}]
  - It is dark.
"""
    )
    evening(pcc)
    session = pcc.start("Make it dark", "--worktree", "dark")
    pcc.wait(session, "WAITING_INPUT")

    for command in ("accept", "discard"):
        refused = pcc.pcc(command, session, "--yes", check=False)
        assert (refused.returncode, f"pcc stop {session}" in refused.stderr) == (1, True)

    pcc.pcc("stop", session)
    wait_until(lambda: not pcc.claudes())
    pcc.pcc("discard", session, "--yes")
    assert pcc.look(session)["status"] == "STOPPED"
    assert pcc.pcc("add", session, "More", check=False).returncode == 1


@pytest.mark.parametrize("commits_first", [False, True])
def test_one_that_is_killed_in_the_middle_is_finished_by_the_same_command(
    install, tmp_path, commits_first
):
    pcc = install(STORY)
    evening(pcc)
    session, place = night(pcc)
    (pcc.project / "other.py").write_text("meanwhile\n")
    git(pcc.project, "commit", "-qam", "Meanwhile")
    words = ["accept", session, "--yes"]
    if commits_first:
        (place / "notes.txt").write_text("left over\n")
        words.append("--commit")
    calls = recorded_git(tmp_path)
    tries = 0

    for at in range(1, 400):
        done = killed_at(pcc, calls, at, words)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
        tries += 1

    assert tries == 5, "the commit, a look, the files, the index, the branch"
    assert git(pcc.project, "status", "--porcelain") == ""
    assert (pcc.project / "app.py").read_text() == "dark\n"
    assert git(pcc.project, "log", "-1", "--format=%s") == "Merge branch 'worktree-dark'\n"
    assert git(pcc.project, "log", "--first-parent", "--format=%s").count("\n") == 3
    assert git(pcc.project, "fsck", "--no-dangling") == ""


def test_a_removal_that_is_killed_is_finished_by_the_same_command(install, tmp_path):
    pcc = install(STORY)
    evening(pcc)
    session, place = night(pcc)
    (place / "notes.txt").write_text("not committed\n")
    calls, words = recorded_git(tmp_path), ["discard", session, "--yes"]

    ended = [killed_at(pcc, calls, at, words) for at in (1, 2, 99)]

    codes = [one.returncode for one in ended]
    assert codes == [-signal.SIGKILL, -signal.SIGKILL, 0], ended[-1].stderr
    assert [one.name for one in place.parent.iterdir()] == [".gitignore"]
    assert git(pcc.project, "branch", "--format=%(refname:short)") == "main\n"
    [_, kept] = pcc.json("undo", session, "--list")
    pcc.pcc("undo", session, kept["name"], "--yes")
    assert (place / "notes.txt").read_text() == "not committed\n"
    assert git(place, "status", "--porcelain") == "?? notes.txt\n"


def recorded_git(folder):
    """A `git` that counts the calls that change something, and kills who called it at one."""
    place = folder / "counting"
    place.mkdir()
    real = subprocess.run(["which", "git"], check=True, capture_output=True, text=True)
    (place / "git").write_text(
        "#!/bin/sh\n"
        'case " $* " in *" read-tree "* | *" update-ref "* | *" commit-tree "* |'
        ' *" worktree remove "*)\n'
        f'n=$(($(cat "{place}/n") + 1)); echo $n > "{place}/n"\n'
        f'[ $n = "$(cat "{place}/at")" ] && kill -9 $PPID && exit 1;;\n'
        "esac\n"
        f'exec {real.stdout.strip()} "$@"\n'
    )
    (place / "git").chmod(0o755)
    return place


def killed_at(pcc, calls, number: int, words) -> "subprocess.CompletedProcess[str]":
    (calls / "n").write_text("0")
    (calls / "at").write_text(str(number))
    variables = {**pcc.environment, "PATH": f"{calls}:{pcc.environment['PATH']}"}
    return subprocess.run(
        pcc.command(*words),
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        cwd=os.sep,
        timeout=60,
    )
