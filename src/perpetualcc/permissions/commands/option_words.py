"""
What the name of an option says that no table knows.

Tables never list every option of every program, so an option that they do not know cannot make a
known program doubtful: a third of everyday calls have one. But people name options after what
they do, and `--exec`, `--purge` and `--show-secrets` mean the same nearly everywhere.
"""

import posixpath
import re
from collections.abc import Iterable
from functools import cache

from perpetualcc.domain.texts import apart
from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.commands.knowledge import CommandRule
from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.shell.script import UNKNOWN, Word

_TOKEN = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_NAME = re.compile(r"--?[A-Za-z][\w-]+")
_OFF = frozenset({"false", "no", "off", "0"})
_TEXT_ROLES = frozenset({"text", "pattern-read"})
"""Programs that only print or search: no option of theirs deletes."""
_OWN_MEANING = frozenset({"--no-verify"})
"""To Git it skips a hook, to Cargo it builds less; their tables say so."""
_OFF = frozenset({"false", "no", "off", "0"})
"""`--wipe=false`: what is switched off by its own value does nothing of what it is called."""
_OWN_READING = frozenset({"find", "fd", "eval", "trap", "shell-variables"})
"""Handlers of commands that read their options in another way."""


def judge_option_words(call: Call, rule: CommandRule | None) -> Findings:
    """A finding for each unknown option of `call` whose words say that it does more than look."""
    if rule is not None and rule.handler in _OWN_READING:
        return []
    passed_on = _passed_on(call, rule)
    options = (*call.arguments.unknown, *passed_on)
    is_harmless = bool(options) and _only_says(call)
    findings: Findings = []
    for option in options:
        name, equals, value = option.partition("=")
        if _NAME.fullmatch(name) is None:
            continue
        if value.lower() in _OFF:
            continue
        words = [word.lower() for word in _TOKEN.findall(name)]
        tokens = (*words, "".join(words))
        found = _judge(name, tokens, rule, call)
        if found is not None and found.rule == "option-destroys" and value.lower() in _OFF:
            continue
        if option in passed_on and (found is None or found.risk is not Risk.HIGH):
            continue
        if found is not None and not (is_harmless and found.rule == "option-destroys"):
            findings.append(found)
        if not _words("runs").isdisjoint(tokens) and found is not None:
            given = Word(value) if equals else _next_word(option, call)
            findings += _run(given, call)
    return findings


def destroying_options(texts: Iterable[str], call: Call) -> Findings:
    """The same of options that another program is given, where a person should see it."""
    findings: Findings = []
    for name in (text.partition("=")[0] for text in texts):
        if _NAME.fullmatch(name) is not None:
            words = [word.lower() for word in _TOKEN.findall(name)]
            found = _judge(name, (*words, "".join(words)), None, call)
            findings += [found] if found is not None and found.risk is Risk.HIGH else []
    return findings


def _passed_on(call: Call, rule: CommandRule | None) -> list[str]:
    """What the project's own code is given: `node seed.js --wipe`, `cargo run -- --wipe`."""
    if rule is not None and (rule.wraps or EffectKind.EXECUTE not in rule.effects):
        return []
    operands = call.arguments.operands
    options = [word.text for word in operands if word.text.startswith("--")]
    if not options:
        return []
    program = posixpath.basename(operands[0].text)
    is_known = call.judge.knowledge.program(program) is not None
    return [] if is_known else options  # its own table knows its options


def _only_says(call: Call) -> bool:
    """A dry run, or a subcommand that says what would be: `terraform plan -destroy`."""
    texts = (*call.arguments.unknown, *(word.text for word in call.arguments.operands))
    names = {text.partition("=")[0] for text in texts if text.startswith("-")}
    if any(given.rule.risk is Risk.LOW for given in call.arguments.given):
        return True
    return not _words("dry").isdisjoint(names) or not _words("plans").isdisjoint(
        call.arguments.path.split()[1:]
    )


def _judge(
    name: str, tokens: tuple[str, ...], rule: CommandRule | None, call: Call
) -> Finding | None:
    is_text = rule is not None and rule.operands in _TEXT_ROLES and " " not in call.arguments.path
    if not _words("warns").isdisjoint(tokens):
        return _finding(call, Risk.HIGH, name, "warns of it")
    if _shows_secrets(tokens):
        return _finding(call, Risk.HIGH, name, "says that it shows secrets", EffectKind.READ)
    if _lifts(tokens) and name not in _OWN_MEANING:
        return _finding(call, Risk.MEDIUM, name, "takes down a guard", EffectKind.EXECUTE)
    denied = _words("negations").intersection(tokens)
    if denied and (denied - _words("times") or _words("runs").isdisjoint(tokens)):
        return None
    if _destroys(tokens):
        risk = Risk.MEDIUM if is_text else Risk.HIGH
        why = "says that it deletes something, or makes it public"
        return _finding(call, risk, name, why, EffectKind.DELETE, rule="option-destroys")
    if not _words("runs").isdisjoint(tokens) and not is_text:
        why = "says that it runs what it is given"
        return _finding(call, Risk.MEDIUM, name, why, EffectKind.EXECUTE)
    if _is_builder(rule) and not _words("of_builders").isdisjoint(tokens):
        if not ({"force", "overwrite"}.isdisjoint(tokens) or not _makes_files(call)):
            why = "says that it writes over what is there"
            return _finding(call, Risk.MEDIUM, name, why, EffectKind.WRITE)
        return None
    if not (_words("leaves") | _words("loosens")).isdisjoint(tokens) and not is_text:
        why = "says that it sends something away, or overrides a guard"
        return _finding(call, Risk.MEDIUM, name, why, EffectKind.NETWORK)
    return None


def _lifts(tokens: tuple[str, ...]) -> bool:
    """`--no-sandbox`; and not `--verify-no-changes`, which is a guard itself."""
    lifting = next((n for n, token in enumerate(tokens) if token in _words("lifts")), len(tokens))
    return not _words("guards").isdisjoint(tokens[lifting:])


def _is_builder(rule: CommandRule | None) -> bool:
    """Builds and checks run and change the project's own code in any case."""
    return rule is not None and rule.risk is Risk.LOW and EffectKind.EXECUTE in rule.effects


def _makes_files(call: Call) -> bool:
    """`django-admin startproject x`, `mix phx.new`: what begins a project, or a part of one."""
    said = [*call.arguments.path.split(), *(word.text for word in call.arguments.operands[:2])]
    tokens = {token for text in said[:4] for token in re.split(r"[-:.]", text.lower())}
    return not _words("makes").isdisjoint(tokens)


def _destroys(tokens: tuple[str, ...]) -> bool:
    if not _words("destroys").isdisjoint(tokens):
        return True
    if "drop" not in tokens:
        return False
    return set(tokens) == {"drop"} or not _words("drops").isdisjoint(tokens)


def _shows_secrets(tokens: tuple[str, ...]) -> bool:
    return not (_words("shows").isdisjoint(tokens) or _words("secrets").isdisjoint(tokens))


def _next_word(option: str, call: Call) -> Word | None:
    words = call.command.words
    index = next((i for i, word in enumerate(words) if word.text == option), len(words))
    following = words[index + 1] if index + 1 < len(words) else None
    return following if following is not None and not following.text.startswith("-") else None


def _run(value: Word | None, call: Call) -> Findings:
    """What is HIGH in the command that an option is given."""
    if value is None or not value.text.strip() or UNKNOWN in value.text:
        return []
    return [f for f in call.judge.shell(value.text, call) if f.risk is Risk.HIGH]


def _finding(
    call: Call, risk: Risk, name: str, why: str, *effects: EffectKind, rule: str = "option-words"
) -> Finding:
    kind = apart(f"{call.arguments.path} {name}")
    return call.finding(risk, rule, f"{name}: its name {why}", *effects, kind=kind)


@cache
def _words(key: str) -> frozenset[str]:
    return frozenset(load_table("option_words")[key])
