"""Folders as a person means them."""

import os
from pathlib import Path

from perpetualcc.domain.folders import (
    canonical,
    expanded,
    home_of,
    is_inside,
    main_tree,
    outward,
)


def test_a_tilde_before_nobodys_name_is_a_file_s_name(monkeypatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")

    assert expanded(Path("~/x")) == Path("/home/ann/x")
    assert expanded(Path("~nobody-is-called-so/x")) == Path("~nobody-is-called-so/x")


def test_outward_goes_as_far_as_the_repository(tmp_path: Path) -> None:
    inner = tmp_path / "repository/packages/web"
    inner.mkdir(parents=True)
    (tmp_path / "repository/.git").mkdir()
    (tmp_path / "repository/vendored").mkdir()
    (tmp_path / "repository/vendored/.git").write_text("gitdir: elsewhere")

    assert [*outward(inner)] == [inner, inner.parent, tmp_path / "repository"]
    assert [*outward(tmp_path / "repository/vendored")] == [tmp_path / "repository/vendored"]
    assert [*outward(tmp_path)][-1] == Path("/")


def test_a_folder_of_a_worktree_is_one_of_the_main_working_tree(tmp_path: Path) -> None:
    main, tree = tmp_path / "main", tmp_path / "tree"
    place = main / ".git/worktrees/tree"
    for one in (place, main / "web", tree / "web", tree / "new"):
        one.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {place}\n")

    assert main_tree(tree) == tree, "git knows of no worktree there"

    (place / "gitdir").write_text(f"{tree}/.git\n")

    assert main_tree(tree) == main
    assert main_tree(tree / "web") == main / "web"
    assert main_tree(tree / "new") == main
    assert main_tree(main / "web") == main / "web"
    assert main_tree(main / ".claude/worktrees/gone/web") == main


def test_a_worktree_of_claude_code_s_has_a_home() -> None:
    tree = Path("/a/p/.claude/worktrees/x")

    assert home_of(tree) == Path("/a/p")
    assert home_of(tree / "web/b.py") == Path("/a/p/web/b.py")
    assert home_of(tree / ".claude/worktrees/y/web") == Path("/a/p/web")
    for place in ("/a/p", "/a/p/.claude/worktrees", "/a/p/.claude/x"):
        assert home_of(Path(place)) == Path(place)


def test_a_worktree_is_in_no_folder_of_its_project() -> None:
    tree = Path("/a/p/.claude/worktrees/x")

    assert is_inside(Path("/a/p/web"), Path("/a/p"))
    assert is_inside(tree / "web", tree)
    assert is_inside(tree, Path("/a")), "what works in all of /a works in /a/p"
    assert not is_inside(tree, Path("/a/p"))
    assert not is_inside(Path("/a/p"), Path("/a/p"))


def test_a_submodule_and_a_worktree_of_a_bare_repository_are_no_other_ones(tmp_path: Path) -> None:
    for name, leads_to in (("module", ".git/modules/module"), ("tree", "bare.git/worktrees/tree")):
        (tmp_path / leads_to).mkdir(parents=True)
        (tmp_path / name).mkdir()
        (tmp_path / leads_to / "gitdir").write_text(f"{tmp_path / name}/.git\n")
        (tmp_path / name / ".git").write_text(f"gitdir: ../{leads_to}\n")

        assert main_tree(tmp_path / name) == tmp_path / name


def test_a_folder_has_one_name_however_it_is_spelled(case_blind: Path) -> None:
    project = case_blind / "Work" / "Api"
    project.mkdir(parents=True)
    (case_blind / "Link").symlink_to(project)

    names = {
        canonical(case_blind / name)
        for name in ("Work/Api", "work/api", "WORK/../work/API", "Link", "LINK")
    }

    assert len(names) == 1
    assert os.listdir(next(iter(names)).parent) == [next(iter(names)).name]  # noqa: PTH208
    assert canonical(case_blind / "Work/Missing").name == "Missing"


def test_on_a_disk_that_knows_case_names_stay_as_they_are(tmp_path: Path) -> None:
    for name in ("Api", "aPI", "caf\u00e9"):
        (tmp_path / name).mkdir(exist_ok=True)

    assert [canonical(tmp_path / name).name for name in ("Api", "aPI", "caf\u00e9", "api")] in (
        ["Api", "aPI", "caf\u00e9", "api"],
        ["Api", "Api", "caf\u00e9", "Api"],  # where it does not
    )
