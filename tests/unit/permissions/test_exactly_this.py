"""What a person allowed as exactly this line lets nothing else through, and nowhere else."""

from pathlib import Path

import pytest

from perpetualcc.domain.tools import ToolCall
from perpetualcc.permissions.risk_classifier import analyse
from perpetualcc.permissions.rules import (
    Rule,
    RuleEffect,
    RuleSubject,
    Standing,
    line_of,
    standing,
)
from perpetualcc.permissions.settings import PermissionSettings

HOME = Path("/work/shop")
TREE = HOME / ".claude/worktrees/feat"
SETTINGS = PermissionSettings()


def called(command: str, *, project: Path = HOME, cwd: Path | None = None, **more) -> ToolCall:
    return ToolCall(tool="Bash", input={"command": command, **more}, project=project, cwd=cwd)


def allowing(subject: RuleSubject, pattern: str) -> Rule:
    return Rule(
        id="1", effect=RuleEffect.ALLOW, subject=subject, pattern=pattern, includes_high=True,
        project=str(HOME),
    )  # fmt: skip


def said(rule: Rule, call: ToolCall) -> Standing:
    return standing((rule,), analyse(call, SETTINGS), call)


def test_the_same_line_is_let_through_whatever_it_is_described_as():
    rule = allowing(RuleSubject.LINE, "rm -rf build")

    for more in ({}, {"description": "Clean up", "timeout": 5000}, {"run_in_background": True}):
        assert said(rule, called("rm -rf build", **more)) is Standing.ALLOWED
    assert said(rule, called("rm -rf build", project=TREE)) is Standing.ALLOWED


@pytest.mark.parametrize(
    "line",
    ["rm -rf build src", "rm -rf build $(cat list)", "cd .. && rm -rf build", "rm -rf build; ls"],
)
def test_what_is_added_to_it_is_another_line(line):
    assert said(allowing(RuleSubject.LINE, "rm -rf build"), called(line)) is Standing.SILENT


def test_it_runs_where_it_was_allowed_or_asks():
    rule = allowing(RuleSubject.LINE, "cd web && rm -rf build")

    assert said(rule, called("rm -rf build", cwd=HOME / "web")) is Standing.ALLOWED
    assert said(rule, called("cd web && rm -rf build")) is Standing.ALLOWED
    assert said(rule, called("rm -rf build")) is Standing.SILENT
    assert said(rule, called("rm -rf build", cwd=Path("/tmp"))) is Standing.SILENT
    assert said(rule, called("rm -rf build", dangerouslyDisableSandbox=True)) is Standing.SILENT


def test_a_line_of_several_commands_is_one():
    rule = allowing(RuleSubject.LINE, "git push && rm -rf build")

    assert said(rule, called("git push && rm -rf build")) is Standing.ALLOWED
    assert said(rule, called("git push")) is Standing.SILENT


@pytest.mark.parametrize("tool", ["Write", "WebFetch"])
def test_only_a_command_line_is_one(tool):
    call = ToolCall(tool=tool, input={"command": "ls"}, project=HOME)

    assert line_of(call, HOME) is None


@pytest.mark.parametrize(
    "call",
    [
        called("cd /tmp/x && ./deploy.sh staging"),
        called("./deploy.sh staging", cwd=Path("/tmp/x")),
        called("pushd other; ./deploy.sh staging"),
    ],
)
def test_a_command_that_names_a_file_from_here_is_not_allowed_elsewhere(call):
    rule = allowing(RuleSubject.COMMAND, "./deploy.sh staging")

    assert said(rule, called("./deploy.sh staging")) is Standing.ALLOWED
    assert said(rule, call) is Standing.SILENT


def test_a_rule_about_a_command_says_nothing_of_a_file_that_is_called_so():
    path = "npm run /../../.github/workflows/ci.yml"
    call = ToolCall(tool="Write", input={"file_path": path, "content": "x"}, project=HOME)

    assert said(allowing(RuleSubject.COMMAND, "npm run"), call) is Standing.SILENT


def test_a_rule_about_a_folder_says_nothing_of_where_a_link_in_it_leads(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "Makefile").write_text("all:\n")
    (tmp_path / "docs" / "link.md").symlink_to("../Makefile")
    rule = Rule(
        id="1", effect=RuleEffect.ALLOW, subject=RuleSubject.PATH, pattern="docs/*",
        includes_high=True, project=str(tmp_path),
    )  # fmt: skip

    def write(name):
        given = {"file_path": str(tmp_path / "docs" / name), "content": "x"}
        return ToolCall(tool="Write", input=given, project=tmp_path)

    assert said(rule, write("link.md")) is Standing.SILENT
    assert said(rule, write(".env")) is Standing.ALLOWED
