"""
`blocked_commands`: patterns that are read as commands, not searched as text.

`sudo` blocks the program and not the word; `rm -rf /` blocks every spelling of these options
with this very place; `curl | sh` blocks any shell behind any such pipe.
"""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from perpetualcc.permissions.shell.reader import read_script
from perpetualcc.permissions.shell.script import SimpleCommand, Word

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish"})
SHORT_OPTIONS = {"--recursive": "r", "--force": "f", "-R": "r"}
"""Options of `rm` and its like that have a letter as well."""

_SHELL_DIRECTORIES = frozenset({"/bin", "/usr/bin", "/usr/local/bin", "/sbin"})


@dataclass(frozen=True, slots=True)
class _Pattern:
    name: str
    flags: frozenset[str]
    operands: tuple[str, ...]
    source: "_Pattern | None"
    """What must come before it in the pipe."""
    text: str


@lru_cache(maxsize=32)
def blocked_patterns(texts: tuple[str, ...]) -> tuple[_Pattern, ...]:
    """The settings' patterns, made ready. One that cannot be read blocks its first word."""
    patterns = []
    for text in texts:
        script = read_script(text, home="/", project="/", cwds=("/",))
        source = None
        for command in script.commands:
            if command.words:
                name, flags, operands = _shape(command.words)
                source = _Pattern(name, flags, operands, source, text)
        if source is not None:
            patterns.append(source)
    return tuple(patterns)


def blocking(command: SimpleCommand, patterns: Sequence[_Pattern]) -> str | None:
    """The pattern that blocks `command`, as it is written in the settings."""
    if not patterns or not command.words:
        return None
    name, shape = _name(command.words), None
    for pattern in patterns:
        if not _is_named(name, pattern):
            continue
        shape = shape or _shape(command.words)
        if _matches(shape, pattern) and (
            pattern.source is None
            or any(_matches(_shape(c.words), pattern.source) for c in command.upstream if c.words)
        ):
            return pattern.text
    return None


def _shape(words: Sequence[Word]) -> tuple[str, frozenset[str], tuple[str, ...]]:
    flags: set[str] = set()
    operands: list[str] = []
    for word in words[1:]:
        text = word.text
        if text in SHORT_OPTIONS:
            flags.add(SHORT_OPTIONS[text])
        elif text.startswith("--") and len(text) > 2:
            flags.add(text.partition("=")[0])
        elif text.startswith("-") and len(text) > 1:
            flags |= {"r" if letter == "R" else letter for letter in text[1:]}
        else:
            operands.append(_place(text))
    return _name(words), frozenset(flags), tuple(operands)


def _name(words: Sequence[Word]) -> str:
    return posixpath.basename(words[0].text)


def _is_named(name: str, pattern: _Pattern) -> bool:
    return name == pattern.name or (name in SHELLS and pattern.name in {"sh", "bash"})


def is_shell(text: str) -> bool:
    """Whether this is the full path of a shell, as in `/bin/sh`."""
    directory, _, name = text.rpartition("/")
    return name in SHELLS and directory.rstrip("/") in _SHELL_DIRECTORIES


_NAMES = "|".join(sorted(SHELLS))
_SHELL_PLACE = re.compile(
    rf"(?:^|[\s({{\[\"'`=|;&,:!<>])/(?:usr/(?:local/)?)?bin/(?:{_NAMES})(?![\w/.-])"
)


def names_shell(text: str) -> bool:
    """Whether the full path of a shell stands anywhere in a word: `exec:/bin/sh -i`."""
    return "bin/" in text and _SHELL_PLACE.search(text) is not None


def _place(text: str) -> str:
    if not text.startswith("/"):
        return text
    path = "/" + posixpath.normpath(text).lstrip("/")
    return "/" if path == "/*" else path


def _matches(shape: tuple[str, frozenset[str], tuple[str, ...]], pattern: _Pattern) -> bool:
    name, flags, operands = shape
    given = pattern.flags <= flags and set(pattern.operands) <= set(operands)
    return given and _is_named(name, pattern)
