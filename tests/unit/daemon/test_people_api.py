"""What clients may ask about what waits for people."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from perpetualcc.daemon.people_api import rule_from
from perpetualcc.domain.escalations import Escalation, EscalationRequest, EscalationType
from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId
from perpetualcc.permissions.rules import RuleSubject

HOME = Path("/a/p")
TREE = HOME / ".claude/worktrees/dark"


def asked(tool: str, **given: str) -> Escalation:
    request = EscalationRequest(
        session=SessionId("s"), run=RunId("r"), task=TaskId("t"), request=RequestId("q"),
        type=EscalationType.PERMISSION, title=tool, raw={"tool": tool, "input": given},
    )  # fmt: skip
    return Escalation(number=1, request=request, raised_at=0.0)


@pytest.mark.parametrize(
    ("project", "path", "pattern"),
    [
        (HOME, "web/a.py", "/a/p/web/a.py"),
        (HOME, "/elsewhere/a.py", "/elsewhere/a.py"),
        (TREE, "web/a.py", "web/a.py"),
        (TREE, str(TREE / "web/a.py"), "web/a.py"),
        (TREE, "/a/p/web/a.py", "/a/p/web/a.py"),
        (TREE / "web", "a.py", "a.py"),
        (TREE / "web", str(TREE / "a.py"), str(TREE / "a.py")),
    ],
)
def test_a_rule_about_a_file_holds_for_the_project_and_its_worktrees(project, path, pattern):
    rule = rule_from(asked("Write", file_path=path), project)

    assert (rule.subject, rule.pattern) == (RuleSubject.PATH, pattern)
    assert rule.project == str(HOME / "web" if project.name == "web" else HOME)
    assert rule.holds_in(project)


def test_a_rule_about_a_command_holds_for_the_project_and_its_worktrees():
    rule = rule_from(asked("Bash", command="make x"), TREE)

    assert rule.subject is RuleSubject.LINE
    assert (rule.pattern, rule.project) == ("make x", str(HOME))
    assert rule.holds_in(TREE.parent / "other")
    assert not rule.holds_in(Path("/a/q"))


def test_what_a_file_is_called_is_no_pattern():
    rule = rule_from(asked("Write", file_path="app/[id]/page.tsx"), TREE)

    assert fnmatchcase("app/[id]/page.tsx", rule.pattern)
    assert not fnmatchcase("app/i/page.tsx", rule.pattern)


def test_what_no_line_says_all_of_is_approved_once():
    elsewhere = asked("Bash", command="make x")
    elsewhere.request.raw["cwd"] = "/tmp"

    assert rule_from(elsewhere, HOME) is None
    assert rule_from(asked("Bash", command="make x", dangerouslyDisableSandbox=True), HOME) is None
