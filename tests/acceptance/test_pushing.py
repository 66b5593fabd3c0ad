"""A night in a worktree is pushed for a pull request, over a real ssh, and its log says so."""

import shutil
from dataclasses import replace

import pytest

from tests.acceptance.test_machines import SSHD, program, sshd
from tests.acceptance.test_results import STORY, evening, head, night
from tests.repositories import git

pytestmark = [
    pytest.mark.claude,
    pytest.mark.timeout(240),
    pytest.mark.skipif(SSHD is None, reason="no sshd here: apt-get install openssh-server"),
]

ANSWER = r"""
printf '\nCreate a pull request:\n  https://git.example.com/new/worktree-dark\033[2J\n'
"""


def test_the_branch_goes_over_ssh_and_the_answer_is_said_without_what_steers(install, tmp_path):
    pcc = install(STORY)
    evening(pcc)
    session, place = night(pcc)
    git(tmp_path, "init", "-q", "--bare", str(tmp_path / "shop.git"))
    program(tmp_path / "shop.git" / "hooks" / "post-receive", ANSWER)
    shell = shutil.which("git-shell") or "/usr/bin/git-shell"
    door = program(tmp_path / "door", f'exec {shell} -c "$SSH_ORIGINAL_COMMAND"')
    git(pcc.project, "remote", "add", "origin", f"box:{tmp_path}/shop.git")
    with sshd(tmp_path / "sshd", door) as config:
        own = {**pcc.environment, "GIT_SSH_COMMAND": f"ssh -F {config}"}
        pcc = replace(pcc, environment=own)
        done = pcc.pcc("accept", session, "--push", "--yes").stdout
        again = pcc.json("accept", session, "--push", "--yes")

    assert "  https://git.example.com/new/worktree-dark\ufffd[2J\n" in done
    assert git(tmp_path / "shop.git", "branch") == "  worktree-dark\n"
    assert head(tmp_path / "shop.git", "worktree-dark") == head(place) == again["now"]
    assert head(pcc.project) != head(place)
    assert "Pushed worktree-dark to origin (box:" in pcc.log(session)
    report = pcc.pcc("report", session).stdout
    assert "Pushed worktree-dark to origin, by " in report
    assert "pcc review" not in report
    [first, _] = pcc.events(session, "PushDone")
    assert (first["remote"], first["commit"]) == ("origin", head(place))
