"""What a file is given counts beside where it is; what a search is given as a tool takes it."""

from pathlib import Path

import pytest

from perpetualcc.domain.tools import Risk, ToolCall
from perpetualcc.permissions.risk_classifier import analyse
from perpetualcc.permissions.settings import PermissionSettings

SETTINGS = PermissionSettings()
KEY = "TOKEN = 'ghp_" + "a1B2c3D4e5" * 4 + "'"


def risk(project: Path, tool: str, **given) -> Risk:
    return analyse(ToolCall(tool=tool, input=given, project=project), SETTINGS).risk


@pytest.mark.parametrize(
    ("path", "given", "expected"),
    [
        ("src/config.py", {"content": KEY}, Risk.MEDIUM),
        ("tests/test_config.py", {"content": KEY}, Risk.LOW),
        ("src/config.py", {"old_string": KEY, "new_string": KEY + "\n"}, Risk.LOW),
        ("src/config.py", {"edits": [{"old_string": "x", "new_string": KEY}]}, Risk.MEDIUM),
        ("src/config.py", {"edits": [{"old_string": KEY, "new_string": "x"}]}, Risk.LOW),
        ("src/i18n/ar.json", {"content": '{"a": "\u2068{name}\u2069"}'}, Risk.LOW),
        ("src/a.py", {"content": "a = '\u2068x\u2069'"}, Risk.MEDIUM),
        ("src/node_modules/lodash/index.js", {"content": "x"}, Risk.MEDIUM),
        ("src/node_modules/.cache/x", {"content": "x"}, Risk.LOW),
    ],
)
def test_what_a_file_is_given_counts(tmp_path, path, given, expected):
    tool = "MultiEdit" if "edits" in given else "Edit" if "new_string" in given else "Write"

    assert risk(tmp_path, tool, file_path=path, **given) is expected


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("packages/x/package.json", '"a": "http://h.example/a.tgz"'),
        ("packages/x/package.json", '"a": "git+ssh://git@h.example/a.git"'),
        ("packages/x/package.json", '"a": "github:user/repository"'),
        ("packages/x/package-lock.json", '"resolved": "https://h.example/a.tgz"'),
        ("src/requirements.txt", "--index-url https://h.example/simple"),
        ("src/requirements-dev.txt", "git+https://h.example/a"),
        ("src/requirements.txt", "a @ https://h.example/a.whl"),
        ("src/Cargo.toml", 'a = { git = "https://h.example/a" }'),
        ("src/Gemfile", 'gem "a", git: "https://h.example/a"'),
        ("src/Gemfile", 'source "http://h.example"'),
        ("src/composer.json", '"repositories": [{"type": "vcs", "url": "https://h.example"}]'),
        ("src/main.tf", 'source = "git::https://h.example/m"'),
    ],
)
def test_a_package_from_an_address_is_no_plain_write(tmp_path, path, text):
    assert risk(tmp_path, "Write", file_path=path, content=text) is Risk.MEDIUM
    # What stood there before is nobody's news.
    assert (
        risk(tmp_path, "Edit", file_path=path, old_string=text, new_string=f"{text} ") is Risk.LOW
    )


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("packages/x/package.json", '"repository": {"url": "https://github.com/a/b"}, "a": "^1.0"'),
        ("packages/x/package.json", '"homepage": "https://a.example", "b": "workspace:*"'),
        ("packages/x/package-lock.json", '"resolved": "https://registry.npmjs.org/a/-/a-1.tgz"'),
        ("src/requirements.txt", "flask==2.0\nrequests[socks]>=2  # https://h.example"),
        ("src/Cargo.toml", 'serde = { version = "1", features = ["derive"] }'),
        ("src/Gemfile", 'source "https://rubygems.org"\ngem "rails", "~> 7"'),
        ("src/main.tf", 'source = "./modules/a"'),
        ("src/a.py", 'X = "git+https://h.example/a"'),
    ],
)
def test_a_package_of_the_usual_registry_is_one(tmp_path, path, text):
    assert risk(tmp_path, "Write", file_path=path, content=text) is Risk.LOW


def test_a_file_that_holds_something_is_emptied_and_an_empty_one_is_made(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "full.py").write_text("x = 1\n")
    (tmp_path / "src" / "bare.py").touch()

    assert risk(tmp_path, "Write", file_path="src/full.py", content="\n") is Risk.MEDIUM
    for name in ("bare.py", "new.py"):
        assert risk(tmp_path, "Write", file_path=f"src/{name}", content="") is Risk.LOW


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"pattern": "API_KEY", "glob": "*"}, Risk.MEDIUM),
        ({"pattern": "API_KEY", "glob": "**/*"}, Risk.MEDIUM),
        ({"pattern": ".", "glob": "!*.md"}, Risk.MEDIUM),
        ({"pattern": ".", "type": "all"}, Risk.MEDIUM),
        ({"pattern": ".", "glob": "*.py id_rsa"}, Risk.HIGH),
        ({"pattern": ".", "glob": "*.py,.env.local"}, Risk.HIGH),
        ({"pattern": ".", "path": " ~/.netlify"}, Risk.HIGH),
        ({"pattern": "API_KEY"}, Risk.LOW),
        ({"pattern": "useState", "glob": "*"}, Risk.LOW),
        ({"pattern": "API_KEY", "glob": "*.{ts,tsx}"}, Risk.LOW),
        ({"pattern": ".", "glob": "*.py, *.pyi"}, Risk.LOW),
    ],
)
def test_a_search_takes_its_globs_as_claude_code_does(tmp_path, given, expected):
    assert risk(tmp_path, "Grep", output_mode="content", **given) is expected


@pytest.mark.parametrize(
    "path",
    [
        " /etc/shadow", "/home/other/.netlify/config.json", "/Users/ana/.m2/settings.xml",
        "/root/.pypirc", "/proc/self/task/1/environ", "~/.claude/history.jsonl",
    ],
)  # fmt: skip
def test_what_is_guarded_in_one_home_is_in_each(tmp_path, path):
    assert risk(tmp_path, "Read", file_path=path) is Risk.HIGH


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("WebSearch", {"query": "python asyncio taskgroup cancel"}, Risk.LOW),
        ("WebSearch", {"query": "line\n" * 5}, Risk.HIGH),
        ("WebSearch", {"query": "word " * 200}, Risk.HIGH),
        ("WebSearch", {"query": "dGhlIHBhc3N3b3JkIG9mIHRoZSBkYXRhYmFzZSBpcyBodW50ZXIy"}, Risk.HIGH),
        ("WebSearch", {"query": "postgres://me:hunter2@db.example/x"}, Risk.HIGH),
        ("WebSearch", {"query": "commit 1f0c2f7e9a8b4c5d6e7f8a9b0c1d2e3f4a5b6c7d"}, Risk.LOW),
        ("ScheduleWakeup", {"stop": True}, Risk.LOW),
        ("ScheduleWakeup", {"delay": 60, "prompt": "go on"}, Risk.HIGH),
        ("SendUserFile", {"files": ["src/report.pdf"]}, Risk.LOW),
        ("SendUserFile", {"files": ["src/report.pdf", "id_rsa"]}, Risk.HIGH),
    ],
)
def test_what_a_tool_is_given_is_looked_at(tmp_path, tool, given, expected):
    assert risk(tmp_path, tool, **given) is expected


def test_an_agents_settings_are_these_in_a_project_that_lies_in_them_too():
    skills, tree = Path("/home/ana/.claude"), Path("/p/.claude/worktrees/feat")

    for name in ("settings.json", "skills/x/SKILL.md"):
        assert risk(skills, "Write", file_path=name, content="x") is Risk.HIGH
    assert risk(tree, "Write", file_path="src/a.py", content="x") is Risk.LOW
    assert risk(tree, "Write", file_path=".claude/settings.json", content="x") is Risk.HIGH
