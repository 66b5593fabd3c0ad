"""
Options that by their names write, and of which a table says no more than that, or nothing.

Only what would be guarded or outside the project counts: a name is not much to go by.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.commands.foreign_code import OUTPUT_OPTION
from perpetualcc.permissions.commands.knowledge import CommandRule
from perpetualcc.permissions.commands.named_files import LISTS_NAMES
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.paths import MAY_LEAVE
from perpetualcc.permissions.shell.script import Word

_ADDRESS = re.compile(r"(?!file:)[a-z][a-z\d+.-]*://", re.IGNORECASE)
"""Of no file of this machine: `https://…`, `git+ssh://…`."""
_NAMES_A_FILE = re.compile(r"-o$|--?(?:out|report|save|dest(?!roy)|export|dump|record|tee|log)")
"""Of the options that by their names write those after which the place comes; not `--write`."""


OWN_PLACE = re.compile(r"(?:[^.]\S*/|\./)?\.(?:git/[a-z]|claude/)")
"""What git and an agent run, or obey, and no everyday build or test is told."""
_NAMED_PIECES = re.compile(r"[=:,;]")
_LEFT_OUT = re.compile(
    r"ignore|exclu|skip|omit|git|hook|source|config|edit|msg|^--?(?:no|file$)|^-[cvIiW]$",
    re.IGNORECASE,
)
"""Options with these in their names are no outputs, or are looked at elsewhere."""


def judge_named_outputs(call: Call, rule: CommandRule) -> Findings:
    """What is found of all kinds of options."""
    told = [*call.arguments.unknown, *_behind_dashes(call, rule)]
    options = [option for option in told if OUTPUT_OPTION.match(option)]
    found = _far(options, call) + _guarded(options, call, rule) if options else []
    return found + _kept(call) + _own_places(call, rule)


def _own_places(call: Call, rule: CommandRule) -> Findings:
    """`mocha -O output=.git/config`, `rustc --emit=link=.git/hooks/x`: whatever the option is."""
    words = call.command.words
    last, is_far = words[-1].text, any("/" in word.text for word in words)
    if EffectKind.EXECUTE not in rule.effects or not (is_far or last == ".git"):
        return []
    named = []
    if len(words) > 2 and (OWN_PLACE.match(last) or (last == ".git" and words[-2].text[:1] != "-")):
        named = [last]
    for before, word in pairwise(words):
        text = word.text
        if ".git/" not in text and ".claude/" not in text:
            continue
        option = before.text if text[:1] != "-" else text
        name = _NAMED_PIECES.split(option)[0]
        if option[:1] == "-" and not _LEFT_OUT.search(name):
            pieces = _NAMED_PIECES.split(text)[name == "-f" :]  # `-f json:PATH`, not `-f PATH`
            named += [piece for piece in pieces if OWN_PLACE.match(piece)]
    return [found for found in call.writes(map(Word, named)) if found.is_guarded]


def _far(options: Sequence[str], call: Call) -> Findings:
    """`--report=../x`: any of these words that leads out of the project may be written."""
    values = [value for o in options if (value := _joined_value(o))]
    if len(values) < len(options):  # `--output file`: which operand it is cannot be said
        values += [word.text for word in call.arguments.operands]
    named = [piece for value in values for piece in _pieces(value)]
    paths = [Word(text) for text in dict.fromkeys(named) if MAY_LEAVE.match(text)]
    return [f for f in call.writes(paths) if f.risk is not Risk.LOW]


def _guarded(options: Sequence[str], call: Call, rule: CommandRule) -> Findings:
    """`--report .git/hooks/x`: of words in the project only a guarded place counts."""
    if call.arguments.path in LISTS_NAMES or rule.operands == "pattern-read":
        return []  # `-o` prints what matches
    values = [Word(option.partition("=")[2]) for option in options]
    named = [option for option in options if _NAMES_A_FILE.match(option)]
    values += [w for o, w in pairwise(call.command.words) if o.text in named]
    values = [w for w in values if w.text and w.text[0] != "-" and not MAY_LEAVE.match(w.text)]
    return [finding for finding in call.writes(values) if finding.is_guarded]


def _kept(call: Call) -> Findings:
    """The same where a table knows the option, and says only that it takes a value."""
    given = [(g.name, g.value) for g in call.arguments.given if g.rule.role == "value"]
    values = [(n, v) for n, v in given if v is not None and OUTPUT_OPTION.match(n)]
    if not values:
        return []
    pieces = [piece for _, v in values for piece in _pieces(v.text)]
    far = [Word(piece) for piece in dict.fromkeys(pieces) if MAY_LEAVE.match(piece)]
    near = [v for n, v in values if not MAY_LEAVE.match(v.text) and _NAMES_A_FILE.match(n)]
    own = f"{call.judge.territory.home}/.cache/"
    return [
        *(f for f in call.writes(near) if f.is_guarded),
        *(
            f
            for f in call.writes(far)
            if f.risk is Risk.HIGH and not f.effects[0].target.startswith(own)
        ),
    ]


def _pieces(value: str) -> tuple[str, ...]:
    """`../x`, `cache_dir=../x`, `html:../x`: where a place may stand in a value."""
    if _ADDRESS.match(value):
        return (value,)
    return value, value.rpartition("=")[2], value.rpartition(":")[2]


def _behind_dashes(call: Call, rule: CommandRule) -> list[str]:
    """`npm test -- --outputFile=../x`: options for what a build or a test runs."""
    at = call.arguments.after_dashes
    if at is None or EffectKind.EXECUTE not in rule.effects:
        return []
    return [word.text for word in call.arguments.operands[at:] if word.text[:1] == "-"]


def _joined_value(option: str) -> str:
    """`--output=x`, and `-o../x`."""
    name, _, value = option.partition("=")
    is_short = name[:2] in {"-o", "-O"} and MAY_LEAVE.match(name[2:])
    return option[2:] if is_short else value
