"""The table of commands and the modules behind it cannot disagree."""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from perpetualcc.cli.commands import COMMANDS, PANELS
from perpetualcc.cli.main import load_command


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_listed_command_loads_under_its_own_name(name: str) -> None:
    command = load_command(name)

    assert command.name == name
    assert command.help or command.callback.__doc__


def leaves(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """A command, or those of a group."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
    for word, one in (inner or {}).items():
        yield from leaves(f"{name} {word}", one)


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_an_example_and_every_option_a_meaning(name: str) -> None:
    for full, command in leaves(f"pcc {name}", load_command(name)):
        assert "Example: " in command.help, full
        unexplained = [p.name for p in command.params if not (p.help or p.name == "help")]
        assert unexplained == [], full


# Commands that change, ask back, or show what is no data have nothing to say as JSON.
_LOOKS = (
    *("list", "status", "logs", "pending", "decisions", "explain", "rules list", "rules explain"),
    *("notify test", "notifications", "doctor", "config show", "config get", "budget", "search"),
    *("graph", "context", "brain ask", "trust"),
)


@pytest.mark.parametrize("words", _LOOKS)
def test_what_shows_something_shows_it_as_json_too(words: str) -> None:
    name, _, inner = words.partition(" ")
    command = load_command(name)
    command = command.commands[inner] if inner else command

    assert "--json" in [option for param in command.params for option in param.opts]


def pcc(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "perpetualcc", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


def test_nothing_typed_shows_the_commands_in_panels_in_their_order() -> None:
    shown = pcc()

    assert shown.returncode == 0
    assert shown.stdout.startswith("Usage: pcc [OPTIONS] COMMAND")
    places = [shown.stdout.index(f"\n{panel}:\n") for panel in PANELS]
    assert places == sorted(places)
    for name, entry in COMMANDS.items():
        assert f"  {name} " in shown.stdout
        assert entry.help.split()[0] in shown.stdout


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("strat",), "No such command 'strat'. Did you mean 'start'?"),
        (("zzzzzz",), "No such command 'zzzzzz'.\n"),
        (("list", "--bogus"), "Usage: pcc list"),
        (("respond", "--bogus"), "Usage: pcc respond [OPTIONS] NUMBER [ANSWER]..."),
        (("list", "--limit", "many"), "'--limit'"),
        (("--quiet", "--verbose", "list"), "contradict each other"),
        (("stop",), "Missing argument 'SESSION'"),
    ],
)
def test_what_is_typed_wrong_is_a_usage_error(typed: tuple[str, ...], said: str) -> None:
    done = pcc(*typed)

    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_a_configuration_that_is_not_there_is_said() -> None:
    done = pcc("--config", "/nowhere/config.toml", "list")

    assert done.returncode == 1
    assert "error: Configuration file '/nowhere/config.toml' does not exist" in done.stderr
    assert "hint:  " in done.stderr


@pytest.mark.parametrize(
    ("variables", "offered"),
    [
        ({"_PCC_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "pcc daemon re"}, '"restart":'),
        (
            {
                "_PCC_COMPLETE": "complete_fish",
                "_TYPER_COMPLETE_ARGS": "pcc daemon re",
                "_TYPER_COMPLETE_FISH_ACTION": "get-args",
            },
            "restart\t",
        ),
        (
            {"_PCC_COMPLETE": "complete_bash", "COMP_WORDS": "pcc stat", "COMP_CWORD": "1"},
            "status",
        ),
    ],
)
def test_shells_are_offered_commands(variables: dict[str, str], offered: str, monkeypatch) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert offered in pcc().stdout


@pytest.mark.parametrize("words", [(), ("start",), ("config", "set")])
def test_help_fits_a_narrow_terminal(words: tuple[str, ...], monkeypatch) -> None:
    """The library's pages are 50 columns wide at least."""
    monkeypatch.setenv("COLUMNS", "40")

    shown = pcc(*words, "--help").stdout

    assert "  -h, --help" in shown
    assert [line for line in shown.splitlines() if len(line) > 40] == []


@pytest.mark.parametrize("words", [("respond",), ("memory", "forget"), ("login",)])
def test_help_names_no_type_of_a_programming_language(words: tuple[str, ...]) -> None:
    assert re.findall(r"<[a-z].*>", pcc(*words, "--help").stdout) == []
