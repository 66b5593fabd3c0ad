"""Programs that speak to other machines: where to, and what they send."""

import re
from collections.abc import Sequence

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.commands.programs.files import guarded_in_folder
from perpetualcc.permissions.commands.programs.load_tests import is_much, load
from perpetualcc.permissions.effects import Effect, EffectKind, Finding
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.shell.script import UNKNOWN, Word
from perpetualcc.permissions.shell.variables import SECRET_VARIABLE
from perpetualcc.permissions.urls import HostKind, host_of, judge_url, reaches_people

_SENDS = frozenset(
    {"-d", "--data", "--data-binary", "--data-urlencode", "--data-ascii", "--json", "-F", "--form",
     "-T", "--upload-file", "--post-file", "--body-file", "--post-data", "--body-data"}
)  # fmt: skip
_MAY_SEND = frozenset({"-H", "--header", "--proxy-header", "--url-query"})
"""Options that send a file only where what they are given says so."""
_NAMES_FILE = re.compile(r"[\w.-]*@")
"""`@file`, and `name@file` of `--data-urlencode`; not `name=me@x.org`."""
_CHANGES = frozenset({"DELETE", "PUT", "PATCH"})


@handles("curl")
def curl(call: Call) -> Findings:
    """Addresses, uploads, methods. Reading from this machine alone is LOW."""
    findings = _fetches(call) + _addresses(call) + _sent(call) + _method(call) + _with_secrets(call)
    if call.arguments.path in _LOADS and is_much(call) and not _is_local(call):
        findings.append(load(call))
    if call.arguments.has("-O", "--remote-name", "--remote-header-name", "--remote-name-all"):
        findings += [_downloaded(word, call) for word in _urls(call)]
    return findings


@handles("wget")
def wget(call: Call) -> Findings:
    """Without `-O` it writes a file named like the end of the address."""
    findings = _fetches(call) + _addresses(call) + _sent(call) + _method(call) + _with_secrets(call)
    if not call.arguments.has("-O", "--output-document", "--spider"):
        findings += [_downloaded(word, call) for word in _urls(call)]
    return findings


_LOADS = frozenset(
    {"ab", "autocannon", "bombardier", "fortio load", "h2load", "hey", "loadtest", "oha", "plow",
     "siege", "slowhttptest", "vegeta", "wrk", "wrk2"}
)  # fmt: skip
_DETOURS = ("-x", "--proxy", "--resolve", "--connect-to", "--socks5", "--preproxy", "-e")
_METHODS = ("-X", "--request", "--method")


def _fetches(call: Call) -> Findings:
    """Looking at a service of this machine is LOW; all else that is fetched is not."""
    methods = [g.value.text.upper() for g in call.arguments.given if g.name in _METHODS and g.value]
    is_look = call.arguments.path in _LOADS or not call.arguments.has(
        *_SENDS, "--data-raw", "--form-string", *_DETOURS
    )
    if call.arguments.path in _ITEM_CLIENTS:
        words = [word.text for word in call.arguments.operands]
        methods += [word for word in words[:1] if _HTTP_METHOD.fullmatch(word)]
        is_look = is_look and not any(_BODY_ITEM.match(word) for word in words)
    if _is_local(call) and is_look and set(methods) <= {"GET", "HEAD", "OPTIONS"}:
        return []
    why = "Fetches from the network"
    return [call.finding(Risk.MEDIUM, "fetch", why, EffectKind.NETWORK)]


def _urls(call: Call) -> list[Word]:
    given = [g.value for g in call.arguments.given if g.name == "--url" and g.value]
    operands = call.arguments.operands
    if call.arguments.path in _ITEM_CLIENTS:
        operands = [word for word in operands if not _HTTP_METHOD.fullmatch(word.text)][:1]
    return [*operands, *given]


_ITEM_CLIENTS = frozenset({"http", "https", "httpie", "xh", "xhs"})
"""Clients that take a method, an address, and items such as `name=value` and `name@file`."""
_HTTP_METHOD = re.compile(r"[A-Z]+")
_BODY_ITEM = re.compile(r"[\w.\[\]-]+:?=(?!=)")
"""`name=value` and `name:=1` are sent in a body; `name==value` belongs to the address."""
_FILE_ITEM = re.compile(r"@.|[\w.-]+(?::?=)?@[^@]|[\w.-]+@[~./]")


def _sends_items(call: Call) -> bool:
    items = call.arguments.operands
    is_upload = any(_FILE_ITEM.match(w.text) for w in items[1:] if "://" not in w.text)
    is_fed = any(r.operator == "<" for r in call.command.redirections)
    return is_upload or is_fed


def _downloaded(word: Word, call: Call) -> Finding:
    name = word.text.split("?")[0].rstrip("/").rpartition("/")[2] or "index.html"
    return call.judge.territory.write(name, call.cwds, call.part)


def _addresses(call: Call) -> Findings:
    findings: Findings = []
    for word in _urls(call):
        text = word.text
        if call.arguments.path in _ITEM_CLIENTS and not re.match(r"^[\w.-]*[.:/]", text):
            continue
        finding = judge_url(text if "://" in text else f"http://{text}", call.part)
        if finding.risk is Risk.HIGH:
            findings.append(finding)
        findings.append(_effect_only(text, call))
    return findings


def _effect_only(text: str, call: Call) -> Finding:
    host = host_of(text) or UNKNOWN
    return Finding(
        risk=Risk.LOW,
        rule="address",
        part=call.part,
        explanation=f"Speaks to {host.replace(UNKNOWN, '…')}",
        kind=call.arguments.path,
        effects=(Effect(kind=EffectKind.NETWORK, target=host),),
    )


def _is_local(call: Call) -> bool:
    urls = _urls(call)
    return bool(urls) and all(_judged(url).rule == HostKind.LOOPBACK for url in urls)


def _judged(url: Word) -> Finding:
    return judge_url(url.text if "://" in url.text else f"http://{url.text}", "")


def _sent(call: Call) -> Findings:
    """A file that leaves the machine is for a person to decide; so is what a pipe holds."""
    if _is_local(call):
        return []
    for given in call.arguments.given:
        if given.name not in _SENDS | _MAY_SEND or given.value is None:
            continue
        text = given.value.text
        if given.name in _MAY_SEND and not _NAMES_FILE.match(text):
            continue
        is_file = (
            given.name in {"-T", "--upload-file", "--post-file", "--body-file"}
            or text.startswith(("@", "<"))
            or "=@" in text
            or "=<" in text
            or (given.name == "--data-urlencode" and _NAMES_FILE.match(text) is not None)
        )
        if is_file or given.name in _MAY_SEND or given.value.code:
            return [
                call.finding(
                    Risk.HIGH,
                    "data-leaves",
                    f"{given.name} sends the contents of files or commands to another machine",
                    EffectKind.NETWORK,
                    kind=f"{call.arguments.path} upload",
                )
            ]
    if call.arguments.path in _ITEM_CLIENTS and _sends_items(call):
        why = "Sends files, or what another command prints, to another machine"
        return [call.finding(Risk.HIGH, "data-leaves", why, EffectKind.NETWORK)]
    if any(word.code for word in _urls(call)):
        return [
            call.finding(
                Risk.HIGH,
                "data-leaves",
                "The output of a command becomes part of the address",
                EffectKind.NETWORK,
            )
        ]
    return []


_IN_ADDRESS = re.compile(r"://[^\s'\"]*" + SECRET_VARIABLE.pattern, re.IGNORECASE)
_SHOWS_WHO = frozenset({"-u", "--user", "--oauth2-bearer", "-a", "--auth"})
_POSTS = frozenset({"POST", *_CHANGES})


def _with_secrets(call: Call) -> Findings:
    """A secret in an address or among what is sent, and an order given in somebody's name."""
    source = call.command.source
    if _is_local(call) or not (SECRET_VARIABLE.search(source) or call.arguments.has(*_SHOWS_WHO)):
        return []
    methods = {g.value.text.upper() for g in call.arguments.given if g.name in _METHODS and g.value}
    is_sent = call.arguments.has(*_SENDS, "--data-raw", "--form-string") or methods & _POSTS
    if _IN_ADDRESS.search(source):
        why = "A secret becomes part of the address, and addresses are kept in many logs"
        return [call.finding(Risk.HIGH, "secret-leaves", why, EffectKind.NETWORK)]
    items = call.arguments.operands if call.arguments.path in _ITEM_CLIENTS else ()
    names_one = any(word.is_secret and "=" in word.text for word in items)
    if not (is_sent or names_one):
        return []
    why = "Sends something in the name of whoever the secret belongs to"
    return [call.finding(Risk.HIGH, "remote-change", why, EffectKind.NETWORK)]


_QUOTES = frozenset({"-Q", "--quote", "--postquote"})
_FTP_CHANGES = re.compile(
    r"[-+*]?(?:DELE|RMD|MKD|RNFR|RNTO|SITE|STOR|STOU|APPE|rm|rmdir|mkdir|rename|ch\w+|ln|symlink)\b",
    re.IGNORECASE,
)


def _method(call: Call) -> Findings:
    quoted = [g.value.text for g in call.arguments.given if g.name in _QUOTES and g.value]
    if any(_FTP_CHANGES.match(text) for text in quoted):
        why = "Changes or deletes files on another machine"
        return [call.finding(Risk.HIGH, "remote-change", why, EffectKind.NETWORK)]
    for word in call.arguments.operands[:1]:
        is_method = call.arguments.path in _ITEM_CLIENTS and word.text.upper() == "DELETE"
        if is_method and not _is_local(call):
            why = "DELETE deletes something on another machine"
            return [call.finding(Risk.HIGH, "remote-change", why, EffectKind.NETWORK)]
    for given in call.arguments.given:
        if (
            given.name in {"-X", "--request", "--method"}
            and given.value is not None
            and given.value.text.upper() in _CHANGES
            and not _is_local(call)
        ):
            return [
                call.finding(
                    Risk.HIGH,
                    "remote-change",
                    f"{given.value.text} changes or deletes something on another machine",
                    EffectKind.NETWORK,
                )
            ]
    return _path_verb(call)


_PATH_WORD = re.compile(r"[A-Za-z]+")


def _path_verb(call: Call) -> Findings:
    """`POST …/_delete_by_query`: the address says what is asked of the other machine."""
    methods = {g.value.text.upper() for g in call.arguments.given if g.name in _METHODS and g.value}
    is_sent = call.arguments.has(*_SENDS, "--data-raw") or not methods <= {"GET", "HEAD", "OPTIONS"}
    if call.arguments.path in _ITEM_CLIENTS:
        words = [word.text for word in call.arguments.operands]
        is_sent = is_sent or words[:1] == ["POST"] or any(_BODY_ITEM.match(w) for w in words)
    if not is_sent or _is_local(call):
        return []
    if any(_judged(url).rule == HostKind.ADMIN for url in _urls(call)):
        why = "Changes the containers, clusters or browsers of this machine"
        return [call.finding(Risk.HIGH, "remote-change", why, EffectKind.NETWORK)]
    if any(reaches_people(url.text) for url in _urls(call)):
        why = "What is sent there reaches people or moves money"
        return [call.finding(Risk.HIGH, "reaches-people", why, EffectKind.NETWORK)]
    verbs = frozenset(load_table("tasks")["verbs"])
    for url in _urls(call):
        path = url.text.partition("://")[2].partition("/")[2].partition("?")[0]
        harm = verbs.intersection(word.lower() for word in _PATH_WORD.findall(path))
        if harm:
            why = f"Asks another machine to {min(harm)}, by the address"
            return [call.finding(Risk.HIGH, "remote-change", why, EffectKind.NETWORK)]
    return []


@handles("lookup")
def lookup(call: Call) -> Findings:
    """A name that another command prints can carry anything out, by DNS alone."""
    if any(word.code or word.is_secret for word in call.arguments.operands):
        return [
            call.finding(
                Risk.HIGH,
                "data-leaves",
                "A secret, or the output of a command, becomes part of the name",
                EffectKind.NETWORK,
            )
        ]
    labels = [label for w in call.arguments.operands for label in w.text.split(".")]
    if any(_CODED.fullmatch(label) for label in labels):
        why = "A part of the name looks like data, which the server of that name would be told"
        return [call.finding(Risk.MEDIUM, "data-leaves", why, EffectKind.NETWORK)]
    return []


_CODED = re.compile(r"(?=.*\d)(?:[0-9a-f]{20,}|[0-9a-z]{32,}|[0-9A-Za-z+/_=-]{45,})", re.ASCII)
"""A label of a host's name that nobody types: hexadecimal, or as long as an encoded text."""


@handles("rsync")
def rsync(call: Call) -> Findings:
    """To another machine is a copy that leaves; from one, code may come."""
    operands = call.arguments.operands
    remote = [w for w in operands if re.match(r"^(rsync://|[\w.@-]+:)", w.text) or "::" in w.text]
    if not remote:
        return guarded_in_folder(call)
    is_dry = any(given.rule.risk is Risk.LOW for given in call.arguments.given)
    if operands and operands[-1] in remote and is_dry:
        why = "Compares with another machine and copies nothing"
        return [call.finding(Risk.MEDIUM, "compare", why, EffectKind.NETWORK)]
    if operands and operands[-1] in remote:
        return [
            call.finding(
                Risk.HIGH, "data-leaves", "Copies files to another machine", EffectKind.NETWORK
            )
        ]
    return [
        call.finding(Risk.MEDIUM, "fetch", "Copies files from another machine", EffectKind.NETWORK)
    ]


@handles("tls-client")
def tls_client(call: Call) -> Findings:
    """What comes from a pipe is sent; an empty input only ends the talk."""
    is_quiet = all(_prints_no_words(source.words) for source in call.command.upstream)
    is_fed = any(
        r.operator == "<" and r.target.text != "/dev/null" for r in call.command.redirections
    )
    if is_quiet and not call.command.stdin and not is_fed:
        return []
    why = "Sends what another command prints to another machine"
    return [call.finding(Risk.HIGH, "data-leaves", why, EffectKind.NETWORK)]


def _prints_no_words(words: Sequence[Word]) -> bool:
    """`echo | …`, `true | …`."""
    is_empty = not any(word.text.strip() or word.code for word in words[1:])
    return bool(words) and words[0].text in {"echo", "true", ":"} and is_empty


@handles("sysctl")
def sysctl(call: Call) -> Findings:
    """`sysctl name` shows, `sysctl name=value` changes."""
    if not any("=" in word.text for word in call.arguments.operands):
        return []
    why = "Changes the running system"
    return [call.finding(Risk.HIGH, "services", why, EffectKind.EXECUTE)]


@handles("kill")
def kill(call: Call) -> Findings:
    """Its own jobs may be ended; everything, the first process or by name may not."""
    words = call.arguments.rest
    if [word.text for word in words[:1]] == ["-0"] or [w.text for w in words[:2]] == ["-s", "0"]:
        return []  # signal 0 only asks whether they run
    if [word.text for word in words[:1]] in (["-l"], ["-L"], ["--list"]):
        return []  # `-KILL` is none of these
    for index, word in enumerate(words):
        text = word.text
        is_first_number = re.fullmatch(r"-\d+", text) is not None and index == 0
        if text in {"0", "1", "-1"} and not (is_first_number and len(words) > 1):
            return [
                call.finding(
                    Risk.HIGH,
                    "kill-all",
                    "Ends every program, or the first one",
                    EffectKind.EXECUTE,
                    kind="kill all",
                )
            ]
        is_computed = bool(word.code) or (UNKNOWN in text and word.splits)
        if is_computed and not text.startswith("%"):
            return [
                call.finding(
                    Risk.HIGH,
                    "kill-others",
                    "Which programs it ends is known only when it runs",
                    EffectKind.EXECUTE,
                    kind="kill computed",
                )
            ]
    targets = [word.text for word in call.arguments.operands if not word.text.startswith("-")]
    if targets and all(text.startswith("%") for text in targets):
        return []
    why = "Ends or signals programs that may belong to others"
    return [call.finding(Risk.MEDIUM, "processes", why, EffectKind.EXECUTE)]


@handles("media")
def media(call: Call) -> Findings:
    """The last operand is written, the others are read."""
    operands = call.arguments.operands
    is_sent = operands and _SENT_TO.match(operands[-1].text)
    if is_sent:
        why = f"Sends what it makes to {operands[-1].text[:80]}"
        return [call.finding(Risk.HIGH, "data-leaves", why, EffectKind.NETWORK)]
    findings = call.reads(operands[:-1]) + call.writes(operands[-1:])
    coded = [word.text for word in operands if _CODER.match(word.text)]
    if coded and call.arguments.path in _IMAGE_TOOLS:
        why = f"{coded[0][:60]} runs a program, deletes what it reads, or shows the screen"
        findings.append(call.finding(Risk.HIGH, "runs-code", why, EffectKind.EXECUTE))
    return findings


_SENT_TO = re.compile(r"(?!file:)[a-z][a-z0-9+]{1,15}://", re.IGNORECASE)
_IMAGE_TOOLS = frozenset({"convert", "magick", "mogrify", "montage"})
_CODER = re.compile(r"(?:ephemeral|msl|mvg|x|screenshot):|(?:\w+:)?\|", re.IGNORECASE)
"""Prefixes of ImageMagick that are more than a format."""
