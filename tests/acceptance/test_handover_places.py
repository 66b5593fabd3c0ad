"""Handover folders that nobody can write in: one that is read-only, one that leads elsewhere."""

import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.acceptance.supervised import Supervised

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

FOLDER = ".claude-handover"
# Nobody but these processes sees the mount; it ends with them. It holds for root too.
_MOUNTED = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'


def read_only(path: Path) -> list[str]:
    """What to write before a command for which the directory is read-only."""
    return ["unshare", "--mount", "--map-root-user", "sh", "-c", _MOUNTED, "sh", str(path)]


@pytest.fixture
def needs_mounts(tmp_path):
    try:
        done = subprocess.run(
            [*read_only(tmp_path), "touch", str(tmp_path / "x")], capture_output=True, check=False
        )
    except OSError:
        pytest.skip("there is no unshare here")
    if b"Read-only" not in done.stderr:
        pytest.skip(f"no mount of one's own: {done.stderr.decode()}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shut(Supervised):
    """The first command brings the daemon up, and with it all of its world."""

    place: Path

    def pcc(
        self, *words: str, check: bool = True, stdin: str | None = None, within: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*read_only(self.place), *self.command(*words)],
            env=self.environment,
            input=stdin or "",
            capture_output=True,
            text=True,
            check=False,
            timeout=self.patience if within is None else within,
        )
        assert not check or done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done


HALVES = """
scenes:
  - name: second
    when: /RECOVERY|earlier session worked/
    steps: [Both halves are there.]
  - name: first
    steps:
      - tools: [Write: {file_path: "{project}/src/first.py", content: "1"}]
        usage: {input: 161000}
      - tools: [Read: {file_path: "{project}/src/first.py"}]
        usage: {input: 161000}
      - tools: [Write: {file_path: "{project}/src/more.py", content: "2"}]
        usage: {input: 176000}
      - {say: I would go on for ever., takes: 20s}
"""


def small_window(pcc: Supervised) -> Supervised:
    return replace(pcc, environment={**pcc.environment, "ANTHROPIC_MODEL": "claude-haiku-4-5"})


def shut(pcc: Supervised) -> Shut:
    place = pcc.project / FOLDER
    place.mkdir()
    return Shut(
        locations=pcc.locations, environment=pcc.environment, project=pcc.project, place=place
    )


@pytest.mark.usefixtures("needs_mounts")
def test_a_perpetual_session_is_refused_where_its_folder_is_read_only(install):
    pcc = shut(install("steps: [Never.]"))

    refused = pcc.pcc("perpetual", str(pcc.project), "--task", "x", check=False)

    assert refused.returncode == 1
    assert "cannot be used: Read-only file system" in refused.stderr
    assert "hint:" in refused.stderr
    assert pcc.json("list") == []
    assert list((pcc.project / FOLDER).iterdir()) == []


@pytest.mark.parametrize("place", ["read-only", pytest.param("link", marks=pytest.mark.soak)])
def test_an_ordinary_session_hands_over_through_the_database_alone(
    install, tmp_path, request, place
):
    pcc = small_window(install(HALVES))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if place == "link":
        (pcc.project / FOLDER).symlink_to(elsewhere)
    else:
        request.getfixturevalue("needs_mounts")
        pcc = shut(pcc)

    session = pcc.start("Build both halves")

    assert pcc.wait(session, within=60)["status"] == "COMPLETED", pcc.log(session)
    assert [one["manner"] for one in pcc.events(session, "HandoverDone")] == ["forced"]
    assert len(pcc.events(session, "RunStarted")) == 2
    problems = [one["text"] for one in pcc.events(session, "ProblemNoticed")]
    assert any("cannot be used" in text for text in problems), problems
    assert list(elsewhere.iterdir()) == []
    assert list((pcc.project / FOLDER).iterdir()) == []


@pytest.mark.soak
def test_a_folder_that_becomes_a_link_in_mid_work_is_not_followed(install, tmp_path):
    """A command of Claude's own replaces it; nothing is written where it leads."""
    pcc = install(
        """
        scenes:
          - name: second
            when: /perpetual-session iteration="2"/
            steps: [Finished.]
          - name: first
            steps:
              - tools: [Write: {file_path: "{project}/src/a.py", content: "1"}]
                usage: {input: 1000}
              - say: A while.
                takes: 3s
                tools: [Read: {file_path: "{project}/src/a.py"}]
              - tools: [Write: {file_path: "{project}/src/b.py", content: "2"}]
                usage: {input: 130000}
              - {say: I would go on for ever., takes: 20s}
        """
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    said = pcc.pcc("perpetual", str(pcc.project), "--task", "Two files", "--detach").stdout
    session = said.split()[2]
    pcc.wait_for_event(session, "ToolFinished")

    shutil.rmtree(pcc.project / FOLDER)
    (pcc.project / FOLDER).symlink_to(elsewhere)

    stopped = pcc.wait(session, "ERROR", within=60)
    assert "is a link" in stopped["detail"]
    assert list(elsewhere.iterdir()) == []
    [waiting] = pcc.json("pending")
    (pcc.project / FOLDER).unlink()
    pcc.pcc("respond", str(waiting["number"]), "retry")
    assert pcc.wait(session, "COMPLETED", within=60)
    assert len(pcc.events(session, "HandoverDone")) == 1
    assert (pcc.project / "src" / "b.py").read_text() == "2"
