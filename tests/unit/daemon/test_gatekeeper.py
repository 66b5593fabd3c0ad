"""What every run is guarded with."""

import asyncio
import os

import pytest

from perpetualcc.claude.layers import Layers
from perpetualcc.daemon import gatekeeper
from perpetualcc.daemon.gatekeeper import Guard
from perpetualcc.domain.authority import Authority, AuthorityLevel
from perpetualcc.domain.errors import PerpetualError, ProjectGoneError
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session, SessionOptions
from perpetualcc.permissions.policy_file import POLICY_FILE
from perpetualcc.permissions.settings import PermissionSettings, SandboxMode
from perpetualcc.permissions.trust import content_hash, read_watched_files


def session(tmp_path, mode: str, level: int = 3) -> Session:
    authority = Authority(level=AuthorityLevel(level))
    return Session(
        id=SessionId("abc123"), name="s", project=tmp_path, status=SessionStatus.PROCESSING,
        options=SessionOptions(sandbox=mode, authority=authority), created_at=0.0, updated_at=0.0,
    )  # fmt: skip


def guard(configured: str) -> Guard:
    settings = PermissionSettings(sandbox=SandboxMode(configured))
    return Guard(settings, minds=None, trust=None, rules=None, habits=None)


@pytest.mark.parametrize(
    ("configured", "asked", "level", "sandboxed"),
    [
        ("auto", "on", 3, True),
        ("auto", "off", 1, False),
        ("auto", "", 1, True),
        ("auto", "", 3, False),
        ("on", "", 3, True),
        ("on", "off", 3, False),
        ("off", "on", 3, True),
    ],
)
def test_a_session_s_own_sandbox_mode_goes_before_the_configured_one(
    tmp_path, monkeypatch, configured, asked, level, sandboxed
):
    monkeypatch.setattr(gatekeeper, "why_no_sandbox", lambda: "")

    assert guard(configured).is_sandboxed(session(tmp_path, asked, level)) is sandboxed


def test_a_sandbox_that_was_asked_for_and_is_not_there_is_no_small_matter(tmp_path, monkeypatch):
    monkeypatch.setattr(gatekeeper, "why_no_sandbox", lambda: "bwrap is missing")

    with pytest.raises(PerpetualError, match="bwrap is missing"):
        asyncio.run(guard("auto").layers(session(tmp_path, "on")))


class Trusts:
    """`store.guards.TrustStore`, with one hash."""

    def __init__(self) -> None:
        self.hash: str | None = None

    async def recorded(self, project):
        return self.hash


def played(project, *, trusts: bool, then=lambda: None):
    """The layers of a run that begins, and why it is outdated after something has happened."""

    async def scene():
        guarded = Guard(PermissionSettings(), minds=None, trust=Trusts(), rules=None, habits=None)
        if trusts:
            guarded._trust.hash = content_hash(read_watched_files(project))
        layers = await guarded.layers(session(project, "off"))
        then()
        return layers, await guarded.outdated(session(project, "off"))

    return asyncio.run(scene())


def test_a_project_is_read_only_where_a_person_trusts_what_is_there(tmp_path):
    (tmp_path / "CLAUDE.md").write_text("Use tabs")

    trusted, _ = played(tmp_path, trusts=True)
    unknown, _ = played(tmp_path, trusts=False)
    (tmp_path / "CLAUDE.md").unlink()
    empty, _ = played(tmp_path, trusts=False)

    assert (trusted.sources, trusted.instructions) == (("user", "project", "local"), "")
    assert (unknown.sources, unknown.instructions) == (("user",), "Use tabs")
    assert (empty.sources, empty.instructions) == (("user",), "")


@pytest.mark.parametrize(("trusts", "is_outdated"), [(True, True), (False, False)])
def test_only_a_run_that_reads_the_project_is_outdated_when_that_changes(
    tmp_path, trusts, is_outdated
):
    (tmp_path / "CLAUDE.md").write_text("Use tabs")

    def change():
        (tmp_path / ".mcp.json").write_text("{}")

    assert played(tmp_path, trusts=trusts)[1] is None
    assert bool(played(tmp_path, trusts=trusts, then=change)[1]) is is_outdated


@pytest.mark.parametrize("trusts", [True, False])
def test_a_run_whose_project_is_gone_is_outdated(tmp_path, trusts):
    project = tmp_path / "project"
    project.mkdir()

    why = played(project, trusts=trusts, then=project.rmdir)[1]

    assert isinstance(why, ProjectGoneError)


def test_servers_of_the_directories_above_are_not_started_with_a_trusted_project(tmp_path):
    project = tmp_path / "a" / "b"
    project.mkdir(parents=True)
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"far": {"command": "x"}, "own": {}}}')
    (tmp_path / "a" / ".mcp.json").write_text('{"mcpServers": {"near": {"command": "y"}}}')
    (project / ".mcp.json").write_text('{"mcpServers": {"own": {"command": "z"}}}')

    trusted, _ = played(project, trusts=True)
    unknown, _ = played(project, trusts=False)

    assert trusted.settings()["disabledMcpjsonServers"] == ["near", "far"]
    assert "disabledMcpjsonServers" not in unknown.settings()


def test_a_nearer_policy_of_a_repository_has_the_last_word_and_each_is_looked_at_again(tmp_path):
    async def scene():
        guarded = Guard(PermissionSettings(), minds=None, trust=Trusts(), rules=None, habits=None)
        yield (await guarded.standing(project)).settings(guarded.settings)
        (tmp_path / POLICY_FILE).unlink()
        yield (await guarded.standing(project)).settings(guarded.settings)

    async def seen():
        return [settings async for settings in scene()]

    project = tmp_path / "packages/api"
    policies = {project: "auto_approve_low_risk = false", tmp_path: 'blocked_commands = ["nc"]'}
    for folder, line in policies.items():
        (folder / ".perpetualcc").mkdir(parents=True)
        (folder / POLICY_FILE).write_text(f"[permissions]\n{line}\n")
    (tmp_path / ".git").mkdir()

    before, after = asyncio.run(seen())

    assert "nc" in before.blocked_commands
    assert "nc" not in after.blocked_commands
    assert not before.auto_approve_low_risk
    assert not after.auto_approve_low_risk


def test_instructions_stand_below_the_system_prompt_and_a_long_text_says_what_is_missing():
    alone = Layers().system_prompt["append"]
    assert alone.startswith("# Nobody watches")

    appended = Layers(instructions="x" * 30_000 + "yz").system_prompt["append"]

    assert appended.startswith(f"{alone}\n\n# Project instructions")
    assert "y" not in appended.partition("<claude-md>")[2].partition("\n…")[0]
    assert "… cut: 2 more characters\n</claude-md>" in appended


def test_the_sandbox_hides_what_is_in_the_home_of_a_mac_by_the_name_on_its_disk(
    case_blind, tmp_path, monkeypatch
):
    monkeypatch.setattr(gatekeeper, "why_no_sandbox", lambda: "")
    home = case_blind / "Ann"
    for name in (".SSH", "Library/Keychains", "Library/Application Support/Claude"):
        (home / name).mkdir(parents=True)
    settings = PermissionSettings(home=case_blind / "ann")
    one = Guard(settings, minds=None, trust=Trusts(), rules=None, habits=None)

    layers = asyncio.run(one.layers(session(tmp_path, "on")))

    hidden = layers.sandbox["filesystem"]["denyRead"]
    assert [path for path in hidden if not _is_listed(path)] == []
    assert len(hidden) == 3


def _is_listed(path: str) -> bool:
    return os.path.basename(path) in os.listdir(os.path.dirname(path))  # noqa: PTH119, PTH120, PTH208


class TrustOf:
    """`store.guards.TrustStore`, of one folder."""

    def __init__(self, folder) -> None:
        self.folder, self.hash = folder, content_hash(read_watched_files(folder))

    async def recorded(self, project):
        return self.hash if project == self.folder else None


def test_a_worktree_is_trusted_that_brings_nothing_but_what_is_trusted_at_its_home(tmp_path):
    tree = tmp_path / ".claude" / "worktrees" / "dark"
    tree.mkdir(parents=True)
    for name in ("CLAUDE.md", ".mcp.json"):
        (tmp_path / name).write_text("{}")
    (tree / "CLAUDE.md").write_text("{}")

    async def scene():
        trust = TrustOf(tmp_path)
        guarded = Guard(PermissionSettings(), minds=None, trust=trust, rules=None, habits=None)
        yield await guarded.standing(tree)
        (tree / "CLAUDE.md").write_text("{} ")
        yield await guarded.standing(tree)
        (tree / "CLAUDE.md").write_text("{}")
        (tree / ".claude").mkdir()
        (tree / ".claude" / "settings.json").write_text("{}")
        yield await guarded.standing(tree)
        (tree / ".claude" / "settings.json").unlink()
        (tmp_path / "CLAUDE.md").write_text("changed")
        (tree / "CLAUDE.md").write_text("changed")
        yield await guarded.standing(tree)

    async def trusted():
        return [one.trusted async for one in scene()]

    assert asyncio.run(trusted()) == [True, False, False, False]


def test_the_policy_of_its_home_counts_in_a_worktree_as_seen_from_there(tmp_path):
    web = tmp_path / ".claude" / "worktrees" / "dark" / "web"
    web.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (web.parent / ".git").write_text("gitdir: elsewhere")
    policy = tmp_path / POLICY_FILE
    policy.parent.mkdir()
    policy.write_text('[permissions]\nsafe_directories = ["web/src/"]\nblocked_commands = ["x"]\n')

    async def scene():
        trust = TrustOf(tmp_path)
        guarded = Guard(PermissionSettings(), minds=None, trust=trust, rules=None, habits=None)
        return (await guarded.standing(web)).settings(guarded.settings)

    found = asyncio.run(scene())

    assert found.safe_directories == ("src",)
    assert "x" in found.blocked_commands
