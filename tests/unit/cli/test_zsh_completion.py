"""What `pcc --install-completion zsh` writes, and where; what zsh makes of it is seen elsewhere."""

import pytest

from perpetualcc.cli.zsh_completion import _install
from perpetualcc.domain.errors import PerpetualError

READS = "; source {home}/.zfunc/_pcc"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ZDOTDIR", raising=False)
    return tmp_path


def install() -> None:
    _install(prog_name="pcc", complete_var="_PCC_COMPLETE", shell="zsh")


@pytest.mark.parametrize("own", ["", "PS1=x", "PS1=x\n"])
def test_one_line_is_added_once_and_stands_alone(home, own):
    (home / ".zshrc").write_text(own)

    install()
    install()

    written = (home / ".zshrc").read_text().splitlines()
    assert written[:-1] == own.split()
    assert written[-1].endswith(READS.format(home=home))
    assert (home / ".zfunc" / "_pcc").read_text().startswith("#compdef pcc\n")


def test_it_is_added_where_zsh_looks(home, monkeypatch):
    (home / "zsh").mkdir()
    monkeypatch.setenv("ZDOTDIR", str(home / "zsh"))

    install()

    assert (home / "zsh" / ".zshrc").exists()
    assert not (home / ".zshrc").exists()


def test_a_file_that_cannot_be_written_is_named_with_the_line(home):
    (home / ".zshrc").mkdir()  # for root as for everybody

    with pytest.raises(PerpetualError, match=r"\.zshrc' cannot be written") as refused:
        install()

    assert refused.value.hint.endswith(READS.format(home=home))
