"""Folders as a person means them."""

import os
from pathlib import Path

from perpetualcc.domain.folders import canonical, expanded, outward


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
