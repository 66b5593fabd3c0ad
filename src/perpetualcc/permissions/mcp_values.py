"""
What a call of an MCP tool is given: every text in its input, with the name it has.

Text that is JSON is opened, and a program is put together with its arguments. What is too deep
or too much to look at is said to be (`is_cut`).
"""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from perpetualcc.permissions.mcp_names import words_of

VALUE_LIMIT = 20_000
"""Characters of one text that are looked at."""
_DEPTH, _MOST, _MOST_COMMANDS = 12, 2_000, 100
"""How deep values may lie in each other, and how many there may be."""
_LONG_NAME = 20
"""From here on a name is read as a text, too: it may be a token."""
_ALL = 100_000
"""Characters of all texts together."""
COMMAND_KEYS = frozenset(
    {"command", "commands", "cmd", "commandline", "command_line", "bash", "shell_command"}
)
_TAKES = frozenset({"arguments", "args", "params", "parameters", "input"})
_TRUE = frozenset({"1", "true", "yes", "on", "y", "t"})
_OPTION_KEYS = frozenset({"option", "options", "flag", "flags", "args", "arguments", "argv"})
_OPTION = re.compile(r"-{0,2}[A-Za-z][\w-]{1,40}(?:=\w*)?")
_ARGUMENT_KEYS = ("args", "arguments", "argv", "parameters")


@dataclass(slots=True)
class Given:
    """The texts of one input."""

    texts: list[tuple[str, str]] = field(default_factory=list)
    """The name of each, as `file_path` however it was written, and the text."""
    names: set[str] = field(default_factory=set)
    """All names in the input, of what is no text as well."""
    flags: set[str] = field(default_factory=set)
    """The names of what is true, and options in a list of them."""
    as_flags: set[str] = field(default_factory=set)
    """The names of what a server may take for true: `1`, `"yes"`."""
    is_cut: bool = False
    """Something of it was not looked at."""
    size: int = 0
    """Characters of all texts."""
    commands: int = 0
    """How many of the texts are commands."""

    def add(self, key: str, text: str) -> None:
        """Keeps `text`, unless all together is too much."""
        self.size += len(text)
        self.commands += key in COMMAND_KEYS
        too_much = self.size > _ALL or self.commands > _MOST_COMMANDS
        self.is_cut = self.is_cut or too_much or len(text) > VALUE_LIMIT
        if not too_much:
            self.texts.append((key, text[:VALUE_LIMIT]))


def read_values(values: Mapping[str, Any]) -> Given:
    """All that `values` hold."""
    given = Given()
    _read(values, "", given, 0)
    return given


def _read(value: Any, key: str, given: Given, depth: int) -> None:
    if depth > _DEPTH or len(given.texts) > _MOST or len(given.names) > _MOST:
        given.is_cut = True
    elif value is True or value == 1:
        (given.flags if value is True else given.as_flags).add(key)
    elif isinstance(value, str):
        _read_text(value, key, given)
        _read(_opened(value, given), key, given, depth + 1)
    elif isinstance(value, Mapping):
        _read_line(value, given)
        for name, inner in value.items():
            _read_name(str(name), given)
            _read(inner, "_".join(words_of(str(name))), given, depth + 1)
    elif isinstance(value, list | tuple):
        if key in COMMAND_KEYS and all(isinstance(one, str) for one in value):
            given.add(key, shlex.join(value))
        for inner in value:
            _read(inner, key, given, depth + 1)


def _read_text(text: str, key: str, given: Given) -> None:
    given.add(key, text)
    if text.strip().lower() in _TRUE:
        given.as_flags.add(key)
    elif key in _OPTION_KEYS and _OPTION.fullmatch(text):
        given.flags.add("_".join(words_of(text)))


def _read_name(name: str, given: Given) -> None:
    given.names.add(name.lower())
    if len(name) >= _LONG_NAME:
        given.add("", name)


def _opened(text: str, given: Given) -> Any:
    """What it holds, where it is JSON."""
    if text.lstrip()[:1] not in ("{", "[") or len(text) > VALUE_LIMIT:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None
    except RecursionError:
        given.is_cut = True
        return None


def _read_line(value: Mapping[str, Any], given: Given) -> None:
    """`{"command": "rm", "args": ["-rf", "/"]}` is one line; with arguments a name is a tool's."""
    if isinstance(value.get("name"), str) and not _TAKES.isdisjoint(value):
        given.add("tool", value["name"])
    for key in COMMAND_KEYS.intersection(value):
        program = value[key]
        for name in _ARGUMENT_KEYS:
            words = value.get(name)
            if isinstance(program, str) and isinstance(words, list | tuple):
                line = [program, *(shlex.quote(str(word)) for word in words)]
                given.add(key, " ".join(line))
