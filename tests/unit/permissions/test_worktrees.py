"""Claude Code's own worktrees: each is a project of its own, and no way round what is guarded."""

from pathlib import Path

import pytest
from judging import HOME, PROJECT, SETTINGS, judged

from perpetualcc.domain.authority import Authority, AuthorityLevel
from perpetualcc.domain.tools import Risk, ToolCall
from perpetualcc.permissions.authorization import overreach
from perpetualcc.permissions.paths import Territory
from perpetualcc.permissions.risk_classifier import analyse, classify_risk
from perpetualcc.permissions.rules import Rule, RuleEffect, RuleSubject, Standing, standing
from perpetualcc.permissions.worktrees import root_of

HOLDER = PROJECT / ".claude" / "worktrees"
HERE = HOLDER / "feat"


def risk(tool: str, value: str, *, cwd: Path = HERE, project: Path = PROJECT) -> Risk:
    name = "command" if tool == "Bash" else "file_path"
    return classify_risk(
        ToolCall(tool=tool, input={name: value}, project=project, cwd=cwd), SETTINGS
    ).risk


WRITTEN = [
    ("src/app.py", "LOW"),
    ("tests/a/b.py", "LOW"),
    ("README.md", "MEDIUM"),
    (".", "MEDIUM"),
    ("CLAUDE.md", "MEDIUM"),
    (".github/workflows/x.yml", "MEDIUM"),
    ("src/.env", "HIGH"),
    (".git", "HIGH"),
    (".git/hooks/pre-commit", "HIGH"),
    (".mcp.json", "HIGH"),
    (".claude/settings.json", "HIGH"),
    (".claude/hooks/x", "HIGH"),
    (".perpetualcc/policy.toml", "HIGH"),
]


@pytest.mark.parametrize(("path", "expected"), WRITTEN)
def test_a_worktree_is_judged_as_the_project_is(path: str, expected: str) -> None:
    assert risk("Write", f"{HERE}/{path}", cwd=PROJECT) == expected
    assert risk("Write", path) == expected
    assert risk("Write", f"{PROJECT}/{path}") == expected
    assert risk("Write", path, project=HERE) == expected, "a session of its own works in it"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo x > src/app.py", "LOW"),
        ("cp src/a.py src/b.py", "LOW"),
        ("mkdir -p src/new && touch src/new/x.py", "LOW"),
        ("npm test", "LOW"),
        ("cp ../../../README.md .", "MEDIUM"),
        ("git commit -m x", "MEDIUM"),
        ("grep -r '' .", "HIGH"),
        ("cat .env", "HIGH"),
        ("mv .git x", "HIGH"),
        ("mv ../feat /tmp/feat", "HIGH"),
        ("echo x > ../../settings.json", "HIGH"),
        ("cd ../../.. && echo x > .claude/settings.json", "HIGH"),
        ("X=..; echo x > ../$X/settings.json", "HIGH"),
        ("echo x > ../$X/settings.json", "HIGH"),
        ("echo x > .*/.*/settings.json", "HIGH"),
        ("ln -s ../../hooks h && echo x > h/a", "HIGH"),
        ("rm -rf src", "HIGH"),
    ],
)
def test_the_shell_in_a_worktree_is_judged_as_in_the_project(command: str, expected: str) -> None:
    assert risk("Bash", command) == expected


@pytest.mark.parametrize(
    "path",
    [
        ".claude/worktrees",
        ".claude/worktrees/../settings.json",
        ".claude/worktrees/feat/../../settings.json",
        ".claude/worktrees/*/src/a.py",
        ".claude/worktrees/.*/settings.json",
        ".claude/worktrees/a b/src/a.py",
        ".claude/worktrees2/src/a.py",
        ".claude/WORKTREES/feat/src/a.py",
        "src/.claude/worktrees/feat/src/a.py",
        "~/.claude/worktrees/feat/src/a.py",
    ],
)
def test_what_is_no_worktree_of_the_project_stays_guarded(path: str) -> None:
    assert risk("Write", path, cwd=PROJECT) is Risk.HIGH
    assert risk("Bash", f"echo x > {path.replace(' ', chr(92) + ' ')}", cwd=PROJECT) is Risk.HIGH


def test_a_link_in_the_place_of_worktrees_is_judged_by_where_it_leads(tmp_path: Path) -> None:
    holder = tmp_path / ".claude" / "worktrees"
    (tmp_path / ".claude" / "hooks").mkdir(parents=True)
    (holder / "real" / "src").mkdir(parents=True)
    (holder / "up").symlink_to("..")
    (holder / "out").symlink_to(HOME)
    (holder / "real" / "src" / "hooks").symlink_to("../../../hooks")

    def writing(path: str) -> Risk:
        return risk("Write", f".claude/worktrees/{path}", cwd=tmp_path, project=tmp_path)

    assert writing("real/src/a.py") is Risk.LOW
    assert writing("up/settings.json") is Risk.HIGH
    assert writing("up/src/a.py") is Risk.HIGH
    assert writing("out/src/a.py") is Risk.HIGH
    assert writing("real/src/hooks/pre.sh") is Risk.HIGH


def test_worktrees_behind_a_link_are_judged_by_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "hooks" / "x").mkdir(parents=True)
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "worktrees").symlink_to(tmp_path)
    (tmp_path / ".git").mkdir()

    def writing(path: str) -> Risk:
        return risk("Write", f".claude/worktrees/{path}", cwd=tmp_path, project=tmp_path)

    assert writing("hooks/x/a.py") is Risk.MEDIUM
    assert risk("Bash", "echo x > .claude/worktrees/../.git/config", cwd=tmp_path) is Risk.HIGH
    assert writing(".git/config") is Risk.HIGH


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("data/*.csv", ".claude/worktrees/feat/data/x.csv"),
        ("src/gen", ".claude/worktrees/feat/src/gen/a.py"),
        (".claude/worktrees/*", ".claude/worktrees/feat/src/a.py"),
    ],
)
def test_a_persons_rule_about_a_path_holds_in_a_worktree_too(pattern: str, path: str) -> None:
    one = ToolCall(tool="Write", input={"file_path": path, "content": ""}, project=PROJECT)
    found = analyse(one, SETTINGS)
    for effect, expected in (
        (RuleEffect.DENY, Standing.DENIED),
        (RuleEffect.ALLOW, Standing.ALLOWED),
    ):
        rule = Rule(id="1", effect=effect, subject=RuleSubject.PATH, pattern=pattern)
        is_low = effect is RuleEffect.ALLOW and found.risk is Risk.LOW

        assert standing((rule,), found, one) is (Standing.SILENT if is_low else expected)


def test_a_search_of_a_whole_worktree_is_not_denied_for_one_of_its_files() -> None:
    one = ToolCall(tool="Bash", input={"command": "grep -r x ."}, project=PROJECT, cwd=HERE)
    rule = Rule(id="1", effect=RuleEffect.DENY, subject=RuleSubject.PATH, pattern="*.csv")

    assert standing((rule,), analyse(one, SETTINGS), one) is Standing.SILENT


@pytest.mark.parametrize("level", [AuthorityLevel.READ_ONLY, AuthorityLevel.ISOLATED_WRITES])
def test_an_agent_with_a_worktree_of_its_own_is_beyond_who_may_not_write_there(level) -> None:
    authority = Authority(level=level, writable=(Path("src"),))
    territory = Territory(str(PROJECT), SETTINGS)

    def is_beyond(**given: str) -> bool:
        found = judged("Agent", prompt="x", **given)
        return overreach(found, authority, territory, is_sandboxed=True) != ""

    assert not is_beyond()
    assert is_beyond(isolation="worktree")


def test_the_root_is_that_of_the_innermost_worktree() -> None:
    inner = f"{HERE}/.claude/worktrees/n"

    assert root_of(str(PROJECT), f"{PROJECT}/src/a.py") == str(PROJECT)
    assert root_of(str(PROJECT), f"{HERE}/src/a.py") == str(HERE)
    assert root_of(str(PROJECT), str(HERE)) == str(HERE)
    assert root_of(str(PROJECT), str(HOLDER)) == str(PROJECT)
    assert root_of(str(PROJECT), f"{inner}/src/a.py") == inner


@pytest.mark.parametrize(
    ("owner", "project", "path", "stands"),
    [
        (PROJECT, HERE, "docs/a.md", Standing.ALLOWED),
        (PROJECT, HERE / "web", "../docs/a.md", Standing.ALLOWED),
        (PROJECT / "web", HERE / "web", "docs/a.md", Standing.ALLOWED),
        (PROJECT / "web", HERE / "web" / "app", "../docs/a.md", Standing.ALLOWED),
        (PROJECT / "web", HERE / "web" / "app", "docs/a.md", Standing.SILENT),
        (PROJECT / "web", HERE / "api", "docs/a.md", Standing.SILENT),
        (HERE, PROJECT, "docs/a.md", Standing.SILENT),
        (HERE, HOLDER / "other", "docs/a.md", Standing.SILENT),
    ],
)
def test_a_rule_of_a_project_holds_in_a_session_of_its_worktree(
    owner: Path, project: Path, path: str, stands: Standing
) -> None:
    rule = Rule(
        id="r", effect=RuleEffect.ALLOW, subject=RuleSubject.PATH, pattern="docs/*.md",
        project=str(owner), includes_high=True,
    )  # fmt: skip
    call = ToolCall(tool="Write", input={"file_path": path}, project=project)

    assert standing((rule,), analyse(call, SETTINGS), call) == stands
