"""The page about the daemon names every command there is."""

from pathlib import Path

import pytest

from perpetualcc.cli.main import load_command

PAGE = (Path(__file__).parents[3] / "docs" / "daemon.md").read_text()


@pytest.mark.parametrize("name", list(load_command("daemon").commands))
def test_every_command_is_documented(name: str) -> None:
    assert f"`pcc daemon {name}" in PAGE
