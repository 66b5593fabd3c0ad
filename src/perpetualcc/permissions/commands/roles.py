"""What is done with a word, by the role that a table gives it: read, written, deleted, run."""

import posixpath
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.commands.foreign_code import code_path
from perpetualcc.permissions.commands.knowledge import CommandRule
from perpetualcc.permissions.commands.piped_names import substituted_words
from perpetualcc.permissions.commands.tasks import judge_task, sending_tasks, takes_many_tasks
from perpetualcc.permissions.commands.whole_project import (
    archived,
    compared,
    searched_settings,
    searched_words,
)
from perpetualcc.permissions.effects import Effect, EffectKind, Finding
from perpetualcc.permissions.paths import Location, Zone
from perpetualcc.permissions.shell.script import UNKNOWN, Word

_WRITES_NOTHING = "Changes no file"
"""The reason of options such as `gzip -c`, with which files are read and left alone."""
_NEXT_TASK = ":::"


def judge_operands(call: Call, rule: CommandRule) -> Findings:
    """What is done with all that is no option, nor the value of one."""
    words = call.arguments.operands
    if rule.wraps:  # what follows is the other command, judged on its own
        words = words[: rule.skip]
    if rule.handler == "editor":  # `+q` is a command of the editor
        words = [word for word in words if word.text[:1] != "+"]
    if rule.operands == "write" and any(
        g.rule.explanation == _WRITES_NOTHING for g in call.arguments.given
    ):
        return call.reads(words)
    if call.arguments.path == "git grep":
        return call.reads(searched_words(call)) + searched_settings(call)
    if rule.operands == "pattern-read":
        whole = call.reads(searched_words(call)) + searched_settings(call)
        is_named = call.arguments.has("-e", "-f", "--regexp", "--file")
        return whole + call.reads(words if is_named else words[1:])
    found = judge_role(rule.operands, [*words, *substituted_words(call)], call)
    if call.arguments.path in _COMPARES:
        found += compared(call)
    return found + archived(call)


_COMPARES = frozenset({"diff", "colordiff", "git diff"})


def judge_role(role: str, words: Sequence[Word], call: Call) -> Findings:
    match role:
        case "read":
            return call.reads(words)
        case "list":
            return call.reads(words, lists=True)
        case "copy":
            return call.reads(words[:-1]) + _into(words, call.writes(words[-1:]))
        case "script":
            return call.judge.script_file(words[0], call) if words else []
        case "task":
            before = words[: call.arguments.after_dashes]
            tasks = before if takes_many_tasks(call) else _first_of_each(words)
            sends = () if takes_many_tasks(call) else sending_tasks(words[1:], call)
            return [judge_task(w.text, call) for w in (*tasks, *sends) if "=" not in w.text]
        case "write":
            return call.writes(words)
        case "output":
            return [_produced(word, call) for word in words]
        case "delete":
            return [_deleted(word, call) for word in words]
        case "code":
            return [finding for word in words for finding in code_path(word.text, call)]
    return []


def _produced(word: Word, call: Call) -> Finding:
    location = call.judge.territory.locate(word.text, call.cwds)
    start = call.judge.territory.locate(word.text.partition(UNKNOWN)[0] or "/", call.cwds)
    written = call.judge.territory.write(word.text, call.cwds, call.part)
    if location.zone is Zone.UNKNOWN and start.zone is Zone.OUTSIDE:
        return written
    return _lowered(location, written)


def _deleted(word: Word, call: Call) -> Finding:
    location = call.judge.territory.locate(word.text, call.cwds)
    return Finding(
        risk=Risk.HIGH,
        rule="delete",
        part=call.part,
        kind=call.arguments.path,
        explanation=f"Deletes {location.path.replace(UNKNOWN, '…')}",
        effects=(Effect(kind=EffectKind.DELETE, target=location.path),),
    )


def _first_of_each(words: Sequence[Word]) -> list[Word]:
    """`mise run lint ::: deploy` runs two tasks, each with words of its own."""
    return [
        word for before, word in pairwise((Word(_NEXT_TASK), *words)) if before.text == _NEXT_TASK
    ]


def _into(words: Sequence[Word], written: Findings) -> Findings:
    """`cp a/x.csv data`: if that is a folder, `data/x.csv` is what is written."""
    names = [posixpath.basename(word.text.rstrip("/")) for word in words[:-1]]
    return [
        replace(finding, effects=tuple(_in_folder(effect, names) for effect in finding.effects))
        for finding in written
    ]


def _in_folder(effect: Effect, names: Sequence[str]) -> Effect:
    inner = [f"{place}/{name}" for place in (effect.target, *effect.also) for name in names if name]
    return replace(effect, also=(*effect.also, *inner))


def _lowered(location: Location, finding: Finding) -> Finding:
    """A build product may be anywhere in the project that is not guarded: `bin/$GOOS` too."""
    is_ordinary = location.zone in {Zone.PROJECT, Zone.SCRATCH} or (
        location.zone is Zone.UNKNOWN
        and location.path.startswith("/")
        and ".." not in location.path
    )
    if is_ordinary and location.place is None:
        return replace(finding, risk=Risk.LOW)
    return finding
