"""What the shell's own commands change in it: where it stands, and what its variables hold."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from perpetualcc.permissions.shell.binding import (
    DECLARATIONS,
    assigned,
    filled,
    is_another,
    is_counted,
    is_frozen,
)
from perpetualcc.permissions.shell.directories import DIRECTORY_COMMANDS
from perpetualcc.permissions.shell.numbers import COMPARES, RUNS_AS_NUMBER
from perpetualcc.permissions.shell.script import (
    UNKNOWN,
    Assignment,
    Problem,
    SimpleCommand,
    Word,
)
from perpetualcc.permissions.shell.variables import ARGUMENTS
from perpetualcc.permissions.shell.walk import Walk

_VARIABLE_COMMANDS = frozenset(
    {"read", "unset", "unfunction", "mapfile", "readarray", "getopts", "printf", "let", "local"}
)
_LINE_OPTION = re.compile(r"-[rds]+$")
"""Options of `read` that leave a line as it is; `-d ''` takes names that end with a zero."""

_LIST_OPTION = re.compile(r"-\w*[aA]\w*")
"""`read -a words`, which is `-A` in zsh."""


def change(walk: Walk, name: str, command: SimpleCommand, node: Node) -> None:
    """Follow `command`, the program `name`, if it is one that changes the shell."""
    words = command.words
    if name in DIRECTORY_COMMANDS:
        walk.change_directory(command)
    elif name in {"source", "."} and any(_is_written(walk, word) for word in words[1:2]):
        walk.variables.forget(tuple(walk.variables.snapshot()))
        walk.variables.set_list(ARGUMENTS, [Word(UNKNOWN)], is_more=False)
        walk.stand((None,))
    elif name == "test" and any(word.text in COMPARES for word in words):
        walk.expander.takes_numbers = True
    elif name in {"set", "shift"}:
        (_set if name == "set" else _shift)(walk, list(words[1:]))
    elif name in DECLARATIONS:
        _declare(walk, command.words, node)
    elif name in _VARIABLE_COMMANDS:
        _give(walk, name, command, node)


def _give(walk: Walk, name: str, command: SimpleCommand, node: Node) -> None:
    """`read`, `printf -v`, `unset` and their like."""
    words = command.words
    walk.variables.forget(word.text for word in words[1:])
    # A name may have a subscript, which is a number.
    walk.expander.takes_numbers |= any(UNKNOWN in word.text for word in words[1:])
    if name in {"unset", "unfunction"}:
        walk.functions -= {word.text for word in words}
    if command.is_fed_secret or (name == "printf" and any(w.is_secret for w in words)):
        _give_secret(walk, name, [word.text for word in words[1:]])
    if name in {"read", "printf"}:
        is_shared = command.stdin is walk.stdin  # others have read, or will, what it reads
        is_list = name == "read" and any(_LIST_OPTION.fullmatch(word.text) for word in words)
        for bound, value in filled(command, is_shared=is_shared):
            walk.bind(bound, value, node)
            if is_list:
                walk.variables.set_list(bound, [Word(UNKNOWN)], is_more=False)
    if name == "read":
        _fill(walk, command)


def _give_secret(walk: Walk, command: str, words: Sequence[str]) -> None:
    """`read -r line <<< $TOKEN`: each name among its words may have it now."""
    by_itself = {"read": "REPLY", "readarray": "MAPFILE", "mapfile": "MAPFILE"}.get(command, "_")
    for name in (by_itself, *filter(str.isidentifier, words)):
        walk.variables.secrets.add(name)
        walk.script.bound.append(Assignment(name=name, value=Word(UNKNOWN), is_secret=True))


def _declare(walk: Walk, words: Sequence[Word], node: Node) -> None:
    """`export "A=1"`; and `'export' A=1`, which is a plain command to the grammar."""
    walk.expander.takes_numbers |= any(is_counted(word) for word in words[1:])
    is_read = not is_another(words)
    for word in words[1:]:
        bound = assigned(word)
        if bound is not None:
            walk.variables.set(*bound)
            is_read &= RUNS_AS_NUMBER.search(bound[1]) is None
        elif "[" in word.text:
            walk.variables.forget((word.text,))
    for word in words[1:] if is_frozen(words) else ():
        walk.variables.freeze(word.text.partition("=")[0], is_certain=not walk.defining)
    if not is_read:
        walk.problem(Problem.UNKNOWN_CONSTRUCT, walk.text(node))


def _set(walk: Walk, words: list[Word]) -> None:
    """`set -- a b` and `set a b`; not `set -euo pipefail`."""
    is_over = False
    while words and words[0].text[:1] in {"-", "+"} and not is_over:
        option = words.pop(0).text
        is_over = option in {"-", "--"}
        if option.endswith("o"):
            words = words[1:]
    if words or is_over:
        walk.variables.set_list(ARGUMENTS, words, is_more=False)


def _shift(walk: Walk, words: list[Word]) -> None:
    """It takes the first away, or as many; to zsh its words may also be lists."""
    walk.variables.forget(word.text for word in words)
    held = [Word(text) for text in walk.variables.get_list(ARGUMENTS) or ()]
    count = int(words[0].text) if words and words[0].text.isdigit() else 1 - len(words)
    is_known = 0 < count <= len(held)
    rest = held[count:] if is_known else [Word(UNKNOWN)]
    walk.variables.set_list(ARGUMENTS, rest, is_more=False)


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
    is_own = bool(command.redirections) or command.stdin is not None
    if len(names) == 1 and names[0].isidentifier() and not is_own:
        value = walk.printed(command.upstream if walk.fed is None else walk.fed)
        walk.script.bound.append(Assignment(name=names[0], value=Word(value)))
        is_name = UNKNOWN not in value and len(value.split()) == 1
        walk.variables.set(names[0], value if is_name else UNKNOWN)
