"""
The words that `xargs` appends: the names that the commands before it in the pipe print.

A search of the project stands for any of its files, as `*` does, which is no credential. One that
shows hidden or untracked files as well stands for these, too, when what is in them is printed.
"""

import re
from collections.abc import Sequence

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call
from perpetualcc.permissions.commands.programs.interpreters import printed_text
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.shell.outputs import (
    IGNORED,
    find_filters,
    known_output,
    leaves_hidden_out,
)
from perpetualcc.permissions.shell.script import FOUND, UNKNOWN, SimpleCommand, Word

EVERYTHING = frozenset({"", ".", ".*", ".+", "^", "$", "^.*$", "^.", "\\S", "[^ ]"})
"""Patterns that every line fits."""
ALL_FILES = Word("./*", globs=True)
HIDDEN_FILES = Word("./.*", globs=True)
_ROOTS = frozenset({"find", "fd", "fdfind", "ls", "git", "rg", "grep", "ag"})
_SEARCHES = _ROOTS | {"grep", "sort", "uniq", "head", "tail", "tr", "egrep"}
_FILTERS = frozenset({"grep", "egrep", "fgrep", "rg"})
_MEASURES = frozenset(
    {"wc", "cksum", "md5", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum",
     "shasum", "b2sum", "crc32", "cmp"}
)  # fmt: skip
"""Programs that read a file and do not print what is in it."""
SHOWS_HIDDEN = {
    "ls": re.compile(r"-[A-Za-z1]*[aAf][A-Za-z1]*|--all|--almost-all"),
    "git": re.compile(r"-[a-z]*[oi][a-z]*|--others|--ignored"),
    "rg": re.compile(r"-[A-Za-z]*\.|--hidden|-[A-Za-z]*uu+"),
    "ag": re.compile(r"-[A-Za-z]*u[A-Za-z]*|--hidden|--unrestricted"),
    "fd": re.compile(r"-[A-Za-z]*[Hu][A-Za-z]*|--hidden|--unrestricted"),
}
_SIGNS = re.compile(r"[\\^$()]")


def piped_words(call: Call, program: Sequence[Word]) -> list[Word]:
    """What is appended to `program`."""
    text = printed_text(call) if call.command.stdin is None else call.command.stdin
    if text is not None and UNKNOWN not in text:
        return [Word(part) for part in text.split()[:100]] or [Word("")]
    found = call.judge.found(call.command.upstream)
    reads = [e for f in found for e in f.effects]
    is_search = bool(found) and all(f.risk is Risk.LOW for f in found)
    is_here = all(e.kind is EffectKind.READ and _is_here(e.target, call) for e in reads)
    sources = {c.words[0].text for c in call.command.upstream if c.words}
    named, listed = _named(call), _listed(call.command.upstream)
    if not (is_search and is_here and sources <= _SEARCHES and not _ROOTS.isdisjoint(sources)):
        return [Word(UNKNOWN, splits=True), *named, *listed]
    hidden = _hidden(call.command.upstream) if prints_all(program, call) else []
    if searches_contents(program, call):
        hidden += [Word(name, globs=True) for word in named if (name := hidden_name(word.text))]
    return [*(named or [ALL_FILES]), *listed, *hidden]


def hidden_name(pattern: str) -> str:
    """To `find`, `*.env*` is `.env`, too; to a shell it is not. Empty where there is none."""
    directory, slash, name = pattern.rpartition("/")
    bare = name.lstrip(f"*{FOUND}")
    return f"{directory}{slash}{bare}" if name != bare and bare.startswith(".") else ""


def _named(call: Call) -> list[Word]:
    """`find . -name '.env*'` says which."""
    listed = known_output(call.command.upstream, project=UNKNOWN, cwd=UNKNOWN)
    return [] if UNKNOWN in listed else [Word(name, globs=True) for name in listed.split()]


def _listed(commands: Sequence[SimpleCommand]) -> list[Word]:
    """`ls .env*` prints them."""
    return [
        word
        for command in commands
        if command.words and command.words[0].text in _LISTS
        for word in command.words[1:]
        if word.text[:1] != "-"
    ]


_LISTS = frozenset({"ls", "gls"})


def prints_contents(program: Sequence[Word], call: Call) -> bool:
    """`cat`, `head` and their like; not `wc`, and not `grep`, which looks for something."""
    name = program[0].text.rpartition("/")[2] if program else ""
    return _operands(name, call) == "read" and name not in _MEASURES


def prints_all(program: Sequence[Word], call: Call) -> bool:
    """The same, and `grep ''`."""
    name = program[0].text.rpartition("/")[2] if program else ""
    if _operands(name, call) != "pattern-read":
        return prints_contents(program, call)
    plain = [word.text for word in program[1:] if word.text[:1] != "-" or word.text == "-"]
    return not EVERYTHING.isdisjoint(plain[:1]) or any(
        word.text in {"-e", "--regexp"} for word in program
    )


def searches_contents(program: Sequence[Word], call: Call) -> bool:
    """The same, and `grep`."""
    name = program[0].text.rpartition("/")[2] if program else ""
    return _operands(name, call) == "pattern-read" or prints_contents(program, call)


def _operands(name: str, call: Call) -> str:
    known = call.judge.knowledge.program(name)
    return known.rule.operands if known is not None and known.rule is not None else ""


def finds_everything(words: Sequence[Word]) -> bool:
    """`find . -type f`: whatever the names are."""
    texts = [word.text for word in without_modes(words)]
    is_root = not texts or texts[0] in {".", "./"} or texts[0].startswith("-")
    named, left_out = find_filters(texts)
    narrows = any(not _finds_hidden(flag, pattern) for flag, pattern in named)
    return is_root and not narrows and not leaves_hidden_out(left_out)


_HIDDEN_PATHS = ("./.env", "./.env.local", "./src/.env", "./.npmrc", "./.netrc", "./.aws/config")
REPEATED = re.compile(r"\)\\?[*+{]")
"""A group that comes again and again, which may take for ever to try."""
_SIGN = re.compile(r"\\?([(){}|+?])")


def _finds_hidden(flag: str, pattern: str) -> bool:
    """A `-regex`, as POSIX or as Emacs reads it; one that cannot be read may find anything."""
    if not flag.endswith("regex"):
        return False
    emacs = _SIGN.sub(lambda sign: sign[1] if sign[0][0] == "\\" else f"\\{sign[1]}", pattern)
    if len(pattern) > LONGEST_PATTERN or any(map(REPEATED.search, (pattern, emacs))):
        return True
    try:
        forms = [re.compile(one, re.IGNORECASE) for one in (pattern, emacs)]
    except re.error:
        return True
    return any(form.fullmatch(path) for form in forms for path in _HIDDEN_PATHS)


LONGEST_PATTERN = 200
"""Characters; a longer one is not tried."""


def names_left_out(words: Sequence[Word]) -> list[Word]:
    """`find . -not -path '*/.*'`: patterns of names that are of no matter."""
    _, left_out = find_filters([word.text for word in words])
    return [word for word in words if word.text in {pattern for _, pattern in left_out}]


def without_modes(words: Sequence[Word]) -> Sequence[Word]:
    """`find -L src`, `find -E -f src` on a Mac: options that stand before the places."""
    start = 0
    while start < len(words) and _MODE.fullmatch(words[start].text):
        start += 2 if words[start].text == "-D" else 1
    return words[start:]


_MODE = re.compile(r"-[HLPEXdsx]+|-O\d|-D|-f|--")


def hidden_among(words: Sequence[Word]) -> list[Word]:
    """`fd -H env -x cat`: hidden files that fit the pattern."""
    if not any(SHOWS_HIDDEN["fd"].fullmatch(word.text) for word in words):
        return []
    patterns = [word.text for word in words if word.text[:1] not in {"-", "/"}][:1]
    return [Word(_glob(p), globs=True) for p in patterns if p != "."] or [HIDDEN_FILES]


def substituted_words(call: Call) -> list[Word]:
    """`cat $(git ls-files -o)`: hidden files among the names that a substitution prints."""
    if not prints_contents(call.command.words, call):
        return []
    if any(word.text.endswith(f"./{FOUND}*") for word in call.arguments.operands):
        return [HIDDEN_FILES]  # `find . | while read f; do cat "$f"; done`
    starts = [source for source in call.command.feeds if source.words and not source.upstream]
    hidden = [
        word
        for start in starts
        for word in _hidden([start, *(f for f in call.command.feeds if start in f.upstream)])
    ]
    return hidden + _listed(starts)


def _hidden(upstream: Sequence[SimpleCommand]) -> list[Word]:
    """Hidden files among the names, or those of them that a filter leaves."""
    first, *filters = upstream
    if not _shows_hidden(first):
        return []
    patterns = [
        word.text
        for command in filters
        if command.words[0].text in _FILTERS and not _inverts(command)
        for word in command.words[1:]
        if not word.text.startswith("-")
    ]
    return [Word(_glob(pattern), globs=True) for pattern in patterns] or [HIDDEN_FILES]


def _glob(pattern: str) -> str:
    """What `grep` lets through among hidden names."""
    name = _SIGNS.sub("", pattern)
    start = "" if name.startswith(".") else ".*"
    return f"{start}{name}{'' if pattern.endswith('$') else '*'}"


def _shows_hidden(command: SimpleCommand) -> bool:
    name, *texts = [word.text for word in command.words]
    if name in {"find", "gfind"}:
        return finds_everything(command.words[1:])
    if name == "git" and ("ls-files" not in texts or "--exclude-standard" in texts):
        return "check-ignore" in texts or any(IGNORED.fullmatch(text) for text in texts)
    shows = SHOWS_HIDDEN.get("fd" if name == "fdfind" else name)
    return shows is not None and any(shows.fullmatch(text) for text in texts)


def _inverts(command: SimpleCommand) -> bool:
    return any(re.fullmatch(r"-\w*v\w*|--invert-match", word.text) for word in command.words[1:])


def _is_here(target: str, call: Call) -> bool:
    return not target.startswith("/") or call.judge.territory.contains(target)
