"""
What one call of a known program does: its options, its operands, and what its table says.

Each rule adds findings; none takes any away.
"""

from collections.abc import Sequence

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.arguments import Arguments, Given
from perpetualcc.permissions.commands.asking import (
    asks_for_help,
    asks_in_words,
    is_subcommand,
    looks_at_once,
    only_looks,
    takes_names,
)
from perpetualcc.permissions.commands.caches import judge_caches
from perpetualcc.permissions.commands.call import HANDLERS, Call, Findings
from perpetualcc.permissions.commands.emptying import emptied
from perpetualcc.permissions.commands.foreign_code import judge_settings
from perpetualcc.permissions.commands.given_options import dry_options, judge_options
from perpetualcc.permissions.commands.given_words import (
    given_addresses,
    given_shells,
    printed_secrets,
    secret_settings,
)
from perpetualcc.permissions.commands.knowledge import CommandRule
from perpetualcc.permissions.commands.named_files import with_named_files
from perpetualcc.permissions.commands.named_outputs import judge_named_outputs
from perpetualcc.permissions.commands.option_words import judge_option_words
from perpetualcc.permissions.commands.passed_on import judge_passed_on
from perpetualcc.permissions.commands.production import tests_production
from perpetualcc.permissions.commands.programs.builders import run_by_reading, written_tasks
from perpetualcc.permissions.commands.repositories import in_bare_repository
from perpetualcc.permissions.commands.roles import judge_operands
from perpetualcc.permissions.commands.sources import judge_sources
from perpetualcc.permissions.commands.stays import stays_here
from perpetualcc.permissions.commands.tasks import harmful_verb
from perpetualcc.permissions.commands.told_options import with_told_options
from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.shell.script import UNKNOWN

_PATH_ROLES = frozenset({"write", "output", "copy", "delete"})
_PATH_HANDLERS = frozenset({"archive", "zip", "unzip", "copy", "move", "link", "dd", "media"})


def judge_call(call: Call) -> Findings:
    """Everything that this call does, one finding each."""
    told = with_told_options(call)
    worse = [] if told is None else [f for f in _judged(told) if f.risk is not Risk.LOW]
    return _judged(call) + worse


def _judged(call: Call) -> Findings:
    arguments = call.arguments
    if (rule := arguments.rule) is None:
        return _unknown_use(call)
    if asks_for_help(call, rule):
        return [call.finding(Risk.LOW, "help", "Only prints help or a version")]
    dry = dry_options(call)
    options = judge_options(call, rule, is_dry=bool(dry))  # first: `-C` says where it runs
    findings = [_base(call, rule, dry), *options, *secret_settings(call)]
    if (arguments.subcommand or rule.looks) and not rule.wraps:
        findings += _unknown_subcommand(call, rule)
    if dry and rule.operands == "task":
        return findings + (run_by_reading(call) if rule.handler == "make" else [])
    findings += judge_operands(call, rule)
    if rule.operands == "text":
        findings += printed_secrets(call)
    findings += _unknown_words(call, rule)
    if rule.has_free_operands:
        findings = with_named_files(findings, call, rule)
    findings += judge_settings(call, rule) + emptied(call) + judge_caches(call, rule)
    findings += tests_production(call, rule) + judge_sources(call)
    findings += written_tasks(call) if call.judge.files else []
    findings += in_bare_repository(call, rule) + given_shells(call, rule)
    findings += given_addresses(call, rule)
    if rule.operands != "text" or " " in arguments.path:  # `echo --purge` prints it
        findings += judge_named_outputs(call, rule) + judge_option_words(call, rule)
    if rule.handler:
        findings += HANDLERS[rule.handler](call)
    findings += judge_passed_on(call, rule)
    if rule.wraps and not dry:
        findings += _wrapped(call, rule)
    return findings


def _base(call: Call, rule: CommandRule, dry: Sequence[Given]) -> Finding:
    risk, why = rule.risk, rule.explanation
    for given in dry:
        risk, why = Risk.LOW, given.rule.explanation or why
    if risk is Risk.HIGH and stays_here(call):
        risk, why = Risk.MEDIUM, "Changes only what is for trials, or on this machine."
    if risk is Risk.LOW and rule.risk is Risk.HIGH and call.arguments.unknown:
        risk = Risk.MEDIUM  # some of its options are not known
    if risk is Risk.HIGH and rule.looks and only_looks(call):
        risk, why = Risk.MEDIUM, "Looks at what is there, with the person's rights."
    elif risk is Risk.MEDIUM and rule.looks and rule.risk is risk and looks_at_once(call):
        risk, why = Risk.LOW, "Looks at what is there."
    if (
        EffectKind.EXECUTE in rule.effects
        and risk is Risk.LOW
        and not rule.wraps
        and not _is_home_ground(call)
    ):
        risk, why = Risk.MEDIUM, f"{why} Here it runs outside the project"
    effects = rule.effects
    if rule.operands in _PATH_ROLES or rule.handler in _PATH_HANDLERS:  # told path by path
        effects = tuple(e for e in effects if e not in {EffectKind.WRITE, EffectKind.DELETE})
    return call.finding(risk, rule.rule, why, *effects)


def _is_home_ground(call: Call) -> bool:
    return all(cwd is not None and call.judge.territory.contains(cwd) for cwd in call.cwds)


def _unknown_use(call: Call) -> Findings:
    why = f"Nothing is known about this use of {call.arguments.path!r}"
    unknown = call.finding(Risk.MEDIUM, "unknown-subcommand", why, EffectKind.EXECUTE)
    if asks_in_words(call.command.words[1:]):
        return [unknown]
    if [word.text for word in call.command.words[1:]] in (["--version"], ["version"]):
        return [call.finding(Risk.LOW, "help", "Only prints its version")]
    harm = harmful_verb(call.arguments.operands, call)
    return [unknown, *harm, *judge_option_words(call, None)]


def _unknown_subcommand(call: Call, rule: CommandRule) -> Findings:
    """`hostnamectl set-hostname x`: the table has `hostnamectl status`, and not this."""
    if rule.risk is Risk.MEDIUM:
        words = call.arguments.operands
        return harmful_verb(words[:1] if rule.handler == "sql" else words, call)
    word = call.arguments.subcommand
    if rule.risk is not Risk.LOW or rule.handler or rule.operands not in {"data", "code"}:
        return []
    if rule.operands == "code" and takes_names(call):
        return []
    harm = harmful_verb(call.arguments.operands, call)
    if rule.operands == "code" or not is_subcommand(word, call):
        return harm
    why = f"Nothing is known about {word!r} of {call.arguments.path!r}"
    return [call.finding(Risk.MEDIUM, "unknown-subcommand", why, EffectKind.EXECUTE), *harm]


def _unknown_words(call: Call, rule: CommandRule) -> Findings:
    """A word that is known only at run time could be one of the dangerous options."""
    is_program = " " not in call.arguments.path and call.arguments.subcommand
    if is_program and rule.operands == "data" and call.arguments.operands[0].code:
        why = f"What {call.arguments.path!r} is told to do is known only when it runs"
        return [call.finding(Risk.HIGH, "computed-command", why, EffectKind.EXECUTE)]
    is_loose = any(
        w.text.startswith(UNKNOWN) and (w.splits or w.code) for w in call.arguments.operands
    )
    if is_loose and rule.operands != "delete" and _has_danger(call.arguments):
        why = "Some of its words, perhaps options, are known only when it runs"
        return [call.finding(Risk.MEDIUM, "computed-words", why)]
    return []


def _has_danger(arguments: Arguments) -> bool:
    return any(
        r.risk in {Risk.MEDIUM, Risk.HIGH} or r.role in {"write", "run", "output", "upload"}
        for r in arguments.options.values()
    )


def _wrapped(call: Call, rule: CommandRule) -> Findings:
    words = call.arguments.operands[rule.skip :]
    while words and words[0].text == "--":
        words = words[1:]
    if not words:
        return []
    if rule.wraps == "shell":
        return call.judge.shell(" ".join(word.text for word in words), call)
    found = call.judge.words(words, call)
    is_secret = rule.rule == "with-credentials" or call.arguments.path in _GIVES_SECRETS
    if is_secret and any(one.rule in _PRINTING for one in found):
        why = "Prints the secrets that the program is given"
        found.append(call.finding(Risk.HIGH, "shows-secret", why, EffectKind.READ))
    return found


_GIVES_SECRETS = frozenset({"dotenvx run", "dotenv run", "dotenv"})
_PRINTING = frozenset({"print-environment", "prints-secret"})
