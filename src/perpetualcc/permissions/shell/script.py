"""What a shell script is made of, once read: simple commands with their words resolved."""

from dataclasses import dataclass, field
from enum import StrEnum

UNKNOWN = "\ue000"
"""Stands in a word's text for whatever is known only when the command runs."""

FOUND = "\ue002"
"""
Stands before a pattern for names that a program finds: unlike the shell's, its `*` and `?` stand
for a dot at the beginning, too.
"""

PIPE = "\ue003"
"""Stands behind `UNKNOWN` for the number of the pipe that a `<(…)` opens, and for nothing else."""


@dataclass(slots=True, unsafe_hash=True)
class Word:
    """
    One word of a command, after quotes, escapes, braces and known variables.

    Positional on purpose: a long script makes tens of thousands of these.
    """

    text: str
    """The resolved text, with `UNKNOWN` where it depends on the run."""
    splits: bool = False
    """An unquoted expansion: at run time it may become several words, or options."""
    globs: bool = False
    """Has unquoted `*`, `?` or `[`: the shell replaces it by names of files."""
    code: tuple[str, ...] = ()
    """The source of the command and process substitutions inside it."""
    is_secret: bool = False
    """A variable in it is named like a secret, or was given one."""

    @property
    def is_constant(self) -> bool:
        return UNKNOWN not in self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirection:
    """`2> file`, `< file`, `<<< text`."""

    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        return ">" in self.operator


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """`NAME=value`, before a command, alone, or after `export`."""

    name: str
    value: Word
    is_secret: bool = False
    """Its value has a variable in it that is named like a secret, or has one."""


class Problem(StrEnum):
    """Why a script could not be read whole. None of these is ever LOW."""

    SYNTAX = "syntax error"
    """The grammar does not know it, or the shell would refuse it."""
    UNKNOWN_CONSTRUCT = "unknown construct"
    """The parser knows it, this reader does not."""
    RECURSION = "a function that calls itself"
    """It may never end, and start more of itself each time."""
    TOO_DEEP = "nested too deep"
    """Beyond the depth cap: judged as the worst."""
    TOO_LONG = "too long to judge"
    """Beyond the size caps: judged as the worst."""


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class SimpleCommand:
    """One program call, wherever in the script it stands."""

    words: tuple[Word, ...]
    source: str
    """How it was written, for a person."""
    assignments: tuple[Assignment, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    cwds: tuple[str | None, ...] = ()
    """Where it may run: each directory that is possible here. None: anywhere."""
    stdin: str | None = None
    """A here-document or here-string; `UNKNOWN` where it depends on the run. None: not given."""
    is_fed_secret: bool = False
    """There is a variable in that text which is named like a secret, or was given one."""
    upstream: tuple["SimpleCommand", ...] = ()
    """The commands whose output it reads through a pipe."""
    feeds: tuple["SimpleCommand", ...] = ()
    """The commands inside its own substitutions: their output becomes its words."""
    calls_function: bool = False
    """Its name is a function that this script defines."""


@dataclass(slots=True, kw_only=True)
class Script:
    """Everything a command line would run, in order."""

    commands: list[SimpleCommand] = field(default_factory=list)
    problems: list[tuple[Problem, str]] = field(default_factory=list)
    bound: list[Assignment] = field(default_factory=list)
    """What `read`, `for` and their like give to names that mean nothing to any program."""
