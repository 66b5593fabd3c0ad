"""The page about the daemon names everything there is."""

from pathlib import Path

import pytest

from perpetualcc.cli.main import load_command
from perpetualcc.gateway.protocol import ErrorCode

PAGE = (Path(__file__).parents[3] / "docs" / "daemon.md").read_text()


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_error_code_is_documented(code: ErrorCode) -> None:
    assert f"| {int(code)} | {code.name}" in PAGE


@pytest.mark.parametrize("name", list(load_command("daemon").commands))
def test_every_command_is_documented(name: str) -> None:
    assert f"`pcc daemon {name}" in PAGE
