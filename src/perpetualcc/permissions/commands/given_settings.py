"""
What a setting given on the line says when it is no path: addresses, listeners, lifted guards.

All of it counts for programs that run the project's code and are LOW otherwise.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call
from perpetualcc.permissions.commands.knowledge import CommandRule
from perpetualcc.permissions.commands.tasks import judge_task
from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.paths import MAY_LEAVE
from perpetualcc.permissions.urls import HostKind, host_of, kind_of

_ADDRESS = re.compile(
    r"(?<![\w+.-])(?:jdbc:)?([a-z][a-z0-9+.-]{1,20})://([^\s\"'<>,;)\]}|]+)", re.IGNORECASE
)
_HOSTED = re.compile(
    r"(?:^|[=\s])(?:git@[\w.-]+:|(?:github|gitlab|bitbucket)(?:\.com|\.org)?[:/][\w.-]+/)"
)
"""A repository by its address without a scheme."""
_NO_SOURCE = re.compile(
    r"dart-define|base|label|annotation|home-?page|site|host-?name|origin|ldflags|title|link"
    r"|canonical|public",
    re.IGNORECASE,
)
"""Options whose addresses are written into what is built, and asked for nothing."""
_TESTED = re.compile(r"base-?url", re.IGNORECASE)
"""What a run of tests is pointed at, and may change."""
_PEER = re.compile(r"socket|remote|endpoint|collector|proxy|daemon|server|broker|addr|host|connect")
_UNPROVED = re.compile(r"(?:^|=|@\s*|\b\w+\+)http://", re.IGNORECASE)
_NUMERIC_HOST = re.compile(r"((?:\d{1,3}\.){3}\d{1,3})(?::\d+)?")
_NAMED_HOST = re.compile(r"([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+):\d{2,5}")
_EVERY_INTERFACE = re.compile(
    r"(?<![\d.])0\.0\.0\.0(?![\d.])|\[::0?\]|=::0?$|-http=:\d|(?:^|[=@/])(?:\*|::):\d"
)
_EVERY_V6 = frozenset({"::", "::0"})
_SHELL_LINE = re.compile(r"(?:^|[=\"'\s/])(?:ba|da|z|k)?sh\s+-\w*c\b")
_RUNS_INSIDE = re.compile(
    r"[\"']\w*(?:plugin|setup|command|script|transform|require|preset|loader|runner|exec|hook|program"
    r"|teardown|environment|launch)\w*[\"']\s*:",
    re.IGNORECASE,
)
_PROPERTY = re.compile(
    r"(?:--?[DPp]:?|(?:--?|/)p(?:roperty)?[:=])?([A-Za-z][\w.-]*)(?:=(.*))?", re.DOTALL
)
_IS_PROPERTY = re.compile(r"-[DPp]|/p|--?p(?:roperty)?:")
_LISTED = re.compile(r"[;,]")
"""Between the properties, and the targets, that MSBuild is given in one word."""
_SECRETS_SHOWN = re.compile(
    r"(?:show|print|dump|reveal)\w*(?:password|secret|token|credential)", re.IGNORECASE
)
_DEPLOYS = re.compile(
    r"PublishProfile|PublishUrl|performRelease|WebPublishMethod|MsDeploy\w*|Deploy(?:On|To|Target)\w*|ContainerRegistry"
    r"|(?:.+\.)?(?:publish|push|deploy)(?:[-.]?(?:enabled|on-?build|image))?",
    re.IGNORECASE,
)
_TARGETS = re.compile(r"(?:--?|/)t(?:arget)?[:=](.+)|:(.+)", re.IGNORECASE)
_PUBLISHES_HERE = re.compile(r"_?Publish(?:Only|Container)?", re.IGNORECASE)
"""To MSBuild it is to put what is needed to run into a directory."""
_DEPLOY_TARGET = re.compile(r"\w*(?:Deploy|PublishContainer)", re.IGNORECASE)
_RUN_PROPERTY = re.compile(
    r"(?:_LAUNCHER|_EMULATOR|_COMPILER|CMAKE_(?:AR|LINKER|NM|OBJCOPY|RANLIB|STRIP)|_RULE_LAUNCH_\w+|_MAKE_PROGRAM|(?:Pre|Post)(?:Build|Link)Event"
    r"|RunCommand|\w+ToolExe|SignToolPath|\w*CommandLine)$"
)
"""`-DCMAKE_C_COMPILER_LAUNCHER='rm;-f'`, `-p:PreBuildEvent='rm x'`."""
_FLAGS_PROPERTY = re.compile(r"CMAKE_\w+_FLAGS(?:_\w+)?")
_GUARD = re.compile(r"auth\w*|ssl|tls|security|verif\w*|checksum\w*|signature\w*", re.IGNORECASE)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LOG_FILE = re.compile(
    r"(?:log\w*(?:file|name|path|prefix)\w*=|b(?:inary)?l(?:ogger)?:)([^;\"']+)", re.IGNORECASE
)
"""To a logger of .NET its file; to a test's it is below the results of each project."""
_OUTPUT_PROPERTY = re.compile(
    r"(?:out|output|dest|target|report|build|stage|staging|install|work|cache)\.?(?:Dir\w*|File|Path)$",
    re.IGNORECASE,
)
_IS_OFF = frozenset({"false", "off", "none", "no", "disabled", "insecure"})
_OTHER_REPOSITORY = re.compile(r"@@?[\w.~+-]+//")
"""A label of Bazel in a repository that it fetches."""
_OWN_SCHEMES = frozenset({"file", "res"})
"""`res://` is the project to Godot."""
_TOKEN_OPTION = frozenset({"-D", "-P", "-p", "--define", "--property"})


def serves_everyone(text: str) -> bool:
    """`0.0.0.0:8000`, `[::]`, `*:5005`: every network this machine is in."""
    return _EVERY_INTERFACE.search(text) is not None


def judge_setting(name: str, text: str, call: Call, rule: CommandRule) -> Iterator[Finding | None]:
    """What `text` says as the value of the option `name`, which is empty for an operand."""
    if _OTHER_REPOSITORY.match(text) and call.arguments.path.endswith(" run"):
        why = f"Runs {text}, which is another repository's program"
        yield call.finding(Risk.MEDIUM, "code-outside", why, EffectKind.EXECUTE)
    if "://" in text:
        yield _address(name, text, call, rule)
    elif _HOSTED.search(text) and (name or rule.operands == "task"):
        why = f"{text[:60]} is another repository"
        yield call.finding(Risk.MEDIUM, "settings-from-network", why, EffectKind.EXECUTE)
    if " " in text and _SHELL_LINE.search(text):
        why = f"{text[:60]} has a shell run it"
        yield call.finding(Risk.MEDIUM, "given-shell", why, EffectKind.EXECUTE)
    if serves_everyone(text) or (name and text in _EVERY_V6):
        why = f"{text[:60]} listens to every network this machine is in"
        yield call.finding(Risk.MEDIUM, "listens-everywhere", why, EffectKind.NETWORK)
    if "{" in text and _RUNS_INSIDE.search(text):
        why = "Settings given on the line name what is to be run"
        yield call.finding(Risk.MEDIUM, "inline-settings", why, EffectKind.EXECUTE)
    yield _peer(name, text, call)
    text = text.removeprefix("roperty") if name == "-p" else text  # `-property:A=b`
    for one in _LISTED.split(text) if rule.rule == "dotnet" else (text,):
        yield _property(name if one is text else "-p", one, call)
    if rule.rule == "dotnet":
        yield from (*_targets(name, text, call), *_logged(text, call))
    yield _lifted(name, text, call)
    if _TOKEN_OPTION.intersection((name, text[:2])) or text[:2] == "/p":
        yield _written(text, call)


def _address(name: str, text: str, call: Call, rule: CommandRule) -> Finding | None:
    """Settings, caches and packages that come from, or go to, somewhere else."""
    joined = name or text.partition("=")[0]
    is_chart = not name and call.arguments.path == "helm repo add" and text.startswith("https:")
    is_tested = rule.rule == "test-project" and _TESTED.search(joined) is not None
    if is_chart or (_NO_SOURCE.search(joined) and not is_tested) or text.startswith("--define:"):
        return None
    host = foreign_host(text)
    if host is None:
        return None
    if _is_installed_unproved(joined, text, call):
        why = f"{text[:80]} comes from a place that cannot prove what it is"
        return call.finding(Risk.HIGH, "remote-code", why, EffectKind.EXECUTE, EffectKind.NETWORK)
    why = f"{joined[:40]}: works with {host or 'an address'}, which is not of this machine"
    return call.finding(
        Risk.MEDIUM, "settings-from-network", why, EffectKind.EXECUTE, EffectKind.NETWORK
    )


def _is_installed_unproved(name: str, text: str, call: Call) -> bool:
    """`cargo install --git http://…`, `pip install git+http://…`: not a proxy, which passes on."""
    rule = call.arguments.rule
    is_install = rule is not None and rule.rule == "install-packages"
    return is_install and "proxy" not in name.lower() and _UNPROVED.search(text) is not None


def foreign_host(text: str) -> str | None:
    """The first host in `text` that is neither this machine nor a registry everybody uses."""
    for match in _ADDRESS.finditer(text):
        scheme, host = match[1].lower(), host_of(f"http://{match[2]}")
        of_scheme = {"https": "registries", "docker": "in_containers"}.get(scheme)
        is_known = of_scheme is not None and host in load_table("hosts")[of_scheme]
        if scheme not in _OWN_SCHEMES and kind_of(host) is not HostKind.LOOPBACK and not is_known:
            return host
    return None


def _peer(name: str, text: str, call: Call) -> Finding | None:
    """`--log-socket=203.0.113.9:1500`: where it sends what it sees."""
    key, equals, value = text.partition("=")
    if not _PEER.search(f"{name} {key if equals else ''}".lower()):
        return None
    value = value if equals else text
    match = _NUMERIC_HOST.fullmatch(value) or _NAMED_HOST.fullmatch(value)
    if match is None or kind_of(match[1].lower()) is HostKind.LOOPBACK:
        return None
    why = f"{name or key}: talks to {match[1]}"
    return call.finding(Risk.MEDIUM, "settings-from-network", why, EffectKind.NETWORK)


def _lifted(name: str, text: str, call: Call) -> Finding | None:
    """`--strict-ssl=false`, `-Dx.insecure=true`: a guard that is switched off."""
    key, equals, value = text.partition("=")
    key, value = (key, value.lower()) if equals else (name, text.lower())
    is_guard = value in _IS_OFF and any(_GUARD.fullmatch(word) for word in _WORD.findall(key))
    if not is_guard and not ("insecure" in key.lower() and equals and value == "true"):
        return None
    why = f"{key}: takes down a guard"
    return call.finding(Risk.MEDIUM, "option-words", why, EffectKind.EXECUTE)


def _written(text: str, call: Call) -> Finding | None:
    """`-DoutputDirectory=/usr/local/lib`: a property that says where it writes."""
    key, equals, value = text.partition("=")
    if not equals or not _OUTPUT_PROPERTY.search(key) or not MAY_LEAVE.match(value):
        return None
    found = call.judge.territory.write(value, call.cwds, call.part)
    return found if found.risk is Risk.HIGH else None


def _logged(text: str, call: Call) -> Iterator[Finding]:
    """`-l:"console;LogFileName=../../x"`, `-flp:logfile=/x`, `-bl:../x.binlog`."""
    for match in _LOG_FILE.finditer(text):
        if match[1][:1] in "/~" or call.arguments.path != "dotnet test":
            found = call.judge.territory.write(match[1], call.cwds, call.part)
            if found.risk is Risk.HIGH:
                yield found


def _property(name: str, text: str, call: Call) -> Finding | None:
    """`-DshowPasswords=true`, `-p:PublishProfile=Prod`: what the name of a property says."""
    is_property = name in _TOKEN_OPTION or _IS_PROPERTY.match(text) is not None
    match = _PROPERTY.fullmatch(text.lstrip(":")) if is_property else None
    if match is None:
        return None
    if (match[2] or "").lower() == "false":
        return None
    if match[2] and (_RUN_PROPERTY.search(match[1]) or _FLAGS_PROPERTY.fullmatch(match[1])):
        program = "gcc " if _FLAGS_PROPERTY.fullmatch(match[1]) else ""
        found = call.judge.shell(program + match[2].replace(";", " "), call)
        worst = next((one for one in found if one.risk is Risk.HIGH), None)
        if worst is not None:
            why = f"{match[1]}: has the build run it. {worst.explanation}"
            return call.finding(Risk.HIGH, "given-program", why, EffectKind.EXECUTE)
    if _SECRETS_SHOWN.match(match[1]):
        why = f"{match[1]}: its name says that it shows secrets"
        return call.finding(Risk.HIGH, "option-words", why, EffectKind.READ)
    if _DEPLOYS.fullmatch(match[1]):
        why = f"{match[1]}: its name says that it puts the result in use"
        return call.finding(Risk.MEDIUM, "option-words", why, EffectKind.NETWORK)
    return None


def _targets(name: str, text: str, call: Call) -> Iterator[Finding]:
    """`-t:Build;Deploy`: to MSBuild what a task is to make, but for publishing into a directory."""
    match = _TARGETS.fullmatch(text) if name in {"", "-t", "-target", "--target", "/t"} else None
    for target in _LISTED.split(match[1] or match[2]) if match is not None else ():
        if _PUBLISHES_HERE.fullmatch(target):
            continue
        named = judge_task(target, call)
        if named.risk is not Risk.LOW:
            yield replace(named, kind=call.arguments.path)
        if _DEPLOY_TARGET.match(target):
            why = f"{target}: its name says that it puts the result in use"
            yield call.finding(Risk.MEDIUM, "option-words", why, EffectKind.NETWORK)
