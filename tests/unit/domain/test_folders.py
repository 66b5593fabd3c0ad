"""Folders as a person means them."""

from pathlib import Path

from perpetualcc.domain.folders import expanded, outward


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
