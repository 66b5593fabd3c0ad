"""What the options of a call do, by its table: each alone, and what its value is used for."""

import re

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.blocked import SHELLS
from perpetualcc.permissions.commands.arguments import Given
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.commands.given_settings import foreign_host
from perpetualcc.permissions.commands.knowledge import CommandRule, OptionRule
from perpetualcc.permissions.commands.programs.interpreters import inline_code
from perpetualcc.permissions.commands.roles import judge_role
from perpetualcc.permissions.commands.stays import STAYS_HERE
from perpetualcc.permissions.commands.tasks import judge_task
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.shell.directories import join
from perpetualcc.permissions.shell.script import Word
from perpetualcc.permissions.shell.words import alternatives

_UNDONE_BY_A_DRY_RUN = ("Deletes", "Rewrites", "Publishes", "Overwrites", "Throws away", "Moves")
"""How the reasons of options begin that a dry run makes harmless; options that run code stay."""
_TASKS = frozenset({"task", "joined-task"})
_DELETES_FILES = "Deletes files"
_ELSEWHERE = frozenset({"Packages come from another place", "Installs code from a repository"})
_HOLDS_CHANNELS = re.compile(r"conda|huggingface", re.IGNORECASE)
"""A registry where everybody may have a place of their own, named behind it."""
_PLAIN_HTTP = re.compile(r"http://(?!localhost\b|127\.|\[::1\])", re.IGNORECASE)
_PLAIN_SETTING = re.compile(
    r"(?:user\.(?:name|email)|(?:commit|tag)\.gpgsign|color\.[\w.]+|advice\.\w+|init\.defaultbranch"
    r"|core\.(?:quotepath|autocrlf|safecrlf|abbrev|filemode|ignorecase|longpaths|precomposeunicode)"
    r"|diff\.(?:noprefix|renames|renamelimit|algorithm|context|mnemonicprefix)|log\.\w+|status\.\w+"
    r"|merge\.(?:conflictstyle|renamelimit)|pull\.(?:rebase|ff)|push\.default|rebase\.autostash"
    r"|http\.(?:lowspeedlimit|lowspeedtime|postbuffer|version)|protocol\.version|fetch\.prune"
    r"|i18n\.\w+|column\.ui|grep\.\w+|gc\.auto)=",
    re.IGNORECASE,
)
"""Settings of git that say how it prints, counts or signs, and that never name a program."""


def judge_options(call: Call, command: CommandRule, *, is_dry: bool) -> Findings:
    """Also moves the call to where an option such as `-C` says that it runs."""
    findings: Findings = []
    for given in call.arguments.given:
        rule = given.rule
        if is_dry and (rule.explanation.startswith(_UNDONE_BY_A_DRY_RUN) or rule.role in _TASKS):
            continue
        if rule.explanation == _DELETES_FILES and call.arguments.has("--cached"):
            continue  # of git: they leave the repository, and stay where they are
        if given.name == "-c" and given.value and _is_plain_setting(given.value, call):
            continue
        if rule.explanation == "SQL" and command.rule == "sql-file":
            continue  # its handler reads the statements
        if rule.explanation in _ELSEWHERE and given.value:
            findings += _source(given.name, given.value.text, rule, call)
            continue
        if rule.risk in {Risk.MEDIUM, Risk.HIGH}:
            kind = f"{call.arguments.path} {given.name}"
            why = rule.explanation or "This option does more than the command alone"
            findings.append(
                call.finding(
                    rule.risk, "option", f"{given.name}: {why}", EffectKind.EXECUTE, kind=kind
                )
            )
        if given.value is not None and rule.explanation == "inline code":
            findings += inline_code(given.value.text, call)
        if given.value is not None and rule.role not in {"value", "optional", "flag"}:
            findings += _option_value(given, given.value, call)
    return findings


def _source(name: str, address: str, rule: OptionRule, call: Call) -> Findings:
    """`--registry=https://registry.npmjs.org` says what would be asked without it."""
    is_known = foreign_host(address) is None and not _HOLDS_CHANNELS.search(address)
    if is_known and address.lower().startswith("https://"):
        return []
    kind, why = f"{call.arguments.path} {name}", f"{name}: {rule.explanation}"
    found = [call.finding(rule.risk or Risk.MEDIUM, "option", why, EffectKind.EXECUTE, kind=kind)]
    if _PLAIN_HTTP.match(address):
        why = f"{name}: Packages come from a place that cannot prove what it is"
        found.append(call.finding(Risk.HIGH, "option", why, EffectKind.EXECUTE))
    return found


def _option_value(given: Given, value: Word, call: Call) -> Findings:
    role = given.rule.role
    if value.text == "-" and role in {"read", "write", "output"}:
        return []  # a stream, not a file
    if role == "dir":
        call.cwds = tuple(
            join(c, value.text, home=call.judge.territory.home) if value.is_constant else None
            for c in call.cwds
        )
        return []
    if role == "run":
        return _run_option(given, value, call)
    if role == "upload":
        path = value.text.rpartition("@")[2].split(";")[0].removeprefix("<")
        return call.reads([Word(path)]) if value.text[:1] == "@" or "=@" in value.text else []
    if role in _TASKS:
        return [judge_task(name, call) for name in value.text.split(",") if name]
    if role == "names":
        globs = [Word(glob) for glob in alternatives(value.text) if not glob.startswith("!")]
        return [found for found in call.reads(globs) if found.risk is Risk.HIGH]
    return judge_role(role, [value], call)


def _run_option(given: Given, value: Word, call: Call) -> Findings:
    """A pager or editor that is a shell runs whatever it is shown."""
    if value.text.startswith("//"):  # a label of Bazel
        return []
    program = value.text.split(" ")[0].rpartition("/")[2]
    findings = call.judge.shell(value.text, call)
    if given.rule.risk is not None and program in SHELLS:
        why = f"{given.name} names a shell as the program to run"
        findings.append(call.finding(Risk.HIGH, "given-shell", why, EffectKind.EXECUTE))
    if given.rule.risk is not None and any(f.rule == "script-outside" for f in findings):
        why = f"{given.name} makes it run a program that is not the project's"
        findings.append(call.finding(Risk.HIGH, "given-program", why, EffectKind.EXECUTE))
    return findings


def dry_options(call: Call) -> list[Given]:
    """The options that make it harmless, of which nothing else is said: the last one counts."""
    given = call.arguments.given
    if not given:
        return []
    live = {g.name for g in given if not _is_dry(g)}
    return [g for g in given if _is_dry(g) and g.name not in live]


def _is_dry(given: Given) -> bool:
    """`--dry-run`, and not `--dry-run=false`."""
    is_off = given.value is not None and given.value.text in {"false", "none"}
    return given.rule.risk is Risk.LOW and given.rule.explanation != STAYS_HERE and not is_off


def _is_plain_setting(value: Word, call: Call) -> bool:
    is_git = call.command.words[0].text.rpartition("/")[2] == "git"
    return is_git and value.is_constant and _PLAIN_SETTING.match(value.text) is not None
