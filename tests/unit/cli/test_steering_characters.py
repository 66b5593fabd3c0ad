"""What strangers wrote steers no terminal, wherever a command shows it."""

import pytest

from perpetualcc.cli.ending import with_our_errors
from perpetualcc.cli.main import app, run_alone
from perpetualcc.domain.errors import PerpetualError

_ODD = "a\x1b]0;title\x07b\u202ec"
_SHOWN = "a�]0;title�b�c"


def test_an_error_that_quotes_it_shows_it_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise PerpetualError(f"There is no '{_ODD}'", hint=f"rm '{_ODD}'")

    with pytest.raises(SystemExit):
        with_our_errors(fail)

    assert capsys.readouterr().err == f"error: There is no '{_SHOWN}'\nhint:  rm '{_SHOWN}'\n"


@pytest.mark.parametrize("words", [["daemon", "logs"], ["explain", "bash", f"ls {_ODD}"]])
def test_a_command_that_shows_it_shows_it_as_text(words, tmp_path, monkeypatch, capsys) -> None:
    logs = tmp_path / "data/logs"
    logs.mkdir(parents=True)
    (logs / "engine.log").write_text(f"2026-11-21T22:55:36.917Z INFO a: {_ODD}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["pcc", "--data-dir", str(tmp_path / "data"), *words])

    with pytest.raises(SystemExit):
        run_alone(app, "pcc")

    said = capsys.readouterr().out
    assert said
    assert not {"\x1b", "\x07", "\u202e"} & set(said)
