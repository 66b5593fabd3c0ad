"""The files of a project are those that git would show."""

import os
import subprocess

import pytest

from perpetualcc.knowledge.scan.listing import list_files


def write(folder, *paths):
    for path in paths:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x = 1\n")


def names(project):
    return sorted(path for path, _ in list_files(project))


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    (tmp_path / "home/.config/git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path / "home"


@pytest.fixture(params=["git", "walk"])
def project(request, tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    if request.param == "git":
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


def test_nested_negated_and_global_rules_hold_with_and_without_git(project, home):
    write(
        project, "a.py", "b.log", "keep.log", "sub/c.py", "sub/d.tmp", "sub/deep/d.tmp", "g.secret"
    )
    (project / ".gitignore").write_text("*.log\n!keep.log\n")
    (project / "sub/.gitignore").write_text("/d.tmp\n")
    (home / ".config/git/ignore").write_text("*.secret\n")

    found = names(project)

    assert found == [
        ".gitignore",
        "a.py",
        "keep.log",
        "sub/.gitignore",
        "sub/c.py",
        "sub/deep/d.tmp",
    ]


def test_a_worktree_below_the_project_is_no_second_project(project):
    write(project, "a.py", ".claude/worktrees/f1/a.py", "nested/n.py")
    place = project / ".git/worktrees/f1"
    place.mkdir(parents=True)
    (place / "HEAD").write_text("ref: refs/heads/f1\n")
    (place / "commondir").write_text("../..\n")
    (project / ".claude/worktrees/f1/.git").write_text(f"gitdir: {place}\n")
    (project / "nested/.git").mkdir()

    assert names(project) == ["a.py", "nested/n.py"]
    assert "a.py" in names(project / ".claude/worktrees/f1")


def test_an_ignored_folder_is_not_entered_and_vendored_ones_neither(project):
    write(project, "build/x.py", "src/x.py", "node_modules/m/x.js", "vendor/y.go")
    (project / ".gitignore").write_text("build/\n")

    assert names(project) == [".gitignore", "src/x.py"]


def test_links_are_not_followed_so_a_loop_ends(project):
    write(project, "src/x.py")
    (project / "src/loop").symlink_to(project)
    (project / "again.py").symlink_to(project / "src/x.py")

    assert names(project) == ["src/x.py"]


def test_a_pipe_is_no_file(project):
    write(project, "x.py")
    os.mkfifo(project / "pipe.py")

    assert names(project) == ["x.py"]


def test_a_virtual_environment_is_recognised_by_what_is_in_it(tmp_path):
    folder = tmp_path / "plain"
    write(folder, "x.py", "strange_name/pyvenv.cfg", "strange_name/lib/y.py")

    assert names(folder) == ["x.py"]


def test_a_repository_inside_the_repository_is_listed_too(tmp_path):
    folder = tmp_path / "project"
    write(folder, "x.py", "inner/y.py")
    for repository in (folder, folder / "inner"):
        subprocess.run(["git", "init", "-q"], cwd=repository, check=True)

    assert names(folder) == ["inner/y.py", "x.py"]


@pytest.mark.timeout(10)
@pytest.mark.parametrize("place", [".gitignore", "inner/.git"])
@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_never_ends_in_the_place_of_a_file_holds_nobody_up(tmp_path, place, make):
    folder = tmp_path / "plain"
    write(folder, "x.py", "inner/y.py")
    make(folder / place)

    assert [name for name in names(folder) if name.endswith(".py")] == ["inner/y.py", "x.py"]


def test_a_folder_that_its_repository_ignores_is_walked(tmp_path):
    write(tmp_path / "project", "x.py", "generated/y.py")
    (tmp_path / "project/.gitignore").write_text("generated/\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "project", check=True)

    assert names(tmp_path / "project/generated") == ["y.py"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is locked away from root")
def test_a_folder_that_cannot_be_read_is_left_out(project):
    write(project, "x.py", "locked/y.py")
    (project / "locked").chmod(0)

    try:
        assert names(project) == ["x.py"]
    finally:
        (project / "locked").chmod(0o755)


@pytest.mark.parametrize(
    "rules",
    [
        ["*.log", "!keep.log"],
        ["build"],
        ["build/"],
        ["/build"],
        ["src/build"],
        ["**/build/x.py"],
        ["src/**"],
        ["src/**", "!src/x.py"],
        ["src/*", "!src/deep"],
        ["**/"],
        ["src/**/x.py"],
        ["*", "!*/", "!*.py"],
        ["/*", "!/src"],
        ["b?ild", "[!k]eep.log"],
        ["keep.*", "src/*.log"],
        [r"\#odd", "with space", "trailing\\ "],
    ],
)
def test_each_form_of_rule_means_what_it_means_to_git(tmp_path, rules):
    write(tmp_path, "a.log", "keep.log", "build/x.py", "src/build/x.py", "src/deep/keep.log")
    write(tmp_path, "src/a.log", "src/x.py", "#odd", "with space", "trailing ", "src/build.py")
    (tmp_path / ".gitignore").write_text("\n".join(rules) + "\n")
    walked = names(tmp_path)

    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)

    assert walked == names(tmp_path)
