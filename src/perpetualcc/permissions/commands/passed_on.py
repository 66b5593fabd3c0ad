"""
What the project's own programs are told: `npm run cli -- delete-all`, `make run ARGS='wipe'`.

A script is known by its name only, so the words it is given count as those of a program that no
table knows; one that is called like a known tool (`npm run knex -- migrate:rollback`) is that tool.
"""

import posixpath
import re
import shlex
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.asking import asks_in_words
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.commands.knowledge import CommandRule
from perpetualcc.permissions.commands.option_words import destroying_options
from perpetualcc.permissions.commands.tasks import harmful_verb, judge_migration, takes_many_tasks
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.shell.script import Word

_TOKEN = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_LINE = re.compile(
    r"(?:-[DP]|--)?(?:[\w.-]*[._-])?(args?|arguments?|cmd|command|params?|opts)=(.+)",
    re.IGNORECASE | re.DOTALL,
)
"""`ARGS='delete --all'`, `--args='delete --all'`, `-Dexec.args='delete --all'`."""
_TAKES_TEXT = re.compile(
    r"-\w|--?(?:\w+-)*(?:name|names|grep|match|pattern|filter|title|message|description|only|include"
    r"|exclude|test|tests|type|event|action|label|reason)",
    re.IGNORECASE,
)
"""Options after which a name or a text stands, and no command."""
_ACT_ALONE = frozenset({"deploys", "publish-package"})
"""Rules about tools that need not be told what to do: `gh-pages`, `semantic-release`."""
_LONGEST_LINE = 2_000
"""Characters; what programs are told on a line is shorter."""


def judge_passed_on(call: Call, rule: CommandRule) -> Findings:
    """What is in the words that a runner of tasks or programs passes on."""
    operands = call.arguments.operands
    if not operands:
        return []
    name = operands[0].text
    findings = _behind_dashes(call)
    count = _runners().get(call.arguments.path)
    if count is not None:
        findings += judge_told(name if count else "", operands[count:], call)
    elif rule.operands == "task" and takes_many_tasks(call):
        at = call.arguments.after_dashes or len(operands)
        findings += judge_told(name, operands[at:], call)
    if rule.operands == "task":
        for setting, text in _lines(call):
            findings += _judge_line(setting, text, name, call)
    return findings


def _behind_dashes(call: Call) -> Findings:
    """`cmake --build b -- SHELL=rm`: these words are for the program that it starts."""
    program = load_table("tasks")["behind_dashes"].get(call.arguments.path)
    at = call.arguments.after_dashes
    if program is None or at is None:
        return []
    words = [*map(Word, program.split()), *call.arguments.operands[at:]]
    return [found for found in call.judge.words(words, call) if found.risk is not Risk.LOW]


def _judge_line(setting: str, text: str, name: str, call: Call) -> Findings:
    """`ARGS='delete --all'` is for the program of the task `name`; `CMD='rm -rf x'` is one."""
    words = _split(text)
    findings = judge_told(name, words, call)
    if findings or _takes_names_of_things(name):
        return findings
    if setting.lower().startswith("c"):
        return [found for found in call.judge.shell(text, call) if found.risk is Risk.HIGH]
    return destroying_options((w.text for w in words if w.text.startswith("--")), call)


def judge_told(name: str, words: Sequence[Word], call: Call) -> Findings:
    """What the program or script `name` of the project is told by `words`."""
    is_tool = name[:1].isalnum() and name not in _names("named_alike")
    program = call.judge.knowledge.program(name) if is_tool else None
    if program is not None:
        acts_alone = program.rule is not None and program.rule.rule in _ACT_ALONE
        found = call.judge.words([Word(name), *words], call) if words or acts_alone else []
        return [finding for finding in found if finding.risk is not Risk.LOW]
    if not words or _takes_names_of_things(name) or asks_in_words(words):
        return []
    found = harmful_verb(_without_options(words), call, said=_heard(words, call))
    return found or judge_migration(words, call)


def _takes_names_of_things(name: str) -> bool:
    """`generate -- RemoveUser`, `test ARGS='-k delete'`."""
    tokens = [token.lower() for token in _TOKEN.findall(posixpath.basename(name))]
    return not _takes_names().isdisjoint(tokens)


def _heard(words: Sequence[Word], call: Call) -> Sequence[Word]:
    """npm takes the options before `--` for itself."""
    return words if call.command.words[0].text == "npm" else (*words, *call.command.words)


def _without_options(words: Sequence[Word]) -> list[Word]:
    return [
        word
        for before, word in pairwise((Word(""), *words))
        if word.text[:1] != "-" and not _TAKES_TEXT.fullmatch(before.text)
    ]


def _lines(call: Call) -> list[tuple[str, str]]:
    """Settings of the call that are the words of another program."""
    texts = [word.text for word in call.arguments.operands if "=" in word.text]
    texts += [option for option in call.arguments.unknown if "=" in option]
    texts += [f"{g.name}{g.value.text}" for g in call.arguments.given if g.value and g.name == "-D"]
    matches = (_LINE.fullmatch(text) for text in texts if len(text) < _LONGEST_LINE)
    return [(match[1], match[2]) for match in matches if match is not None]


def _split(text: str) -> list[Word]:
    try:
        return [Word(word) for word in shlex.split(text)]
    except ValueError:  # a quotation that is not closed
        return [Word(word) for word in text.split()]


@cache
def _runners() -> dict[str, int]:
    return dict(load_table("tasks")["passed_on"])


@cache
def _takes_names() -> frozenset[str]:
    return frozenset().union(
        *(_names(key) for key in ("checks", "builders", "only_looks", "take_names"))
    )


@cache
def _names(key: str) -> frozenset[str]:
    return frozenset(load_table("tasks")[key])
