"""
What a program is told by its environment: `PIP_PREFIX=x` is `--prefix=x` to pip, and to Maven the
words in `MAVEN_ARGS` are its own.
"""

import shlex
from collections.abc import Collection, Iterable
from dataclasses import replace

from perpetualcc.permissions.commands.arguments import read_arguments
from perpetualcc.permissions.commands.call import Call
from perpetualcc.permissions.shell.script import Assignment, Word

_ON = frozenset({"1", "on", "true", "yes"})


def with_told_options(call: Call) -> Call | None:
    """The same call with all of it written out; None when its environment tells nothing."""
    knowledge = call.judge.knowledge
    name = call.arguments.path.partition(" ")[0]
    prefixes, lines = knowledge.option_variables.get(name), knowledge.word_variables.get(name)
    program = knowledge.program(name)
    if program is None or not (prefixes or lines):
        return None
    environment = call.judge.environment(call.command.assignments)
    told = (*_options(environment, tuple(prefixes or ())), *_words(environment, lines or ()))
    if not told:
        return None
    words = call.command.words
    at = len(words) - len(call.arguments.rest)
    command = replace(call.command, words=(*words[:at], *told, *words[at:]), assignments=())
    return replace(call, command=command, arguments=read_arguments(command.words, program))


def _options(environment: Iterable[Assignment], prefixes: tuple[str, ...]) -> Iterable[Word]:
    exact = dict(prefix.split("=", 1) for prefix in prefixes if "=" in prefix)
    for one in environment:
        prefix = next((prefix for prefix in prefixes if one.name.startswith(prefix)), None)
        option = exact.get(one.name)
        if option is None:
            if prefix is None or "cache" in one.name.lower():  # judged as a variable, as a place
                continue
            option = f"--{one.name.removeprefix(prefix).lower().replace('_', '-')}"
        is_flag = one.value.text.lower() in _ON
        yield Word(option if is_flag else f"{option}={one.value.text}")


def _words(environment: Iterable[Assignment], names: Collection[str]) -> Iterable[Word]:
    for one in environment:
        if one.name in names:
            quoted = one.value.text.count("'") % 2 or one.value.text.count('"') % 2
            words = one.value.text.split() if quoted else shlex.split(one.value.text)
            yield from map(Word, words)
