"""A night's work is seen, taken back, and brought again; what was not committed is never lost."""

import os
import shutil
import subprocess
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from perpetualcc.gateway.client import ConnectionLost
from tests.acceptance.supervised import wait_until
from tests.repositories import git

pytestmark = [pytest.mark.claude, pytest.mark.timeout(180)]

STORY = """
scenes:
  - when: second
    steps:
      - tools: [Write: {file_path: "{project}/late.py", content: "late\\n"}]
      - Finished too.
  - when: first
    steps:
      - tools: [Write: {file_path: "{project}/made.py", content: "made\\n"}]
      - tools: [Bash: {command: "echo two > app.py"}]
      - tools: [Bash: {command: "git add -A; git commit -qm 'By the agent'"}]
      - Finished.
"""


def evening(pcc) -> dict[str, str]:
    """A person's own work, not committed."""
    place = pcc.project
    (place / "app.py").write_text("one\n")
    (place / ".gitignore").write_text(".env\n")
    git(place, "add", ".")
    git(place, "commit", "-qm", "A person's")
    (place / "app.py").write_text("one, and mine\n")
    (place / "notes.txt").write_text("mine\n")
    (place / ".env").write_text("SECRET=1\n")
    git(place, "config", "user.name", "n")
    git(place, "config", "user.email", "n@example.com")
    return files(place)


def files(place) -> dict[str, str]:
    return {
        str(path.relative_to(place)): path.read_text()
        for path in place.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def test_a_night_is_seen_taken_back_and_brought_again(install):
    pcc = install(STORY)
    before = evening(pcc)
    session = pcc.start("first")
    pcc.wait(session)
    (pcc.project / "notes.txt").unlink()  # to lose it the agent would have had to ask
    pcc.pcc("add", session, "second")
    wait_until((pcc.project / "late.py").exists)
    pcc.wait(session)
    morning = files(pcc.project)

    everything = pcc.json("diff", session)
    [one, two] = pcc.json("undo", session, "--list")
    first, second = pcc.json("diff", session, one["task"]), pcc.json("diff", session, "second")

    assert {each["name"]: each["change"] for each in everything["files"]} == {
        "app.py": "changed",
        "late.py": "added",
        "made.py": "added",
        "notes.txt": "deleted",
    }
    assert [each["subject"] for each in everything["commits"]] == ["By the agent"]
    assert {each["name"] for each in first["files"]} == {"app.py", "made.py", "notes.txt"}
    assert [each["name"] for each in second["files"]] == ["late.py"]
    assert second["commits"] == []
    patch = pcc.pcc("diff", session).stdout
    assert patch.startswith("diff --git a/app.py b/app.py\n")
    assert "-one, and mine\n+two\n" in patch
    assert pcc.pcc("diff", session, "--name-only").stdout.split() == [
        *("app.py", "late.py", "made.py", "notes.txt"),
    ]
    stat = pcc.pcc("diff", session, "--stat").stdout
    assert "By the agent\n" in stat
    assert "4 files changed" in stat

    (patch_file := pcc.project.parent / "part.patch").write_text(
        pcc.pcc("diff", session, one["task"]).stdout
    )
    git(pcc.project, "apply", "-R", str(patch_file))
    assert files(pcc.project) == before | {"late.py": "late\n"}, "only the first one's part"
    git(pcc.project, "apply", str(patch_file))
    assert files(pcc.project) == morning

    assert f"See it: pcc diff {session}  Take" in pcc.pcc("report", session).stdout

    refused = pcc.pcc("undo", session, check=False)
    assert refused.returncode == 1
    assert "nobody can be asked" in refused.stderr
    assert files(pcc.project) == morning

    said = pcc.pcc("undo", session, "--yes").stdout

    assert files(pcc.project) == before
    assert f"Take that back with: pcc undo {session} undo-1\n" in said
    assert git(pcc.project, "log", "-1", "--format=%s") == "By the agent\n"
    assert f"reset {git(pcc.project, 'rev-parse', 'HEAD~1')[:12]}" in said
    assert pcc.pcc("undo", session, "--yes").stdout.startswith("Nothing to put back")

    pcc.pcc("undo", session, "undo-1", "--yes")
    assert files(pcc.project) == morning

    pcc.pcc("undo", session, two["task"], "--yes")
    assert files(pcc.project) == {k: v for k, v in morning.items() if k != "late.py"}


KILLED = """
steps:
  - tools: [Write: {file_path: "{project}/made.py", content: "made\\n"}]
  - ask: [{question: "Which shade?", header: Shade, options: [{label: Grey}, {label: Black}]}]
  - tools: [Write: {file_path: "{project}/late.py", content: "late\\n"}]
  - It is done.
"""


def test_a_task_that_goes_on_after_a_crash_keeps_its_first_snapshot(install):
    pcc = install(KILLED)
    before = evening(pcc)
    session = pcc.start("Make it dark")
    pcc.wait(session, "WAITING_INPUT")
    [first] = pcc.json("undo", session, "--list")

    refused = pcc.pcc("undo", session, "--yes", check=False)
    assert refused.returncode == 1
    assert f"pcc pause {session}" in refused.stderr
    assert (pcc.project / "made.py").exists()

    pcc.kill_engine()
    pcc.wait(session, "WAITING_INPUT")
    pcc.pcc("respond", str(pcc.json("pending")[0]["number"]), "Grey")
    assert pcc.wait(session)["status"] == "COMPLETED"
    [now] = pcc.json("undo", session, "--list")

    assert now == first
    pcc.pcc("undo", session, "--yes")
    assert files(pcc.project) == before


def test_a_project_without_a_repository_is_told_of_once(install, tmp_path):
    pcc = install("steps: [Finished.]")
    place = tmp_path / "plain"
    place.mkdir()
    session = pcc.start("first", project=place)
    pcc.wait(session)
    pcc.pcc("add", session, "second")
    wait_until(lambda: len(pcc.events(session, "TaskStarted")) == 2)
    pcc.wait(session)

    assert [event["reason"] for event in pcc.events(session, "SnapshotMissed")] == [
        "the project is in no git repository"
    ]
    said = pcc.pcc("diff", session, check=False)
    assert said.returncode == 1
    assert "There is no snapshot: the project is in no git repository" in said.stderr


SLOW = """#!/bin/sh
case " $* " in *" read-tree -m -u "*)
    touch {began}
    until [ -e {goes_on} ]; do sleep 0.1; done
esac
exec {git} "$@"
"""


def slow_git(pcc, tmp_path) -> tuple[Path, Path, dict[str, str]]:
    """What it makes as it begins to write, what it then waits for, and how it is found."""
    began, goes_on, slow = tmp_path / "began", tmp_path / "goes-on", tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(SLOW.format(began=began, goes_on=goes_on, git=shutil.which("git")))
    slow.chmod(0o755)
    return began, goes_on, {**pcc.environment, "PATH": f"{slow.parent}:{os.environ['PATH']}"}


def test_no_task_begins_and_nothing_else_is_put_back_while_files_are(install, tmp_path):
    """Not even when the command is killed: its git is still at work."""
    pcc = install(STORY)
    before = evening(pcc)
    session = pcc.start("first")
    pcc.wait(session)
    began, goes_on, slow = slow_git(pcc, tmp_path)
    with subprocess.Popen(pcc.command("undo", session, "--yes"), env=slow) as command:
        wait_until(began.exists)
        second = pcc.pcc("undo", session, "--yes", check=False)
        pcc.pcc("add", session, "second")
        command.kill()
    time.sleep(1.0)

    assert "another pcc undo or accept is at work" in second.stderr
    assert len(pcc.events(session, "SnapshotTaken")) == 1
    assert files(pcc.project) != before

    goes_on.touch()
    wait_until((pcc.project / "late.py").exists)
    pcc.wait(session)
    assert files(pcc.project) == before | {"late.py": "late\n"}
    pcc.pcc("undo", session, "second", "--yes")
    assert files(pcc.project) == before


def test_a_git_that_outlives_a_killed_engine_keeps_tasks_from_beginning(install, tmp_path):
    pcc = install(STORY)
    before = evening(pcc)
    began, goes_on, slow = slow_git(pcc, tmp_path)
    pcc = replace(pcc, environment=slow)
    session = pcc.start("first")
    pcc.wait(session)
    name = pcc.ask("snapshot.list", session=session)["chosen"]
    planned = pcc.ask("snapshot.plan", session=session, snapshot=name)
    asked = {"session": session, "snapshot": name, "present": planned["present"]}

    def restore() -> None:
        with pcc.connect() as daemon, suppress(ConnectionLost):
            daemon.call("snapshot.restore", **asked)

    restoring = Thread(target=restore)
    restoring.start()
    wait_until(began.exists)
    pcc.kill_engine()
    restoring.join()
    pcc.pcc("add", session, "second")
    time.sleep(1.0)

    assert len(pcc.events(session, "SnapshotTaken")) == 1
    assert files(pcc.project) != before

    goes_on.touch()
    wait_until((pcc.project / "late.py").exists)
    pcc.wait(session)
    assert files(pcc.project) == before | {"late.py": "late\n"}


def test_a_snapshot_whose_repository_is_another_one_by_now_touches_nothing(install):
    pcc = install("steps: [Finished.]")
    evening(pcc)
    session = pcc.start("first")
    pcc.wait(session)
    shutil.rmtree(pcc.project / ".git")
    git(pcc.project, "init", "-q")
    (pcc.project / "app.py").write_text("of another one\n")
    now = files(pcc.project)

    for words in (("undo", session, "--yes"), ("diff", session)):
        said = pcc.pcc(*words, check=False)
        assert said.returncode == 1
        assert "is not in the repository at" in said.stderr
    assert files(pcc.project) == now
