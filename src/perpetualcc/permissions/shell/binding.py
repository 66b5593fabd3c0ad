"""Every way in which a line sets a variable, beside `NAME=value`: each counts as that does."""

import re
from collections.abc import Sequence

from perpetualcc.permissions.shell.script import UNKNOWN, SimpleCommand, Word

Bound = tuple[str, str]
"""A name, and the value it has from here on."""

ZSH_LISTS = frozenset(
    {"path", "fpath", "module_path", "commands", "options", "functions", "aliases", "galiases",
     "saliases"}
)  # fmt: skip
"""Lists and tables that are zsh's own: what it finds and how it reads is what is in them."""

DECLARATIONS = frozenset({"export", "declare", "typeset", "readonly", "integer", "float"})
"""What sets variables by its words; `local` does so in functions only."""

_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(\+?)=", re.ASCII)
_ANOTHER = re.compile(r"-\w*[nTLRZlu]\w*")
_COUNTED = re.compile(r"-\w*i\w*")
"""`declare -i x`: whatever `x` is given from here on is a number."""
_FROZEN = re.compile(r"-\w*r\w*")
_MOST_VALUES = 60
"""Words of one `printf -v`."""
_WHOLE_LINE = re.compile(r"-[ers]+|[^-].*", re.DOTALL)
"""Words with which `read` takes a line, and all of it; `-d`, `-n` and `-i` take something else."""
_BLANK = re.compile(r"[ \t\n]*")
_ESCAPED = re.compile(r"\\(?:\n|([^\n]?))")
_TAKE_VALUES = frozenset("dinNptu")
"""Letters of `read`'s options that take the next word."""


def assigned(word: Word) -> Bound | None:
    """`export "NAME=value"`: in quotes it is a word to the grammar, and the same to the shell."""
    match = _ASSIGNED.match(word.text)
    if match is None:
        return None
    return match[1], UNKNOWN if match[2] else word.text[match.end() :]


def is_another(words: Sequence[Word]) -> bool:
    """
    Other variables change with it, or it keeps another value than it is given.

    `declare -n r=PATH` and `typeset -T PATH p`; `typeset -L2 x=..src`, `declare -l x=ETC`.
    """
    return any(_ANOTHER.fullmatch(word.text) for word in words[1:])


def is_frozen(words: Sequence[Word]) -> bool:
    """`readonly x`, `declare -r x`: nothing else may be given to it from here on."""
    return words[0].text == "readonly" or any(_FROZEN.fullmatch(word.text) for word in words[1:])


def is_counted(word: Word) -> bool:
    return _COUNTED.fullmatch(word.text) is not None


def filled(command: SimpleCommand, *, is_shared: bool) -> list[Bound]:
    """
    What `read` and `printf -v` put into variables, as far as the line says.

    When its input `is_shared` with other commands, which of several lines it reads is not known.
    """
    name = command.words[0].text
    if name == "printf":
        return _printed(command)
    names = _operands(command) or ["REPLY"]
    if command.stdin is None or not _takes_a_line(command, names, is_shared=is_shared):
        return [(one, UNKNOWN) for one in names]
    is_raw = any(word.text[:1] == "-" and "r" in word.text for word in command.words)
    text = command.stdin if is_raw else _ESCAPED.sub(r"\1", command.stdin)
    line = text.split("\n", 1)[0].strip()
    fields = line.split(maxsplit=max(len(names) - 1, 0)) if len(names) > 1 else [line]
    return [(one, fields[at] if at < len(fields) else "") for at, one in enumerate(names)]


def _takes_a_line(command: SimpleCommand, names: Sequence[str], *, is_shared: bool) -> bool:
    text = command.stdin or ""
    divides = [one.value.text for one in command.assignments if one.name == "IFS"]
    return (
        UNKNOWN not in text
        and not (is_shared and "\n" in text.rstrip("\n"))
        and all(_WHOLE_LINE.fullmatch(word.text) for word in command.words)
        and all(_BLANK.fullmatch(value) and (value or len(names) == 1) for value in divides)
    )


def _printed(command: SimpleCommand) -> list[Bound]:
    words = [word.text for word in command.words]
    if words[1:2] and words[1].startswith("-v") and words[1] != "-v":
        words[1:2] = ["-v", words[1].removeprefix("-v")]
    if words[1:2] != ["-v"] or len(words) < 4:
        return []
    if len(words) > _MOST_VALUES:
        return [(words[2], UNKNOWN)]
    template, *values = words[3:]
    text = template.replace("%s", "\0").replace("%b", "\0")
    text *= max(1, -(-len(values) // max(1, text.count("\0"))))  # as often as there are values
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
        elif (name := word.text.partition("?")[0]).isidentifier():  # `read "x?Name:"`
            found.append(name)
    return found
