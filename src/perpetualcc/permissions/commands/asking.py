"""
Calls that only ask: for help, for a version, or for a list of what is there.

An option counts only where the program itself would read it: not after `--`, not as the value of
another option, and not among the words of a program that it runs.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call
from perpetualcc.permissions.commands.knowledge import CommandRule
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.shell.script import Word

_HELP = frozenset({"--help", "-help", "-?"})
_VERSION = frozenset({"--version", "-version", "-V"})
_ALONE = frozenset({"-v", "-V", "-h", "-version", "version", "help"})
"""What prints help or a version when it is the only word of a harmless program."""
_PLAIN = re.compile(r"[a-z][a-z0-9:_-]*")
_OWN_WORDS = frozenset({"exec", "run", "ssh", "shell", "console", "rsh", "attach", "enter", "eval"})
"""Subcommands whose operands are another command, which gets the options that follow."""
_NEVER = frozenset({"eval", "source", "trap", "shell-variables", "shell", "find"})
"""Handlers of commands that read their words in another way."""
_VERBS_LOOKED_AT = 5
"""Words of a call in which its verb is looked for."""


def asks_for_help(call: Call, rule: CommandRule) -> bool:
    """Whether the call prints help, a version or settings, and does nothing else."""
    words = call.command.words
    if len(words) < 2 or rule.handler in _NEVER:
        return _prints_only(call)
    if words[0].text in _names("help_last") and words[-1].text == "help":
        return True
    return (
        _prints_only(call)
        or _help_option(call, rule)
        or _version_option(call, rule)
        or _help_command(call, rule)
        or _short_option(call, rule)
    )


def _prints_only(call: Call) -> bool:
    """An option of which the table says so: `ssh -V`, `sudo -l`."""
    rules = [given.rule for given in call.arguments.given]
    prints = any(r.risk is Risk.LOW and r.explanation.startswith("Only prints") for r in rules)
    return prints and not any(r.risk is Risk.HIGH for r in rules)


def _help_option(call: Call, rule: CommandRule) -> bool:
    words = call.command.words
    index = next((i for i, word in enumerate(words) if word.text in _HELP), 0)
    if index == 0 or not _is_own(call, words[index].text):
        return False
    before = words[1:index]
    if _may_take_it(before, call):
        return False
    operands = [w for w in call.arguments.operands if any(w is b for b in before)]
    if words[0].text in _names("passes_on") and rule.rule in {"deploys", "run-script"}:
        return index == 1
    return not operands or _listens_after_operands(call, rule, before)


def _is_own(call: Call, option: str) -> bool:
    """Read as an option of this program, and without a value."""
    arguments = call.arguments
    return option in arguments.unknown or any(
        given.name == option and given.value is None for given in arguments.given
    )


def _may_take_it(before: Sequence[Word], call: Call) -> bool:
    """The word before is an option that is not known: the next word may be its value."""
    last = before[-1].text if before else ""
    if not last.startswith("-") or "=" in last:
        return False
    return not any(given.name == last and given.value is None for given in call.arguments.given)


def _listens_after_operands(call: Call, rule: CommandRule, before: Sequence[Word]) -> bool:
    """`docker rm x --help` prints help; a program without subcommands may not listen any more."""
    path = call.arguments.path.split()
    if rule.stops or rule.wraps or path[0] in _names("passes_on"):
        return False
    if rule.operands == "task":
        return path[0] in _names("takes_help")
    first = call.command.words[0].text
    if any(w.text in _OWN_WORDS and f"{first} {w.text}" not in _names("things") for w in before):
        return False
    return len(path) > 1 or call.arguments.subcommand != ""


def _version_option(call: Call, rule: CommandRule) -> bool:
    """The last word, after nothing but subcommands: elsewhere it may ask for a version to use."""
    words = call.command.words
    if words[-1].text not in _VERSION or _is_fed(call, rule):
        return False
    is_named = len(words) == len(call.arguments.path.split()) + 1
    return is_named and (words[-1].text != "-V" or (len(words) == 2 and not rule.stops))


def _help_command(call: Call, rule: CommandRule) -> bool:
    """`docker help rm`."""
    words = call.command.words
    if words[1].text != "help" or rule.operands == "task" or rule.wraps:
        return False
    program = call.judge.knowledge.program(words[0].text)
    has_subcommands = program is not None and len(program.children) > 1
    return has_subcommands and all(_PLAIN.fullmatch(word.text) for word in words[2:])


def _short_option(call: Call, rule: CommandRule) -> bool:
    words = call.command.words
    if words[-1].text not in _ALONE or _is_fed(call, rule):
        return False
    path = call.arguments.path.split()
    if len(words) != len(path) + 1:
        return False
    if rule.risk is not Risk.HIGH and not rule.stops:
        return len(words) == 2
    return words[-1].text == "-h" and path[0] not in _names("h_is_no_help")


def _is_fed(call: Call, rule: CommandRule) -> bool:
    """Interpreters read programs from a pipe."""
    return rule.stops and bool(call.command.upstream)


def asks_in_words(words: Iterable[Word]) -> bool:
    """`tool help rm`, `tool rm --help`: what a program that no table knows is asked for."""
    texts = [word.text for word in words]
    plain, last = texts[:-1], texts[-1] if texts else ""
    is_help = last in {"--help", "-h"} and all(_PLAIN.fullmatch(text) for text in plain)
    return is_help or (texts[:1] == ["help"] and all(_PLAIN.fullmatch(t) for t in texts))


def only_looks(call: Call) -> bool:
    """
    `npm owner ls`, `fly ips list`: the first verb among its words is one of looking.

    Where the words also name secrets, only a list of their names is a look.
    """
    is_secret = is_shown = False
    own = own_words(call)
    for index, word in enumerate(own[:_VERBS_LOOKED_AT]):
        if word == "version" and index < len(own) - 1:
            continue  # `kaggle datasets version x` makes one
        if not _PLAIN.fullmatch(word):
            return is_shown
        if f"{call.command.words[0].text} {word}" in _names("things"):
            continue
        parts = [re.split(r"[-_]", part) for part in word.split(":")]
        is_secret = is_secret or any(not _names("secrets").isdisjoint(part) for part in parts)
        for part in parts:
            verb = _verb(part)
            if verb in _names("changes") or verb in _names("verbs"):
                return False
            if verb in _names("looks"):
                shows_names = verb in _names("lists") and _names("secrets").isdisjoint(part)
                return not is_secret or shows_names
            is_shown = is_shown or (verb in _names("shown") and not is_secret)
    return is_shown


def looks_at_once(call: Call) -> bool:
    """`cabal list`, `mlflow runs list`: the verb comes first or after things."""
    first, second, *_ = (*own_words(call), "", "")
    shows = _names("looks") | _names("shown")
    is_thing = first.endswith("s") and not first.endswith("ss")
    begins = re.split(r"[-_:]", first)[0] in shows or (is_thing and second in shows)
    return begins and only_looks(call)


def is_subcommand(word: str, call: Call) -> bool:
    """A word that names something to do, where the program does not take names of things."""
    if not _PLAIN.fullmatch(word) or takes_names(call):
        return False
    parts = re.split(r"[-_:]", word)
    return _names("looks").isdisjoint(parts) and word not in _names("shown")


def takes_names(call: Call) -> bool:
    """`nx test deploy`: its first word may be the name of a thing."""
    return call.arguments.path in _names("takes_names")


def _verb(part: Sequence[str]) -> str:
    return part[1] if len(part) > 1 and part[0] in _names("by_many") else part[0]


def own_words(call: Call) -> list[str]:
    """Subcommands and operands as they were written, without options and their values."""
    values = [given.value for given in call.arguments.given if given.value is not None]
    words = [w for w in call.command.words[1:] if not any(w is value for value in values)]
    return [word.text for word in words if not word.text.startswith("-")]


@cache
def _names(key: str) -> frozenset[str]:
    return frozenset(load_table("tasks")[key])
