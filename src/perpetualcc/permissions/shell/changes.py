"""What the shell's own commands change in it: where it stands, and what its variables hold."""

import re

from tree_sitter import Node

from perpetualcc.permissions.shell.binding import filled
from perpetualcc.permissions.shell.directories import DIRECTORY_COMMANDS
from perpetualcc.permissions.shell.numbers import COMPARES
from perpetualcc.permissions.shell.script import UNKNOWN, SimpleCommand, Word
from perpetualcc.permissions.shell.walk import Walk

_VARIABLE_COMMANDS = frozenset(
    {"read", "unset", "unfunction", "mapfile", "readarray", "getopts", "printf", "let", "local"}
)
_LINE_OPTION = re.compile(r"-[rds]+$")
"""Options of `read` that leave a line as it is; `-d ''` takes names that end with a zero."""


def change(walk: Walk, name: str, command: SimpleCommand, node: Node) -> None:
    """Follow `command`, the program `name`, if it is one that changes the shell."""
    words = command.words
    if name in DIRECTORY_COMMANDS:
        walk.change_directory(command)
    elif name in {"source", "."} and any(_is_written(walk, word) for word in words[1:2]):
        walk.variables.forget(tuple(walk.variables.snapshot()))
        walk.stand((None,))
    elif name == "test" and any(word.text in COMPARES for word in words):
        walk.expander.takes_numbers = True
    elif name in _VARIABLE_COMMANDS:
        walk.variables.forget(word.text for word in words[1:])
        # A name may have a subscript, which is a number.
        walk.expander.takes_numbers |= any(UNKNOWN in word.text for word in words[1:])
        if name in {"unset", "unfunction"}:
            walk.functions -= {word.text for word in words}
        if name in {"read", "printf"}:
            for bound, value in filled(command):
                walk.bind(bound, value, node)
        if name == "read":
            _fill(walk, command)


def _is_written(walk: Walk, word: Word) -> bool:
    """Whether a file's text comes from this very line, and not from the project."""
    return (
        bool(word.code)
        or word.text.startswith("/dev/")
        or any(
            word.text in (target.text for target in (*(r.target for r in c.redirections), *c.words))
            for c in walk.script.commands[:-1]
            if c.redirections or (c.words and c.words[0].text == "tee")
        )
    )


def _fill(walk: Walk, command: SimpleCommand) -> None:
    """`find src | while read -r f`: a line is one of the names that are listed."""
    names = [w.text for w in command.words[1:] if w.text and not _LINE_OPTION.match(w.text)]
    if len(names) == 1 and names[0].isidentifier():
        sources = command.upstream if walk.fed is None else walk.fed
        is_own = bool(command.redirections) or command.stdin is not None
        value = walk.variables.get(names[0]) if is_own else walk.printed(sources)
        is_name = UNKNOWN not in value and len(value.split()) == 1
        walk.variables.set(names[0], value if is_name else UNKNOWN)
