"""
Whether a command is the one that a rule denies, however it is spelled.

Variables and wrappers in front are gone by then, since every command inside another is judged on
its own. What is left are the place of the program, other names for it, and options before the
subcommand. Only leading words count: `echo git push` is no `git push`.
"""

import posixpath
from collections.abc import Sequence
from functools import lru_cache

from perpetualcc.permissions.blocked import SHORT_OPTIONS
from perpetualcc.permissions.commands.arguments import Arguments, read_arguments
from perpetualcc.permissions.commands.knowledge import Entry, knowledge
from perpetualcc.permissions.commands.places import PROGRAM_DIRECTORIES
from perpetualcc.permissions.protected import fold
from perpetualcc.permissions.shell.reader import read_script
from perpetualcc.permissions.shell.script import Word

_SHORT = 4
"""Characters of a word such as `-rf`, whose letters are options of their own."""


def is_spelling_of(pattern: str, words: Sequence[Word]) -> bool:
    """Whether `words` begin with the command `pattern`, options aside that it does not name."""
    wanted = _command(pattern)
    if not wanted or not words:
        return False
    if not _is_program(words[0].text, wanted[0].text):
        words = _apart(words, wanted)
        if not _is_program(words[0].text, wanted[0].text):
            return False
    if [w.text for w in words[1 : len(wanted)]] == [w.text for w in wanted[1:]]:
        return True
    asked = _arguments(wanted)
    leading = _operands(wanted, asked)
    if any(given.value for given in asked.given) or any(may_be for _, may_be in leading):
        return False  # an option with a value is said in full, as above
    arguments = _arguments(words)
    given = [word.text for word in words[1:] if _is_option(word)]
    if not all(
        _is_given(word.text, given) or _is_meant(word.text, arguments)
        for word in wanted[1:]
        if _is_option(word)
    ):
        return False
    return _begins(_operands(words, arguments), [text for text, _ in leading])


def _apart(words: Sequence[Word], wanted: Sequence[Word]) -> Sequence[Word]:
    """`docker-compose up` is `docker compose up`, `git-push` is `git push`; no `node-gyp` is."""
    place, name = posixpath.split(words[0].text)
    first, _, second = name.partition("-")
    if not second or second not in {word.text for word in wanted[1:2]}:
        return words
    return [Word(posixpath.join(place, first)), Word(second), *words[1:]]


@lru_cache(maxsize=64)
def _command(pattern: str) -> tuple[Word, ...]:
    """The words of a pattern that is one bare command; without variables and redirections."""
    commands = read_script(pattern, home="/", project="/", cwds=("/",)).commands
    is_bare = len(commands) == 1 and not (commands[0].assignments or commands[0].redirections)
    return commands[0].words if is_bare else ()


def _is_program(given: str, wanted: str) -> bool:
    """
    `/usr/bin/git` and `git` are one; so are `pip3` and `pip`, and on the usual disk of a Mac `GIT`;
    `./git` is a file of its own.
    """
    given, wanted = fold(given), fold(wanted)
    place, name = posixpath.split(given)
    wanted_place, wanted_name = posixpath.split(wanted)
    is_everywhere = not place or place.startswith("/") or posixpath.basename(place).endswith("bin")
    is_same_file = bool(wanted_place) and posixpath.normpath(given) == posixpath.normpath(wanted)
    if not is_same_file and not (is_everywhere and wanted_place in {"", *PROGRAM_DIRECTORIES}):
        return False
    known = knowledge().program(name)
    return name == wanted_name or (known is not None and known is knowledge().program(wanted_name))


def _arguments(words: Sequence[Word]) -> Arguments:
    name = posixpath.basename(words[0].text)
    return read_arguments(words, knowledge().program(name) or Entry(name))


def _operands(words: Sequence[Word], arguments: Arguments) -> list[tuple[str, bool]]:
    """Each word that is no option nor the value of one; and whether it could be a value still."""
    values = {id(given.value) for given in arguments.given if given.value is not None}
    flags = {given.name for given in arguments.given}
    found: list[tuple[str, bool]] = []
    may_be_value = False
    for word in words[1:]:
        if _is_option(word):
            may_be_value = word.text not in flags and "=" not in word.text
            continue
        if id(word) not in values:
            is_first = all(may_be for _, may_be in found)
            text = _usual(words[0].text, word.text) if is_first else word.text
            found.append((text, may_be_value))
        may_be_value = False
    return found


def _is_option(word: Word) -> bool:
    return len(word.text) > 1 and word.text[0] == "-"


def _is_given(option: str, given: Sequence[str]) -> bool:
    if any(option in {text, text.partition("=")[0]} or _shortens(text, option) for text in given):
        return True
    letters = {letter for text in given for letter in _letters(text)}
    return option[1] != "-" and len(option) <= _SHORT and letters.issuperset(option[1:])


def _letters(text: str) -> str:
    """`-rf` is `r` and `f`; so are `--recursive` and `--for`."""
    if text[1] == "-":
        return "".join(c for long, c in SHORT_OPTIONS.items() if _shortens(text, long))
    return SHORT_OPTIONS.get(text, text[1:]) if len(text) <= _SHORT else ""


def _shortens(text: str, option: str) -> bool:
    """`--rec` is `--recursive` to most programs."""
    name = text.partition("=")[0]
    return name.startswith("--") and len(name) > _SHORT and option.startswith(name)


def _is_meant(option: str, arguments: Arguments) -> bool:
    """`-n` of `git commit` is `--no-verify`: both mean what one line of the tables says."""
    wanted = arguments.options.get(option)
    return any(
        given.name == option or (wanted is not None and wanted.risk and given.rule is wanted)
        for given in arguments.given
    )


def _usual(name: str, subcommand: str) -> str:
    """`npm i` is `npm install`: the usual one of several words for the same."""
    text = f"{posixpath.basename(name)} {subcommand}"
    return knowledge().same.get(text, text).partition(" ")[2]


def _begins(operands: Sequence[tuple[str, bool]], leading: Sequence[str]) -> bool:
    left = list(leading)
    for text, may_be_value in operands:
        if not left:
            break
        if text == left[0]:
            left.pop(0)
        elif not may_be_value:
            return False
    return not left
