"""The table of commands and the modules behind it cannot disagree."""

import pytest

from perpetualcc.cli.commands import COMMANDS
from perpetualcc.cli.main import load_command


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_listed_command_loads_under_its_own_name(name: str) -> None:
    command = load_command(name)

    assert command.name == name
    assert command.help or command.callback.__doc__
