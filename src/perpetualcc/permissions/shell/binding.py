"""Every way in which a line sets a variable, beside `NAME=value`: each counts as that does."""

import re
from collections.abc import Sequence

from perpetualcc.permissions.shell.script import UNKNOWN, SimpleCommand, Word

Bound = tuple[str, str]
"""A name, and the value it has from here on."""

_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(\+?)=", re.ASCII)
_NAMEREF = re.compile(r"-[A-Za-z]*n[A-Za-z]*")
_TAKE_VALUES = frozenset("dinNptu")
"""Letters of `read`'s options that take the next word."""


def assigned(word: Word) -> Bound | None:
    """`export "NAME=value"`: in quotes it is a word to the grammar, and the same to the shell."""
    match = _ASSIGNED.match(word.text)
    if match is None:
        return None
    return match[1], UNKNOWN if match[2] else word.text[match.end() :]


def makes_another_name(words: Sequence[Word]) -> bool:
    """`declare -n r=PATH`: whatever is written to `r` is written to `PATH`."""
    return any(_NAMEREF.fullmatch(word.text) for word in words[1:])


def filled(command: SimpleCommand) -> list[Bound]:
    """What `read` and `printf -v` put into variables, as far as the line says."""
    name = command.words[0].text
    if name == "printf":
        return _printed(command)
    names = _operands(command)
    if command.stdin is None or UNKNOWN in command.stdin:
        return [(one, UNKNOWN) for one in names]
    line = command.stdin.split("\n", 1)[0].strip()
    fields = line.split(maxsplit=max(len(names) - 1, 0)) if len(names) > 1 else [line]
    return [(one, fields[at] if at < len(fields) else "") for at, one in enumerate(names)]


def _printed(command: SimpleCommand) -> list[Bound]:
    words = [word.text for word in command.words]
    if words[1:2] and words[1].startswith("-v") and words[1] != "-v":
        words[1:2] = ["-v", words[1].removeprefix("-v")]
    if words[1:2] != ["-v"] or len(words) < 4:
        return []
    template, *values = words[3:]
    text = template.replace("%s", "\0").replace("%b", "\0")
    for value in values:
        text = text.replace("\0", value, 1)
    return [(words[2], UNKNOWN if "%" in text or "\\" in text else text.replace("\0", ""))]


def _operands(command: SimpleCommand) -> list[str]:
    found: list[str] = []
    takes_value = False
    for word in command.words[1:]:
        if takes_value:
            takes_value = False
        elif word.text.startswith("-") and len(word.text) > 1:
            takes_value = word.text[-1] in _TAKE_VALUES
        elif word.text.isidentifier():
            found.append(word.text)
    return found
