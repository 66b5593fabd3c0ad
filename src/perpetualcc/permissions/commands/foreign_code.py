"""
What a program that runs the project's code is given from elsewhere: code, settings, addresses.

Tables never list every option of every build tool, and any of them may name code: `--config=/x`,
`-DTOOLCHAIN=/x`, `--node-options="--require /x"`, `{"globalSetup": "/x"}`, `@/x`. So every value
counts, unless the name of its option says that it is not code.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.commands.given_settings import judge_setting
from perpetualcc.permissions.commands.knowledge import CommandRule
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.paths import MAY_LEAVE, Territory, Zone
from perpetualcc.permissions.shell.directories import Directories
from perpetualcc.permissions.shell.script import Word

Setting = tuple[str, str]
"""The name of an option, empty when there is none, and what stands there."""

_PATH = re.compile(rf"(?!//)(?:{MAY_LEAVE.pattern})")
_INNER_PATH = re.compile(
    r"(?:file://|(?<=[\s\"'`=:,;@\[{|])|^@|(?<=^-[A-Za-z])|(?<=[\s=,]-[A-Za-z]))"
    r"((?:/|~/|\.\./)(?!/)[^\s\"'`=:,;)\]}|]+|\.\.(?![^\s\"'`=:,;)\]}|]))"
)
"""`=/x`, `:/x`, `,/x`, `"/x"`, `@/x`: a path behind whatever may stand before a value."""
_NO_CODE = re.compile(
    r"ignore|exclude|prefix|install|cache|te?mp(?!l)|outdir|destdir|scratch|build-?(?:path|dir)|derived"
    r"|grep|match|pattern|filter|(?:^|[-_])name|title|message|description|route|label|annotation"
    r"|expr|^--base$|base-?(?:url|path|href)",
    re.IGNORECASE,
)
_NEXT = re.compile(r"[,{\s]")
_KEY_LENGTH = 40
"""Characters of the name before a path; a longer one is no name."""
_MAY_BE_CODE = frozenset({"value", "optional", "code", "flag"})
"""What the value of an option is, as a table says, where it need not be read or written."""
_STREAMS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""`pytest -c <(echo …)`, `ninja -f /dev/stdin`."""
_SETTINGS_OPTION = re.compile(r"--?(?:config|settings?|options)\b|-c$")
_READS_SETTINGS = re.compile(
    r"--?[\w-]*(?:config|settings?|options|rc-?file|project|script|makefile)(?:-?file|-?path)?"
    r"|-[cCfpP]|--file|--init\w*",
    re.IGNORECASE,
)
"""What these options name is read, and shown where it is not what it should be."""
_SWITCH = re.compile(r"/\w+:")
"""`/p:Version=1` is an option of MSBuild, and no path."""
_HOSTS = frozenset({"--host", "--host=true", "--expose", "--lan"})
_SELECTS = frozenset({"-t", "-k", "-m", "-g", "-E"})
"""With these a test runner is told which tests to run."""
_INSTALLED = re.compile(r"/(?:usr|opt|nix/store|Library|Applications|System|snap)/")
"""Where only the machine's owner puts programs and libraries."""
OUTPUT_OPTION = re.compile(
    r"-o\b|-O\b|--?(?:out|report|log(?!ger)|save|write|dest|export|dump|trace|profile|record|coverage|cache|"
    r"dist|junit|html|xml|json|tee)[\w-]*|--[\w-]+[-_](?:report|out|output|out-?(?:file|dir))\b",
    re.IGNORECASE,
)
_LOADS = re.compile(
    r"kube-?config|plugin|require|preload|rc-?file|init-?file|script|hook|--python$", re.IGNORECASE
)
"""Options that make even a program that only looks run what they name."""


def judge_settings(call: Call, rule: CommandRule) -> Findings:
    """What a call that may run the project's code, and nothing else, is given from elsewhere."""
    if rule.risk is not Risk.LOW:
        return []
    may_run = EffectKind.EXECUTE in rule.effects or rule.wraps or rule.stops
    if not may_run or not rule.has_free_operands:
        return _loaded(call)
    findings: Findings = _served(call)
    seen: set[str] = set()
    for name, given in _settings(call, rule):
        text = f"-{given[1:]}" if rule.rule == "dotnet" and _SWITCH.match(given) else given
        if text == "-" and _SETTINGS_OPTION.match(name):
            why = f"{name} takes what another command prints"
            findings.append(call.finding(Risk.MEDIUM, "piped-code", why, EffectKind.EXECUTE))
        if _READS_SETTINGS.fullmatch(name):
            value = text.removeprefix(name) if text[:1] == "-" else text
            named = call.reads([Word(value.lstrip("=:@"))])
            findings += [found for found in named if found.risk is Risk.HIGH]
        is_selection = rule.rule == "test-project" and name in _SELECTS
        for path in () if is_selection else _paths(name, text):
            if path not in seen:
                seen.add(path)
                findings += code_path(path, call)
            if name and path.startswith(_STREAMS):
                why = f"{name} takes what another command prints"
                findings.append(call.finding(Risk.MEDIUM, "piped-code", why, EffectKind.EXECUTE))
        findings += [found for found in judge_setting(name, text, call, rule) if found is not None]
    return findings


def _served(call: Call) -> Findings:
    """`vite --host`, `npm run dev -- --host`: without a name it is every network."""
    words = [word.text for word in call.command.words]
    if _HOSTS.isdisjoint(words) or not any(
        (word in _HOSTS and (not after or after[0] == "-"))
        for word, after in pairwise([*words, ""])
    ):
        return []
    why = "--host: listens to every network this machine is in"
    return [call.finding(Risk.MEDIUM, "listens-everywhere", why, EffectKind.NETWORK)]


def code_path(text: str, call: Call) -> Findings:
    """Project code, like a test file: LOW inside the project, not outside."""
    text = text.partition("::")[0]
    if text.startswith("//"):  # a label of Bazel, Pants or Buck
        return []
    location = call.judge.territory.locate(text, call.cwds)
    if location.zone not in {Zone.OUTSIDE, Zone.SCRATCH}:
        return []
    why = f"Runs code {location.zone.value}: {location.path}"
    return [call.finding(Risk.MEDIUM, "code-outside", why, EffectKind.EXECUTE)]


def is_stream(text: str) -> bool:
    """`-`, `/dev/stdin` and `<(…)`: what a pipe, the line itself or another command says."""
    return text == "-" or text.startswith(_STREAMS)


def foreign_path(value: str, territory: Territory, cwds: Directories) -> str | None:
    """The first path in `value` that is neither the project's nor installed by the owner."""
    for path in _paths("", value):
        if territory.locate(path, cwds).zone in {Zone.OUTSIDE, Zone.SCRATCH}:
            return path
    return None


def _settings(call: Call, rule: CommandRule) -> Iterator[Setting]:
    arguments, words = call.arguments, call.command.words
    before = {
        id(word): option.text
        for option, word in pairwise(words)
        if option.text[:1] == "-" and "=" not in option.text
    }
    unknown = set(arguments.unknown)
    for given in arguments.given:
        is_address = given.value is not None and "://" in given.value.text
        if given.value is not None and (is_address or given.rule.role in _MAY_BE_CODE):
            yield given.name, given.value.text
    for option in (o for o in arguments.unknown if len(o) > 2):
        yield re.split("[=:/]", option, maxsplit=1)[0], option
    for word in words:
        if before.get(id(word)) in unknown and word.text[:1] != "-":
            yield before[id(word)], word.text
    if rule.stops or rule.wraps:
        yield from (("", word.text) for word in arguments.operands[:1] if word.text[:1] == "@")
        return
    for word in arguments.operands:
        yield before.get(id(word), ""), word.text


def _paths(name: str, text: str) -> Iterator[str]:
    """All paths in `text` that may name code."""
    if _NO_CODE.search(name) or (text[:1] == "-" and OUTPUT_OPTION.match(text)):
        return
    if _PATH.match(text):
        if not _INSTALLED.match(text):
            yield text
        return
    if "/" not in text and ".." not in text:
        return
    key, end = "", 0
    for match in _INNER_PATH.finditer(text):
        *others, last = _NEXT.split(text[end : match.start()])
        key, end = last if others else (key + last)[:_KEY_LENGTH], match.end()
        if not _NO_CODE.search(key) and not _INSTALLED.match(match[1]):
            yield match[1]


def _loaded(call: Call) -> Findings:
    """`kubectl --kubeconfig /tmp/x get pods`: the file may name a program to run."""
    given = [(g.name, g.value.text) for g in call.arguments.given if g.value]
    joined = [o.partition("=")[::2] for o in call.arguments.unknown if "=" in o]
    joined += [
        (option.text, word.text)
        for option, word in pairwise(call.command.words)
        if option.text in call.arguments.unknown
    ]
    territory = call.judge.territory
    named = [
        name
        for name, value in (*given, *joined)
        if _LOADS.search(name) and foreign_path(value, territory, call.cwds) is not None
    ]
    why = f"{named[0]}: what it names lies outside the project, and may run" if named else ""
    return [call.finding(Risk.MEDIUM, "code-outside", why, EffectKind.EXECUTE)] if named else []
