"""What shows all files of the project, hidden ones too: a search that any line fits, an archive."""

import re
from collections.abc import Sequence
from itertools import pairwise

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.commands.piped_names import (
    EVERYTHING,
    HIDDEN_FILES,
    LONGEST_PATTERN,
    REPEATED,
    SHOWS_HIDDEN,
    prints_contents,
)
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.shell.script import SimpleCommand, Word

_PATTERNS = frozenset({"-e", "--regexp"})
_RECURSIVE = re.compile(r"-[A-Za-z]*[rR][A-Za-z]*|--(?:dereference-)?recursive")
_NARROWS = re.compile(
    r"-[A-Za-z]*[lLcq]|--(?:include|files|count|quiet|glob|iglob|type)|-[gtT]$|-g."
)
"""Options with which no contents are shown, or those of some files only."""
_INVERTS = re.compile(r"-[A-Za-z]*v[A-Za-z]*|--invert-match")
_SETTINGS = ("A=b", "NAME=value", "DB_PORT=5432")
"""Lines as they stand in a `.env`."""
_SECRET = re.compile(r"SECRET|TOKEN|PASSW(?:OR)?D|KEY\b|CREDENTIAL")
_TAR = frozenset({"tar", "gtar", "bsdtar"})
_PACKS = re.compile(r"-?[A-Za-z]*c[A-Za-z]*|--create")
_STDOUT = re.compile(r"-|/dev/stdout|--file=(?:-|/dev/stdout)|-[A-Za-z]*f(?:-|/dev/stdout)")


def searched_words(call: Call) -> list[Word]:
    """`grep -r '' .`: what every line fits shows all files, hidden ones too."""
    return [HIDDEN_FILES] if not EVERYTHING.isdisjoint(_searched_for(call)) else []


def searched_settings(call: Call) -> Findings:
    """`rg -uu KEY=`, `grep -r = .`: what settings fit, or secrets where hidden files are meant."""
    patterns = _searched_for(call)
    is_meant = call.arguments.path in SHOWS_HIDDEN or call.arguments.path == "git grep"
    is_inverted = any(_INVERTS.fullmatch(word.text) for word in call.command.words[1:])
    for pattern in patterns:
        secret = _SECRET.search(pattern)
        is_secret = secret is not None and (is_meant or pattern[secret.end() :][:1] == "=")
        if is_secret or fits_settings(pattern) is not is_inverted:
            why = "Shows what is in all files, hidden ones such as .env too"
            return [call.finding(Risk.MEDIUM, "search-all", why, EffectKind.READ)]
    return []


def fits_settings(pattern: str) -> bool:
    """Whether each `NAME=value` fits; one that cannot be read, or may take long, looks for more."""
    if len(pattern) > LONGEST_PATTERN or REPEATED.search(pattern):
        return False
    try:
        form = re.compile(pattern)
    except (re.error, OverflowError):
        return False
    return all(form.search(line) for line in _SETTINGS)


def names_secret(pattern: str) -> bool:
    """Whether it looks for what a secret is called."""
    return _SECRET.search(pattern) is not None


def _searched_for(call: Call) -> list[str]:
    """The patterns of a search of all the project that does not pass over hidden files."""
    texts = [word.text for word in call.command.words[1:]]
    name = call.arguments.path
    patterns = [g.value.text for g in call.arguments.given if g.name in _PATTERNS and g.value]
    places = [word.text for word in call.arguments.operands]
    if not patterns:
        patterns, places = places[:1], places[1:]
    shows = _NO_INDEX if name == "git grep" else SHOWS_HIDDEN.get(name, _RECURSIVE)
    is_bare = not any(
        _NARROWS.match(text) and not _leaves_all(text, following)
        for text, following in pairwise((*texts, ""))
    )
    is_shown = is_bare and any(shows.fullmatch(text) for text in texts)
    return patterns if is_shown and _are_whole(places, call) else []


_GLOB_OPTION = re.compile(r"(?:-g|--i?glob)(?:=|(?<=-g))?(.*)", re.DOTALL)
_ALL_GLOBS = frozenset({"*", "**", "**/*", "/**", "./**"})


def _leaves_all(option: str, following: str) -> bool:
    """`-g '!x'`, `-g '*'`: a glob that leaves some files out at most."""
    match = _GLOB_OPTION.fullmatch(option)
    glob = (match[1] or following) if match is not None else ""
    return glob[:1] == "!" or glob in _ALL_GLOBS


_NO_INDEX = re.compile(r"--no-index|--no-exclude-standard")


def _are_whole(places: Sequence[str], call: Call) -> bool:
    territory = call.judge.territory
    return all(territory.is_root(territory.locate(p, call.cwds).path) for p in places)


def archived(call: Call) -> Findings:
    """`tar cf - . | strings`: what is in an archive of all the project is printed."""
    command = call.command
    is_shown = prints_contents(command.words, call) and not any(
        redirection.writes and redirection.target.text != "/dev/null"
        for redirection in command.redirections
    )
    packs = [one for one in command.upstream if _packs_all(one, call)] if is_shown else []
    if not packs and not (_packs_all(command, call) and _names_stdout(command)):
        return []
    why = "Prints all files of the project, hidden ones such as .env too"
    return [call.finding(Risk.MEDIUM, "search-all", why, EffectKind.READ)]


def _names_stdout(command: SimpleCommand) -> bool:
    return any("/dev/stdout" in word.text for word in command.words)


def _packs_all(command: SimpleCommand, call: Call) -> bool:
    texts = [word.text for word in command.words]
    return (
        texts[:1] != []
        and texts[0] in _TAR
        and any(_PACKS.fullmatch(text) for text in texts[1:3])
        and any(_STDOUT.fullmatch(text) for text in texts[1:])
        and any(_are_whole([text], call) for text in texts[1:] if text[:1] in {".", "/", "~"})
    )


def compared(call: Call) -> Findings:
    """`diff -rN . /tmp/empty`: a file that only one side has is shown whole."""
    texts = [word.text for word in call.command.words[1:]]
    is_git = call.arguments.path == "git diff"  # it goes into folders, and shows what is new
    is_new = "--no-index" in texts if is_git else any(map(_NEW_FILES.fullmatch, texts))
    is_all = is_git or any(map(_RECURSIVE.fullmatch, texts))
    is_brief = any(_BRIEF.fullmatch(text) for text in texts)
    places = [word.text for word in call.arguments.operands]
    if not (is_new and is_all) or is_brief or not any(_are_whole([p], call) for p in places):
        return []
    why = "Prints all files of the project, hidden ones such as .env too"
    return [call.finding(Risk.MEDIUM, "search-all", why, EffectKind.READ)]


_NEW_FILES = re.compile(r"-[A-Za-z]*[NP][A-Za-z]*|--(?:unidirectional-)?new-file")
_BRIEF = re.compile(r"-[A-Za-z]*q[A-Za-z]*|--brief|--quiet|--stat|--numstat|--shortstat|--name-\w+")
