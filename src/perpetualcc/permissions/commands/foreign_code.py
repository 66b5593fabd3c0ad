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
from perpetualcc.permissions.commands.knowledge import CommandRule
from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.paths import Territory, Zone
from perpetualcc.permissions.shell.directories import Directories
from perpetualcc.permissions.urls import HostKind, host_of, kind_of

Setting = tuple[str, str]
"""The name of an option, empty when there is none, and what stands there."""

_PATH = re.compile(r"(?!//)(?:/|~|\.\./)")
_INNER_PATH = re.compile(
    r"(?:file://|(?<=[\s\"'`=:,;@\[{|])|^@)((?:/|~/|\.\./)(?!/)[^\s\"'`=:,;)\]}|]+)"
)
"""`=/x`, `:/x`, `,/x`, `"/x"`, `@/x`: a path behind whatever may stand before a value."""
_NO_CODE = re.compile(
    r"ignore|exclude|prefix|install|cache|te?mp|outdir|destdir|scratch|build-?(?:path|dir)|derived"
    r"|grep|match|pattern|filter|name|title|message|description|route|label|annotation"
    r"|expr|^--base$|base-?(?:url|path|href)",
    re.IGNORECASE,
)
_SELECTS = frozenset({"-t", "-k", "-m", "-g", "-E"})
"""With these a test runner is told which tests to run."""
_INSTALLED = re.compile(r"/(?:usr|opt|nix/store|Library|Applications|System|snap)/")
"""Where only the machine's owner puts programs and libraries."""
OUTPUT_OPTION = re.compile(
    r"-o\b|-O\b|--?(?:out|report|log|save|write|dest|export|dump|trace|profile|record|coverage|cache|"
    r"dist|junit|html|xml|json|tee)[\w-]*",
    re.IGNORECASE,
)
_LOADS = re.compile(
    r"kube-?config|plugin|require|preload|rc-?file|init-?file|script|hook", re.IGNORECASE
)
"""Options that make even a program that only looks run what they name."""
_ADDRESS = re.compile(
    r"(?<![\w+.-])(?:jdbc:)?([a-z][a-z0-9+.-]{1,20})://([^\s\"'<>,;)\]}|]+)", re.IGNORECASE
)
_NO_SOURCE = re.compile(
    r"base|label|annotation|home-?page|site|host-?name|origin|ldflags|title|link|canonical|public",
    re.IGNORECASE,
)
"""Options whose addresses are written into what is built, and asked for nothing."""
_SOURCE = re.compile(
    r"config|file|plugin|template|preset|ur[il]|repo|registry|remote|cache|source|server|endpoint"
    r"|proxy|mirror|index|channel|load|require|import|include|schema|ref|from|^-[cfiI]$",
    re.IGNORECASE,
)
_PEER = re.compile(r"socket|remote|endpoint|collector|proxy|daemon|server|broker|addr|host|connect")
_NUMERIC_HOST = re.compile(r"((?:\d{1,3}\.){3}\d{1,3})(?::\d+)?")
_NAMED_HOST = re.compile(r"([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+):\d{2,5}")
_EVERY_INTERFACE = re.compile(
    r"(?<![\d.])0\.0\.0\.0(?![\d.])|\[::0?\]|=::0?$|(?:^|[=@/])(?:\*|::):\d"
)
_RUNS_INSIDE = re.compile(
    r"[\"']\w*(?:plugin|setup|command|script|transform|require|preset|loader|runner|exec|hook|program"
    r"|teardown|environment|launch)\w*[\"']\s*:",
    re.IGNORECASE,
)
_PROPERTY = re.compile(r"(?:--?[DPp]:?|[-/]p(?:roperty)?:)?([A-Za-z][\w.]*)(?:=(.*))?")
_SECRETS_SHOWN = re.compile(
    r"(?:show|print|dump|reveal)\w*(?:password|secret|token|credential)", re.IGNORECASE
)
_DEPLOYS = re.compile(
    r"PublishProfile|PublishUrl|WebPublishMethod|MsDeploy\w*|Deploy(?:On|To)\w*", re.IGNORECASE
)
_OTHER_REPOSITORY = re.compile(r"@@?[\w.~+-]+//")
"""A label of Bazel in a repository that it fetches."""
_TOKEN_OPTION = frozenset({"-D", "-P", "-p", "--define", "--property"})


def judge_settings(call: Call, rule: CommandRule) -> Findings:
    """What a call that may run the project's code, and nothing else, is given from elsewhere."""
    if rule.risk is not Risk.LOW:
        return []
    if EffectKind.EXECUTE not in rule.effects and not rule.wraps:
        return _loaded(call)
    findings: Findings = []
    seen: set[str] = set()
    for name, text in _settings(call, rule):
        is_selection = rule.rule == "test-project" and name in _SELECTS
        for path in () if is_selection else _paths(name, text):
            if path not in seen:
                seen.add(path)
                findings += code_path(path, call)
        findings += [found for found in _judge(name, text, call) if found is not None]
    return findings


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


def foreign_path(value: str, territory: Territory, cwds: Directories) -> str | None:
    """The first path in `value` that is neither the project's nor installed by the owner."""
    for path in _paths("", value):
        if territory.locate(path, cwds).zone in {Zone.OUTSIDE, Zone.SCRATCH}:
            return path
    return None


def serves_everyone(text: str) -> bool:
    """`0.0.0.0:8000`, `[::]`, `*:5005`: every network this machine is in."""
    return _EVERY_INTERFACE.search(text) is not None


def _settings(call: Call, rule: CommandRule) -> Iterator[Setting]:
    arguments, words = call.arguments, call.command.words
    before = {
        id(word): option.text
        for option, word in pairwise(words)
        if option.text[:1] == "-" and "=" not in option.text
    }
    unknown = set(arguments.unknown)
    for given in arguments.given:
        if given.value is not None and given.rule.role in {"value", "optional", "code"}:
            yield given.name, given.value.text
    for option in arguments.unknown:
        yield re.split("[=:]", option, maxsplit=1)[0], option
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
    if "/" not in text:
        return
    for match in _INNER_PATH.finditer(text):
        key = re.split(r"[,{\s]", _INNER_PATH.sub("", text[: match.start()]))[-1]
        if not _NO_CODE.search(key) and not _INSTALLED.match(match[1]):
            yield match[1]


def _judge(name: str, text: str, call: Call) -> Iterator[Finding | None]:
    if _OTHER_REPOSITORY.match(text) and call.arguments.path.endswith(" run"):
        why = f"Runs {text}, which is another repository's program"
        yield call.finding(Risk.MEDIUM, "code-outside", why, EffectKind.EXECUTE)
    if "://" in text:
        yield _address(name, text, call)
    if serves_everyone(text):
        why = f"{text[:60]} listens to every network this machine is in"
        yield call.finding(Risk.MEDIUM, "listens-everywhere", why, EffectKind.NETWORK)
    if "{" in text and _RUNS_INSIDE.search(text):
        why = "Settings given on the line name what is to be run"
        yield call.finding(Risk.MEDIUM, "inline-settings", why, EffectKind.EXECUTE)
    yield _peer(name, text, call)
    yield _property(name, text, call)


def _address(name: str, text: str, call: Call) -> Finding | None:
    """Settings, caches and packages that come from, or go to, somewhere else."""
    is_plain = _ADDRESS.match(text) is not None
    joined = name or text.partition("=")[0]
    if _NO_SOURCE.search(joined) or (is_plain and not (name and _SOURCE.search(name))):
        return None
    for match in _ADDRESS.finditer(text):
        scheme, host = match[1].lower(), host_of(f"http://{match[2]}")
        is_known = scheme == "https" and host in load_table("hosts")["registries"]
        if scheme != "file" and kind_of(host) is not HostKind.LOOPBACK and not is_known:
            why = f"{joined[:40]}: works with {host or 'an address'}, which is not of this machine"
            return call.finding(
                Risk.MEDIUM, "settings-from-network", why, EffectKind.EXECUTE, EffectKind.NETWORK
            )
    return None


def _peer(name: str, text: str, call: Call) -> Finding | None:
    """`--log-socket=203.0.113.9:1500`: where it sends what it sees."""
    if not _PEER.search(name.lower()):
        return None
    value = text.partition("=")[2] if text[:1] == "-" else text
    match = _NUMERIC_HOST.fullmatch(value) or _NAMED_HOST.fullmatch(value)
    if match is None or kind_of(match[1].lower()) is HostKind.LOOPBACK:
        return None
    why = f"{name}: talks to {match[1]}"
    return call.finding(Risk.MEDIUM, "settings-from-network", why, EffectKind.NETWORK)


def _property(name: str, text: str, call: Call) -> Finding | None:
    """`-DshowPasswords=true`, `-p:PublishProfile=Prod`: what the name of a property says."""
    is_property = name in _TOKEN_OPTION or text[:2] in {"-D", "-P", "-p", "/p"}
    match = _PROPERTY.fullmatch(text.lstrip(":")) if is_property else None
    if match is None or (match[2] or "").lower() == "false":
        return None
    if _SECRETS_SHOWN.match(match[1]):
        why = f"{match[1]}: its name says that it shows secrets"
        return call.finding(Risk.HIGH, "option-words", why, EffectKind.READ)
    if _DEPLOYS.fullmatch(match[1]):
        why = f"{match[1]}: its name says that it puts the result in use"
        return call.finding(Risk.MEDIUM, "option-words", why, EffectKind.NETWORK)
    return None


def _loaded(call: Call) -> Findings:
    """`kubectl --kubeconfig /tmp/x get pods`: the file may name a program to run."""
    given = [(g.name, g.value.text) for g in call.arguments.given if g.value]
    joined = [o.partition("=")[::2] for o in call.arguments.unknown if "=" in o]
    territory = call.judge.territory
    named = [
        name
        for name, value in (*given, *joined)
        if _LOADS.search(name) and foreign_path(value, territory, call.cwds) is not None
    ]
    why = f"{named[0]}: what it names lies outside the project, and may run" if named else ""
    return [call.finding(Risk.MEDIUM, "code-outside", why, EffectKind.EXECUTE)] if named else []
