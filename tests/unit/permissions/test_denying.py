"""A person's deny rule holds for every spelling of what it denies, and for nothing else."""

import fnmatch
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging import PROJECT, SETTINGS, call

from perpetualcc.domain.authority import Authority, AuthorityLevel
from perpetualcc.domain.tools import ToolCall
from perpetualcc.permissions.authorization import overreach
from perpetualcc.permissions.effects import Effect, EffectKind
from perpetualcc.permissions.path_patterns import touches
from perpetualcc.permissions.paths import Territory
from perpetualcc.permissions.risk_classifier import analyse
from perpetualcc.permissions.rules import Rule, RuleEffect, RuleSubject, Standing, standing


def is_denied(subject: RuleSubject, pattern: str, one: ToolCall | str) -> bool:
    rule = Rule(id="mine", effect=RuleEffect.DENY, subject=subject, pattern=pattern)
    judged = call("Bash", command=one) if isinstance(one, str) else one
    return standing((rule,), analyse(judged, SETTINGS), judged) is Standing.DENIED


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("npm install", "CI=1 npm install x"),
        ("git commit --no-verify", "git commit -n -m x"),
        ("git commit --no-verify", "git commit -anm x"),
        ("git commit --amend", "git commit --amen"),
        ("git push --force", "git push -f"),
        ("git reset --hard", "git reset --har HEAD~1"),
        ("rm -rf", "rm --rec --force x"),
        ("rm --recursive", "rm --rec x"),
        ("docker compose", "docker-compose up"),
        ("git push", "/usr/lib/git-core/git-push origin"),
        ("cargo publish", "cargo +nightly publish"),
        ("node", "nodejs x.js"),
        ("npm install", "/usr/bin/npm install x"),
        ("npm install", "env CI=1 npm install x"),
        ("npm install", "timeout 60 npm install x"),
        ("npm install", "time npm install x"),
        ("npm install", "nohup npm install x &"),
        ("npm install", "command npm install x"),
        ("npm install", "npm --silent install x"),
        ("npm install", "npm --prefix web install x"),
        ("npm install", "npm --unheard-of word install"),
        ("npm install", "bash -c 'npm install'"),
        ("npm install", "cd web && \"npm\" 'install'"),
        ("npm install", "echo left-pad | xargs npm install"),
        ("npm install", "npm --silent i x"),
        ("npm i", "npm install x"),
        ("git push", "git -C . push"),
        ("git push", "git --no-pager -c a.b=c push origin"),
        ("git push", "git-push origin"),
        ("/usr/bin/git push", "git push"),
        ("cat", "c\\at x"),
        ("cat", "find . -name x -exec /bin/cat {} +"),
        ("rm -rf", "rm x -fr"),
        ("rm -rf", "rm -r --force x"),
        ("git push --force", "git push origin --force"),
        ("docker compose up", "docker --context x compose -f a.yml up -d"),
        ("docker compose -f prod.yml up", "docker compose -f prod.yml up -d"),
        ("pip install", "python3 -m pip install x"),
        ("scripts/deploy.sh", "bash ./scripts/deploy.sh --now"),
        ("FOO=1 npm test", "FOO=1 npm test"),
        # On the usual disk of a Mac it is the same program.
        ("git push", "/usr/bin/GIT push"),
        ("mytool deploy", "MyTool deploy"),
        ("scripts/deploy.sh", "bash Scripts/DEPLOY.sh"),
        ("./deploy.sh", "./DEPLOY.sh --now"),
        ("/opt/Tool/run", "/opt/tool/Run x"),
    ],
)
def test_a_denied_command_is_denied_however_it_is_spelled(pattern: str, command: str) -> None:
    assert is_denied(RuleSubject.COMMAND, pattern, command)


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("npm install", "echo npm install"),
        ("npm install", "npm run install"),
        ("npm install", "npm run i"),
        ("npm install", "npm view npm install"),
        ("npm install", "git commit -m 'npm install'"),
        ("npm install", "grep 'npm install' README.md"),
        ("npm install", 'log() { echo "$@"; }; log npm install'),
        ("git push", "git stash push"),
        ("git push", "git -C push status"),
        ("git push", "git remote set-url --push origin x"),
        ("git push", "./git push"),
        ("cat", "ls cat"),
        ("rm -rf", "rm -r x"),
        ("rm", 'log() { echo "$@"; }; log rm x'),
        ("git push --force", "git push origin"),
        ("docker compose -f prod.yml up", "docker compose -f dev.yml up"),
        ("scripts/deploy.sh", "bash other/deploy.sh"),
        ("FOO=1 npm test", "npm test"),
        ("node", "node-gyp rebuild"),
        ("docker run", "docker-compose run web"),
        ("git commit --no-verify", "git commit -a -m n"),
        ("git push --force", "git push --follow-tags"),
        ("git reset --hard", "git reset HEAD a"),
    ],
)
def test_nothing_else_is_denied(pattern: str, command: str) -> None:
    assert not is_denied(RuleSubject.COMMAND, pattern, command)


def test_allowing_a_command_still_takes_it_as_it_is_written() -> None:
    allow = Rule(
        id="mine", effect=RuleEffect.ALLOW, subject=RuleSubject.COMMAND, pattern="git commit"
    )

    for command, told in (
        ("git commit -m x", Standing.ALLOWED),
        ("git -c core.hooksPath=x commit -m x", Standing.SILENT),
        ("A=1 git commit -m x", Standing.SILENT),
    ):
        judged = call("Bash", command=command)
        assert standing((allow,), analyse(judged, SETTINGS), judged) is told, command


DATA, VENDOR = "data/*.csv", "src/vendor/*"


@pytest.mark.parametrize(
    ("pattern", "one"),
    [
        (DATA, call("Read", file_path=f"{PROJECT}/data/x.csv")),
        (DATA, call("Grep", pattern="x", path="data")),
        (DATA, call("Grep", pattern="x", glob="*.csv")),
        (DATA, call("Grep", pattern="x", glob="data/{x,y}.csv")),
        (DATA, "cat data/x.csv"),
        (f"{PROJECT}/{DATA}", "cat data/x.csv"),
        (f"{PROJECT}/{DATA}", "echo x > data/x.csv"),
        (DATA, "cd data && head x.csv"),
        (DATA, "source data/x.csv"),
        (DATA, "git checkout data/x.csv"),
        (DATA, "cat < data/x.csv"),
        (DATA, "cat d*/[xy].csv"),
        (DATA, "grep -r x data"),
        (DATA, "cp -r data /tmp/y"),
        (DATA, "cp other/x.csv data/"),
        (DATA, "mv data old"),
        (DATA, "rm -rf data"),
        (DATA, "git diff -- data/x.csv"),
        (DATA, "pytest data/x.csv"),
        (VENDOR, "black src/vendor"),
        (VENDOR, "cd src && black vendor"),
        (VENDOR, "npx prettier --write src/vendor/a"),
        (VENDOR, "cp -r docs src/vendor"),
        (VENDOR, "sed -i s/a/b/ src/*/a"),
        (VENDOR, "tar xf x.tar -C src/vendor"),
        (VENDOR, "mv src old"),
        ("poetry.lock", "cp other/poetry.lock ."),
        ("poetry.lock", "cat *"),
        ("src/gen", "echo > src/gen/a"),
        (DATA, "cat DATA/x.CSV"),
        ("Secret", call("Read", file_path="secret/a")),
        ("notes/caf\u00e9", "cat notes/cafe\u0301/a"),
        ("/private/var/lib/app/*", "cat /var/lib/app/key"),
    ],
)
def test_a_denied_path_is_neither_read_nor_written(pattern: str, one: ToolCall | str) -> None:
    assert is_denied(RuleSubject.PATH, pattern, one)


@pytest.mark.parametrize(
    ("pattern", "one"),
    [
        (DATA, "cat src/x.csv"),
        (DATA, "ls -l data/x.csv"),
        (DATA, call("Glob", pattern="data/*")),
        (DATA, "echo data/x.csv"),
        (DATA, "git commit -m data/x.csv"),
        (DATA, "grep data/x.csv src/a"),
        (DATA, "grep -r x ."),
        (DATA, "black ."),
        (DATA, "cp x.py src"),
        (VENDOR, "black src/app"),
        (VENDOR, "sed -i s/a/b/ src/*.py"),
        ("poetry.lock", "black ."),
        ("poetry.lock", "rm -rf src"),
    ],
)
def test_other_paths_are_not_denied(pattern: str, one: ToolCall | str) -> None:
    assert not is_denied(RuleSubject.PATH, pattern, one)


@pytest.mark.parametrize("pattern", ["**/notes.txt", "vault/**/*", "vault/**/notes.txt"])
def test_two_stars_stand_for_no_folder_as_well(pattern: str) -> None:
    for path in ("vault/notes.txt", "vault/a/b/notes.txt"):
        assert is_denied(RuleSubject.PATH, pattern, call("Read", file_path=path))


def test_a_path_is_denied_behind_a_link_as_well(tmp_path: Path) -> None:
    (tmp_path / "src/vendor").mkdir(parents=True)
    (tmp_path / "src/other").symlink_to("vendor")
    written = {"file_path": "src/other/a", "content": ""}
    one = ToolCall(tool="Write", input=written, project=tmp_path)

    assert is_denied(RuleSubject.PATH, VENDOR, one)


def test_a_checked_file_is_read_and_not_beyond_an_authority_that_writes_elsewhere() -> None:
    here = Authority(level=AuthorityLevel.ISOLATED_WRITES, writable=(Path("out"),))
    territory = Territory(str(PROJECT), SETTINGS)

    for command, is_beyond in (("mypy src/a.py", False), ("mv src/a.py out/a.py", True)):
        analysis = analyse(call("Bash", command=command), SETTINGS)
        over = overreach(analysis, here, territory, is_sandboxed=True)
        assert (over != "") is is_beyond, command


_PIECES = st.lists(st.sampled_from(["a", "b", "*", "?", "/"]), min_size=1, max_size=5)


@given(path=_PIECES, pattern=_PIECES)
def test_two_globs_meet_when_some_path_fits_both(path: list[str], pattern: list[str]) -> None:
    glob, rule = "/p/" + "".join(path), "/p/" + "".join(pattern)
    effect = Effect(kind=EffectKind.READ, target=glob)
    shell = re.compile("".join({"*": "[^/]*", "?": "[^/]"}.get(c, re.escape(c)) for c in glob))

    meeting = [p for p in _paths(4) if shell.fullmatch(p) and fnmatch.fnmatchcase(p, rule)]

    if meeting:
        assert touches(effect, rule, "/p"), meeting[0]


def _paths(longest: int) -> list[str]:
    found, last = [], [""]
    for _ in range(longest):
        last = [path + c for path in last for c in "ab/"]
        found += last
    return [f"/p/{path}" for path in found]


@pytest.mark.parametrize(
    ("place", "is_there"),
    [(PROJECT, True), (PROJECT / "packages/web", True), (PROJECT.with_name("other"), False)],
)
@pytest.mark.parametrize(
    ("subject", "pattern"), [(RuleSubject.COMMAND, "cat"), (RuleSubject.PATH, "data/*.csv")]
)
def test_a_project_s_rule_holds_in_the_folders_of_the_project(
    place: Path, is_there: bool, subject: RuleSubject, pattern: str
) -> None:
    """A session in a package of a repository does not get round what holds in the repository."""
    rule = Rule(
        id="mine", effect=RuleEffect.DENY, subject=subject, pattern=pattern, project=str(PROJECT)
    )
    command = f"cat {PROJECT}/data/x.csv"
    judged = ToolCall(tool="Bash", input={"command": command}, project=place)

    denied = standing((rule,), analyse(judged, SETTINGS), judged) is Standing.DENIED

    assert denied is is_there


@pytest.mark.parametrize(
    ("subject", "pattern", "one"),
    [
        (RuleSubject.PATH, DATA, call("mcp__fs__read_file", path="data/a.csv")),
        (RuleSubject.PATH, DATA, call("mcp__fs__write_file", path="data/a.csv", content="x")),
        (RuleSubject.PATH, DATA, call("mcp__fs__write_file", path="/home/dev/proj/data/a.csv")),
        (RuleSubject.PATH, DATA, call("mcp__fs__move_file", source="data/a.csv", destination="b")),
        (RuleSubject.COMMAND, "git push", call("mcp__shell__run", command="git push")),
        (RuleSubject.COMMAND, "npm test", call("mcp__shell__execute", command="cd a && npm test")),
    ],
)
def test_what_a_server_s_tool_is_given_is_denied_as_to_any_other(
    subject: RuleSubject, pattern: str, one: ToolCall
) -> None:
    assert is_denied(subject, pattern, one)


def test_a_rule_that_allows_a_server_s_tool_allows_it_wherever_it_is_not_guarded() -> None:
    kind = "tool mcp__fs__write_file"
    allow = Rule(id="mine", effect=RuleEffect.ALLOW, subject=RuleSubject.KIND, pattern=kind)

    for path, told in (
        ("notes/a.txt", Standing.ALLOWED),
        ("/tmp/a.txt", Standing.ALLOWED),
        (".github/workflows/ci.yml", Standing.SILENT),
        ("/home/dev/.ssh/id_rsa", Standing.SILENT),
    ):
        one = call("mcp__fs__write_file", path=path, content="x")
        assert standing((allow,), analyse(one, SETTINGS), one) is told, path


def test_at_level_2_a_server_s_tool_writes_below_the_named_places_alone() -> None:
    here = Authority(level=AuthorityLevel.ISOLATED_WRITES, writable=(Path("src"),))
    territory = Territory(str(PROJECT), SETTINGS)

    for one, is_beyond in (
        (call("mcp__fs__write_file", path="src/a.py", content="x"), False),
        (call("mcp__fs__write_file", path="/home/dev/proj/src/a.py", content="x"), False),
        (call("mcp__fs__write_file", path="Makefile", content="x"), True),
        (call("mcp__fs__write_file", path="/home/dev/proj/Makefile", content="x"), True),
        (call("mcp__fs__edit_file", path="/tmp/elsewhere/x"), True),
        (call("mcp__fs__read_file", path="Makefile"), False),
        (call("REPL", code="1"), True),
    ):
        analysis = analyse(one, SETTINGS)
        over = overreach(analysis, replace(here, allow_network=True), territory, is_sandboxed=True)
        assert (over != "") is is_beyond, one


def test_a_kind_that_was_cut_before_it_ended_in_a_mark_stays_denied() -> None:
    longer = f"mcp__{'server' * 8}__drop_table"
    marked = next(one.kind for one in analyse(call(longer), SETTINGS).findings)

    assert is_denied(RuleSubject.KIND, f"tool {longer}"[:60], call(longer))
    assert is_denied(RuleSubject.KIND, marked, call(longer))
    assert not is_denied(RuleSubject.KIND, marked, call(f"{longer}s"))
    assert not is_denied(RuleSubject.KIND, f"tool {longer}"[:59], call(longer))
