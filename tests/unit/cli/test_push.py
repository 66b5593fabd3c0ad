"""`pcc accept --push`: a real repository takes it, and nothing that an agent wrote is run."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.repositories import git
from tests.unit.cli.test_accept import accept, daemon, main, there

__all__ = ["accept", "daemon", "main", "there"]

BRANCH = "refs/heads/worktree-dark"


@pytest.fixture
def bare(main, daemon, tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr("perpetualcc.cli.pushing.connect", lambda _: nullcontext(daemon))
    place = tmp_path / "bare.git"
    git(tmp_path, "init", "-q", "--bare", str(place))
    git(main, "remote", "add", "origin", f"file://{place}")
    return place


def refs(bare: Path) -> dict[str, str]:
    told = git(bare, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(one.split(" ") for one in told)


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_the_branch_is_there_and_nothing_is_merged(main, there, bare, daemon, accept):
    before, head = git(main, "rev-parse", "HEAD"), git(there, "rev-parse", "HEAD").strip()
    program(main / ".git" / "hooks" / "pre-push", f"touch {main}/ran")

    said = accept("--push")

    assert said == f"Pushed worktree-dark to origin, file://{bare}: now {head[:12]}\n"
    assert refs(bare) == {BRANCH: head}
    assert git(main, "rev-parse", "HEAD") == before
    assert not (main / "ran").exists()
    facts = {"branch": "worktree-dark", "remote": "origin", "commit": head}
    facts |= {"address": f"file://{bare}"}
    assert daemon.told == [("PushBegan", facts), ("PushDone", facts)]


def test_the_main_branchs_upstream_or_the_remote_that_is_named(main, bare, accept, tmp_path):
    for name in ("fork", "other"):
        git(tmp_path, "init", "-q", "--bare", str(tmp_path / name))
        git(main, "remote", "add", name, f"../{name}")
    git(main, "config", "branch.main.remote", "fork")

    assert f"to fork, {tmp_path}" in accept("--push").replace("/main/..", "")
    assert "to other, " in accept("other", "--push")

    assert BRANCH in refs(tmp_path / "fork")
    assert BRANCH in refs(tmp_path / "other")
    assert refs(bare) == {}


def test_what_was_pushed_over_is_not_forced(main, there, bare, daemon, accept):
    accept("--push")
    theirs = git(main, "commit-tree", "-m", "theirs", "HEAD^{tree}").strip()
    git(main, "push", "-qf", "origin", f"{theirs}:{BRANCH}")
    daemon.told.clear()
    git(main, "config", "remote.origin.push", "+refs/heads/*:refs/heads/*")

    said = accept("--push")

    assert said.startswith("Nothing was pushed: [rejected] (")
    assert f"git -C {there} push origin HEAD" in said
    assert refs(bare) == {BRANCH: theirs}
    assert [kind for kind, _ in daemon.told] == ["PushBegan"]


def test_what_is_not_committed_is_named_or_goes_along(there, bare, accept):
    (there / "new.py").write_text("9\n")

    assert "pcc accept s-1 --commit" in accept("--push")
    assert refs(bare) == {}
    accept("--push", "--commit")

    assert git(bare, "show", f"{BRANCH}:new.py") == "9\n"
    assert git(bare, "log", "-1", "--format=%s", BRANCH) == "Make it dark\n"


def busy(world, _bare):
    world.busy = str(world.place)


def unknown(world, _bare):
    git(world.main, "remote", "remove", "origin")


def detached(world, _bare):
    git(world.place, "switch", "-q", "--detach")


@pytest.mark.parametrize(
    ("makes", "said"),
    [
        (busy, "pcc pause s-2"),
        (unknown, "no remote is called 'origin'"),
        (detached, "No branch is checked out in"),
    ],
)
def test_what_is_refused(bare, daemon, accept, makes, said):
    makes(daemon, bare)

    assert said in accept("--push")

    assert refs(bare) == {}
    assert daemon.told == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.sshCommand", "touch RAN; false"),
        ("core.askPass", "touch RAN"),
        ("credential.helper", "!touch RAN"),
        ("credential.https://example.com.helper", "!touch RAN"),
        ("remote.origin.receivepack", "touch RAN; git-receive-pack"),
        ("remote.origin.vcs", "ext"),
        ("url.ext::sh -c touch% RAN.insteadOf", "file://"),
        ("url.ext::sh -c touch% RAN.pushInsteadOf", "file://"),
        ("http.https://example.com.proxy", "http://127.0.0.1:1"),
        ("http.sslVerify", "false"),
        ("protocol.ext.allow", "always"),
    ],
)
@pytest.mark.parametrize("where", ["--local", "--worktree"])
def test_settings_of_the_repository_name_no_program_and_lead_nowhere_else(
    main, bare, daemon, accept, tmp_path, key, value, where
):
    git(main, "config", "extensions.worktreeConfig", "true")
    git(main, "config", where, key, value.replace("RAN", str(tmp_path / "ran")))

    said = accept("--push")

    assert "this repository's own settings say how, and an agent may have written them" in said
    assert not (tmp_path / "ran").exists()
    assert refs(bare) == {}
    assert daemon.told == []


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("key", ["url", "pushurl"])
def test_an_address_that_is_a_program_is_none(main, accept, tmp_path, key):
    git(main, "config", f"remote.origin.{key}", f"ext::sh -c touch% {tmp_path}/ran")

    said = accept("--push")

    assert "transport 'ext' not allowed" in said
    assert not (tmp_path / "ran").exists()


def test_hooks_and_settings_of_a_folder_that_is_the_remote_are_programs(bare, accept, tmp_path):
    hook = program(bare / "hooks" / "post-receive", f"touch {tmp_path}/ran")
    assert "would run programs on this machine: hooks/post-receive" in accept("--push")
    hook.unlink()
    git(bare, "config", "core.alternateRefsCommand", f"touch {tmp_path}/ran")
    assert "core.alternaterefscommand" in accept("--push")

    assert not (tmp_path / "ran").exists()
    assert refs(bare) == {}


@pytest.mark.usefixtures("bare")
def test_a_password_in_the_address_is_not_told(main, accept):
    git(main, "remote", "set-url", "origin", "https://ana:geheim@127.0.0.1:1/x.git")

    said = accept("--push")

    assert said.startswith("Nothing was pushed: ")
    assert "geheim" not in said


@pytest.mark.usefixtures("bare")
def test_a_remote_without_push_is_one_word_too_many(accept):
    assert "one word too many" in accept("origin")
    assert "merges nothing" in accept("--push", "--squash")
