"""
What a substitution prints, where that can be said before it runs.

`$(echo --hard)` is `--hard`, `$(pwd)` is here, and `$(find src -name '*.go')` is names of files
below `src`, which a glob stands for. Everything else is known only when it runs.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from perpetualcc.permissions.shell.script import FOUND, UNKNOWN, SimpleCommand, Word
from perpetualcc.permissions.shell.words import unescape_ansi

_NAME_LISTS = frozenset({"-l", "-L", "-rl", "-lr", "-rL", "-Rl", "-ril", "-rli", "-lE", "-rlE"})
_LONG_NAME_LISTS = frozenset({"--files-with-matches", "--files-without-match"})
_FILTERS = frozenset({"sort", "uniq", "head", "tail", "grep", "egrep", "fgrep"})
_FIND_PRINTS_ELSE = frozenset(
    {"-exec", "-execdir", "-ok", "-okdir", "-printf", "-fprintf", "-fprint", "-ls", "-delete",
     "-regex", "-iregex", "-lname"}
)  # fmt: skip
_PLACES = frozenset({"-path", "-ipath", "-wholename", "-iwholename"})
PATTERN_LIMIT = 12
"""More patterns than this are no longer told one by one."""


def known_output(commands: Sequence[SimpleCommand], *, project: str, cwd: str) -> str:
    """What these commands print, without the last newline; `UNKNOWN` when it cannot be said."""
    if not commands or not _is_one_pipe(commands):
        return UNKNOWN
    first, *filters = commands
    words = [word.text for word in first.words]
    if not filters:
        if words == ["git", "rev-parse", "--show-toplevel"]:
            return project
        if words == ["pwd"]:
            return cwd
        if words == ["jobs", "-p"]:
            return "%+"
        if words[0] == "git" and _names_a_commit(words[1:]):
            return "HEAD"
        if words[0] in {"echo", "printf"}:
            return _printed(first)
    return _listed(first) if all(_is_filter(command) for command in filters) else UNKNOWN


def printed_by(source: SimpleCommand) -> str | None:
    """
    The text that this one command prints, newlines and all; None when it cannot be said.

    What `echo` makes of a backslash, each shell says for itself: the text as zsh prints it, and
    below it as bash does.
    """
    if not source.words:
        return None
    name, *words = source.words
    if name.text == "cat" and not words:
        return source.stdin
    if name.text not in {"echo", "printf"}:
        return None
    texts = [word.text for word in words if word.text not in {"-n", "-e", "-ne", "-en"}]
    text = " ".join(texts)
    if name.text == "printf" or "-e" in {word.text for word in words}:
        text = unescape_ansi(text)
    elif (other := unescape_ansi(text)) != text:
        if text.lstrip().startswith("{"):  # two objects are no JSON
            return None
        text = f"{other}\n{text}"
    return text.replace("%s", "")


def _names_a_commit(words: Sequence[str]) -> bool:
    """
    It prints the name of one commit, branch or tag, which never begins with a dash.

    `HEAD` stands for it. `git rev-parse` prints what it does not know as it is given, so that
    nothing but known options may begin with a dash.
    """
    if not words:
        return False
    command, options = words[0], {word for word in words[1:] if word.startswith("-")}
    if command == "rev-parse" and "--verify" not in options:
        revisions = set(words[1:]) - options
        if not all(_REVISION.fullmatch(word) for word in revisions):
            return False
    return bool(words[1:] or command == "describe") and options <= _NAMING.get(command, frozenset())


_REVISION = re.compile(r"(?:HEAD|@)(?:[~^]\d*)*|[0-9a-f]{7,40}")
"""What there is, or what is harmless when it is printed as it was given."""


_NAMING = {
    "rev-parse": frozenset({"--short", "--verify", "-q", "--abbrev-ref"}),
    "merge-base": frozenset({"--fork-point", "--octopus"}),
    "branch": frozenset({"--show-current"}),
    "describe": frozenset({"--tags", "--always", "--long", "--abbrev=0", "--dirty"}),
    "symbolic-ref": frozenset({"--short", "-q"}),
}
"""Commands of git that print a name, and the options with which they still do."""


def _is_one_pipe(commands: Sequence[SimpleCommand]) -> bool:
    return all(
        command.words
        and len(command.upstream) == position
        and not command.assignments
        and not command.feeds
        and command.stdin is None
        and all(
            (r.operator != "<" and not r.writes) or _is_quiet(r.target)
            for r in command.redirections
        )
        for position, command in enumerate(commands)
    )


def _is_filter(command: SimpleCommand) -> bool:
    """It passes on some of the lines it is given, and reads no file of its own."""
    name, *words = [word.text for word in command.words]
    operands = [word for word in words if not word.startswith("-") and not word.isdigit()]
    return name in _FILTERS and len(operands) <= name.endswith("grep")


def _is_quiet(target: Word) -> bool:
    return target.text in {"/dev/null", "1", "2"}


def _printed(command: SimpleCommand) -> str:
    words = list(command.words[1:])
    while words and words[0].text in {"-n", "-e", "-E"}:
        if words.pop(0).text == "-e":
            return UNKNOWN
    text = " ".join(word.text for word in words)
    is_plain = all(word.is_constant and not word.globs for word in words)
    is_format = "\\" in text or (command.words[0].text == "printf" and "%" in text)
    return text if is_plain and not is_format else UNKNOWN


def _listed(command: SimpleCommand) -> str:
    """Names of files, as patterns; or not known."""
    if not all(word.is_constant for word in command.words):
        return UNKNOWN
    name, *words = [word.text for word in command.words]
    if name in {"find", "gfind"}:
        return _found(words)
    if name == "git" and words[:1] == ["ls-files"]:
        shows = IGNORED if "--exclude-standard" in words else _UNTRACKED
        return f"./{FOUND}*" if any(map(shows.fullmatch, words)) else "./*"
    if name == "git" and words[:1] == ["diff"] and "--name-only" in words:
        return "./*"
    if name in {"grep", "rg", "egrep", "fgrep"}:
        flags = {word for word in words if word.startswith("-")}
        is_names = flags & _NAME_LISTS or flags & _LONG_NAME_LISTS
        is_here = not any(word.startswith(("/", "~", "..")) for word in words)
        return _searched(words) if is_names and is_here else UNKNOWN
    return UNKNOWN


def _searched(words: Sequence[str]) -> str:
    """`grep -rl x src lib` names files below these."""
    places = [word for word in words if not word.startswith("-")][1:]
    if not places or any(_TAKES_VALUE.fullmatch(word) for word in words):
        return "./*"
    return " ".join(place.rstrip("/") + "/*" for place in places)


_TAKES_VALUE = re.compile(
    r"-[A-Za-z]*[gtTABCmefd]|--(?:regexp|file|type|glob|iglob|include|exclude)\S*"
)
"""Options of `grep` and `rg` after which a word may be neither the pattern nor a place."""


def _found(words: Sequence[str]) -> str:
    """`find src lib -name '*.go'` prints what `src/*.go lib/*.go` may stand for."""
    if not _FIND_PRINTS_ELSE.isdisjoint(words):
        return UNKNOWN
    roots = []
    for word in words:
        if word.startswith(("-", "(", "!")):
            break
        roots.append(word.rstrip("/"))
    named, left_out = find_filters(words)
    names = [pattern for flag, pattern in named if flag in {"-name", "-iname"}]
    places = [pattern.removeprefix("./") for flag, pattern in named if flag in _PLACES]
    mark = "" if leaves_hidden_out(left_out) else FOUND
    patterns = [
        f"{root}/{mark if name[:1] in _WILD else ''}{name}"
        for root in roots or ["."]
        for name in names or ["*"]
    ]
    patterns += [place if place.startswith("/") else f"./{place}" for place in places]
    has_blanks = any(c.isspace() for pattern in patterns for c in pattern)
    return UNKNOWN if has_blanks or len(patterns) > PATTERN_LIMIT else " ".join(patterns)


Filter = tuple[str, str]
"""A test of `find`, and its pattern."""


def find_filters(words: Sequence[str]) -> tuple[list[Filter], list[Filter]]:
    """Which names `find` prints, and which it leaves out."""
    named: list[Filter] = []
    left_out: list[Filter] = []
    around = zip(["", *words], words, words[1:], [*words[2:], ""], strict=False)
    for before, flag, pattern, after in around:
        if _FILTERS_NAMES.fullmatch(flag) and pattern != "*":
            is_left_out = before in {"!", "-not"} or after == "-prune"
            (left_out if is_left_out else named).append((flag, pattern))
    return named, left_out


def leaves_hidden_out(filters: Sequence[Filter]) -> bool:
    """`-not -path '*/.*'` and `-not -name '.env*'`."""
    return any(
        fnmatchcase(".env" if flag.endswith("name") and "whole" not in flag else "./.env", pattern)
        for flag, pattern in filters
    )


_FILTERS_NAMES = re.compile(r"-i?(?:name|path|wholename|regex|lname)")
_WILD = frozenset("*?[")
IGNORED = re.compile(r"-[a-z]*i[a-z]*|--ignored")
"""With which `git ls-files` names what is ignored, as `.env` mostly is."""
_UNTRACKED = re.compile(r"-[a-z]*[oi][a-z]*|--others|--ignored")
