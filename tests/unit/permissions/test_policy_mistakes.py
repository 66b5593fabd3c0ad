"""A policy with a mistake: what is stricter in it holds, and nothing goes on without a person."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from perpetualcc.domain.authority import Authority
from perpetualcc.domain.decisions import Advice, Verdict
from perpetualcc.domain.tools import ToolCall
from perpetualcc.permissions.decision_engine import DecisionEngine
from perpetualcc.permissions.policy_file import POLICY_FILE
from perpetualcc.permissions.policy_salvage import entries_that_hold
from perpetualcc.permissions.project import ProjectStanding, policy_mistakes
from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.permissions.trust import WatchedFiles, is_trusted, read_watched_files

HOME = Path("/home/dev")
MINE = PermissionSettings(home=HOME)
GOOD = """[permissions]
safe_directories = ["src/"]
blocked_commands = ["git stash", 'npm publish']
credential_paths = ["*.vault"]
credential_exceptions = [".env.ci"]
trusted_hosts = ["docs.example.com"]
"""


def settings(text: str | bytes, *, trusted: bool = True) -> PermissionSettings:
    content = text.encode() if isinstance(text, str) else text
    standing = ProjectStanding(files={POLICY_FILE: content}, trusted=trusted, folder=Path("/p"))
    return standing.settings(MINE)


@pytest.mark.parametrize(
    "mistaken",
    [
        GOOD.replace("trusted_hosts", "trusted_hots"),
        GOOD.replace("docs.example.com", "*"),
        GOOD + "auto_approve_low_risk = 'maybe'\n",
        GOOD + "sandbox = 'on'\n",
        GOOD + "this is not TOML\n",
        GOOD + "[other]\n",
        GOOD.replace("[permissions]", "[permissions"),
        GOOD.replace("[permissions]", "[permission]"),
        GOOD.replace("[permissions]\n", ""),
        GOOD.replace('"*.vault"]', '"*.vault", "*", ""]'),
        GOOD.replace('"*.vault"]', '"*.vault"'),
        GOOD.replace('["*.vault"]', '"*.vault"'),
        GOOD.replace('"src/"]', '"src/", "/etc", ".."]'),
        GOOD.replace("blocked_commands", "blocked_comands"),
        GOOD.replace("blocked_commands", "blocked-commands"),
        GOOD.replace("blocked_commands", '"blocked_commands"') + "x",
        GOOD.replace("blocked_commands", "permissions.blocked_commands") + "x",
        GOOD.replace('["git stash", ', '[\n  "a && b",  # "no" one\n  "git stash",\n  '),
        GOOD.replace("'npm publish'", "'npm publish'") + "n = " + "1" * 5_000,
        GOOD + "x = " + "[" * 5_000,
        GOOD + 'y = "\\q"',
    ],
)
def test_what_is_stricter_holds_whatever_else_is_wrong(mistaken: str) -> None:
    found = settings(mistaken)

    assert {"git stash", "npm publish", "sudo"} <= set(found.blocked_commands)
    assert "*.vault" in found.credential_paths
    assert found.safe_directories == ("src/",)
    assert not found.auto_approve_low_risk
    assert not found.is_whole
    assert (found.trusted_hosts, found.credential_exceptions) == ((), ())


def test_a_text_that_is_never_closed_ends_with_its_line() -> None:
    found = settings('[permissions]\nblocked_commands = ["git stash, \'npm publish"]\nx')

    assert settings('[permissions]\nblocked_commands = ["git stash]').blocked_commands[-1] == (
        "git stash"
    )
    assert not found.is_whole


@pytest.mark.parametrize("content", [b"\xff\xfe\0\1", b"\0unreadable", b"x" * 1_000_001])
def test_of_what_cannot_be_read_nothing_is_made_looser(content: bytes) -> None:
    found = settings(content)

    assert not found.is_whole
    assert not found.auto_approve_low_risk
    assert found.safe_directories == MINE.safe_directories


def test_no_brain_decides_while_a_policy_has_a_mistake() -> None:
    class Approving:
        async def evaluate_permission(self, call, assessment):
            return Advice(approve=True, confidence=1.0, reason="why not")

    def verdict(text: str, command: str) -> Verdict:
        engine = DecisionEngine(
            settings=settings(text), authority=Authority(), brain=Approving(), rules=()
        )
        call = ToolCall(tool="Bash", input={"command": command}, project=Path("/p"))
        return asyncio.run(engine.rule_on(call))[1].verdict

    assert verdict(GOOD, "git commit -m x") is Verdict.ALLOW
    for command in ("git commit -m x", "ls"):
        assert verdict(GOOD + "x = 1", command) is Verdict.ASK
    assert verdict(GOOD + "x = 1", "git stash") is Verdict.DENY


def test_words_that_are_made_to_take_long_do_not() -> None:
    began = time.thread_time()

    for text in ('"' * 100_000, "a" * 100_000, "a=" * 50_000, '"\\' * 50_000, "blocked=[" * 11_000):
        entries_that_hold(text.encode())
    entries_that_hold(b"blocked_commands = [" + b'"' + b"a" * 499 + b'",' * 190)

    assert time.thread_time() - began < 5


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (GOOD.replace("trusted_hosts", "trusted_hots"), "no key trusted_hots (line 6)"),
        (GOOD.replace("docs.example.com", "*"), "(line 6)"),
        (GOOD.replace('"src/"]', '"src/", "/etc"]'), "not '/etc' (line 2)"),
        (GOOD.replace('["*.vault"]', "3"), "'credential_paths' is not a list of texts (line 4)"),
        (GOOD + "oh no", "line 7"),
    ],
)
def test_a_mistake_is_told_with_its_file_and_line(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / POLICY_FILE
    file.parent.mkdir()
    file.write_text(text)

    (mistake,) = policy_mistakes(tmp_path)

    assert str(file) in mistake
    assert told in mistake


@pytest.mark.parametrize("made", ["dangling", "loop", "folder", "pipe"])
def test_a_policy_that_is_no_readable_file_is_a_mistake_and_not_missing(
    tmp_path: Path, made: str
) -> None:
    file = tmp_path / POLICY_FILE
    file.parent.mkdir()
    watched = WatchedFiles()
    assert watched.read(tmp_path) == {}

    if made == "folder":
        file.mkdir()
    elif made == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(file if made == "loop" else tmp_path / "nowhere")

    assert watched.read(tmp_path).keys() == {POLICY_FILE}
    assert not is_trusted(read_watched_files(tmp_path), None)
    assert "cannot be read" in next(policy_mistakes(tmp_path))


def test_a_link_that_comes_to_lead_somewhere_is_read_anew(tmp_path: Path) -> None:
    file, real = tmp_path / POLICY_FILE, tmp_path / "real.toml"
    file.parent.mkdir()
    file.symlink_to(real)
    watched = WatchedFiles()
    before = watched.read(tmp_path)

    real.write_text(GOOD)

    assert watched.read(tmp_path) != before
    assert list(policy_mistakes(tmp_path)) == []
