"""
Calls of MCP servers: what they do is the server's word, so what they are given is looked at.

A tool whose name says harm is believed. One whose name says that it only looks is LOW as long as
nothing that it is given says otherwise; all others are MEDIUM. Values that are paths, statements,
commands or addresses are judged as what they are, by the same readers as everywhere.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urlsplit

from perpetualcc.domain.secrets import holds_token
from perpetualcc.domain.texts import apart
from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.characters import plain
from perpetualcc.permissions.commands.judge import CommandJudge
from perpetualcc.permissions.commands.programs.databases import destroying, only_asks
from perpetualcc.permissions.contents import judge_code
from perpetualcc.permissions.effects import Effect, EffectKind, Finding
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.mcp_names import (
    Name,
    asks_statements,
    chosen_harm,
    chosen_look,
    fetches,
    harm,
    is_plain,
    looks,
    moves_things,
    read_name,
    risk_of_flag,
    risk_of_look,
    runs,
)
from perpetualcc.permissions.mcp_values import COMMAND_KEYS, Given, read_values
from perpetualcc.permissions.paths import Territory, Zone
from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.permissions.shell.directories import Directories
from perpetualcc.permissions.urls import HostKind, as_read, host_of, judge_url

_WRITES = frozenset(
    {"write", "create", "edit", "move", "copy", "save", "put", "append", "update", "insert",
     "patch", "rename", "replace", "upload", "download", "export", "set"}
)  # fmt: skip
_STATEMENT_KEY = re.compile(r"(?:^|_)(?:sql|statements?|cypher)$|^sql_query$")
_ADDRESS_KEY = re.compile(r"(?:^|_)(?:url|urls|uri|href|link|endpoint|website|webhook)$|url$")
_PATH_KEY = re.compile(r"path|file|dir(?:ectory)?$|^(?:source|destination|cwd|root|uri)$")
_OUTPUT_KEY = re.compile(r"output|dest|save|download|^filename$|target_?(?:path|dir|file)")
_WRITTEN_KEYS = frozenset(
    {"path", "paths", "file", "files", "file_path", "filepath", "file_paths", "relative_path",
     "destination", "target_file", "notebook_path"}
)  # fmt: skip
"""Names of what a tool that writes writes to, from wherever it is named."""
_CONTENT_KEYS = frozenset(
    {"content", "contents", "text", "body", "code", "new_text", "new_string", "new_str",
     "file_text", "data", "edits", "repl", "replacement", "diff"}
)  # fmt: skip
"""Names of what goes into a file."""
_RUN_KEYS = frozenset({"code", "input", "script", "stdin"})
"""Names of what is run as it is given."""
_LONGEST_PATH = 400
_SAME_PLACE = re.compile(r"/(?:\.?/)+")
"""`//` and `/./`: of a path nothing is hidden behind its length."""
_PROSE = frozenset(
    {"query", "q", "question", "prompt", "thought", "text", "title", "body", "content", "message",
     "description", "topic", "summary", "reason", "comment", "element", "jql", "search", "name"}
)  # fmt: skip
"""Names of what is words: with blanks in it, it is no path."""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,20}:", re.IGNORECASE)
_ADDRESS = re.compile(r"\s*[a-z][a-z0-9+.-]{1,20}:(?://|/\\|\\)", re.IGNORECASE)
_MAY_BE_HOST = re.compile(r"[.:/\\]|^(?:\d+|0x\w+|localhost|metadata)$", re.IGNORECASE)
_LIKE_A_COMMAND = re.compile(
    r"(?:^|[;&|(`'\"])\s*(?:rm|sudo|dd|sh|bash|zsh|eval|curl|wget|chmod|chown|mkfs\S*|git|kill|nc)"
    r"\s+(?=[^\n]*[-|;&>$`=])\S"
)
"""A program by whose name a line is one, with an option or an operator."""
_TIMES = frozenset(
    {"post", "pre", "then", "before", "after", "formatter", "transform", "template", "filter",
     "success", "failure", "start", "stop", "exit", "setup", "teardown", "cleanup", "callback"}
)  # fmt: skip
_STAGES = frozenset({"$out", "$merge", "$where", "$function", "$accumulator"})
"""Of MongoDB: they write, or run code."""
_NO_CODE = re.compile(r'"""(?:[^"]|"(?!""))*"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*')
_MUTATION = re.compile(r"(?:^|[\s,}\ufeff])mutation\b(?=\s*[\w(@{])")
"""Of GraphQL, wherever the operation stands, once texts and comments are gone."""
_FIELD = re.compile(r"\b[A-Za-z_]\w*(?=\()")
_CODE_KEYS = frozenset({"code", "script", "expression", "function", "javascript", "python", "js"})
_HOST_KEY = re.compile(r"(?:^|_)(?:host|hosts|hostname|domain|ip|server|target)$")
_METHODS = frozenset({"get", "head", "options"})
_CHANGING_METHODS = frozenset({"DELETE", "PUT", "PATCH"})
_LONGEST_CHOICE = 60


def judge_mcp(
    tool: str,
    values: Mapping[str, Any],
    territory: Territory,
    cwds: Directories,
    settings: PermissionSettings,
) -> list[Finding]:
    """What the name says, and what the values do; of a tool that does more than look, the worst."""
    name, given = read_name(tool), read_values(values)
    judge = _Values(name, territory, cwds, settings)
    found = [finding for key, text in given.texts for finding in judge.value(key, text)]
    found += judge.written(given)
    if any(holds_token(text) for _, text in given.texts):
        why = "What it sends away holds text that looks like a live token or key"
        found.append(_finding(Risk.HIGH, "token-leaves", tool, why, EffectKind.NETWORK))
    named = _named(tool, name, given)
    if named.risk is Risk.LOW:
        return [named, *found]
    return [named, *map(_as_known, found)]


def _as_known(finding: Finding) -> Finding:
    """
    Of a tool that does more than look: what it names is denied to it and beyond an authority as
    to any other, but is no worse than a call of the tool, which a rule may allow as a whole.
    """
    if finding.risk is Risk.HIGH or finding.is_guarded or finding.forbidden:
        return finding
    return replace(finding, risk=Risk.LOW)


def _named(tool: str, name: Name, given: Given) -> Finding:
    """What the name of the tool says, together with what the input chooses of its uses."""
    chosen = list(_chosen(given))
    worst = harm(name)
    told = "By its name" if worst else "By what it is asked for"
    worst = worst or [w for _, v in chosen if v.lower() != "post" for w in chosen_harm(v)]
    worst = worst or [word for _, text in given.texts for word in _mutated(text)]
    flags = {risk: key for key in sorted(given.flags) if (risk := risk_of_flag(key))}
    worst = worst or [k for k in sorted(given.as_flags) if risk_of_flag(k) is Risk.HIGH]
    worst = worst or [key for risk, key in flags.items() if risk is Risk.HIGH]
    statements = [text for key, text in given.texts if _is_statement(key, name)]
    asks = bool(statements) and all(only_asks(plain(text)) for text in statements)
    if asks and set(worst) <= {"execute", "exec", "run"}:
        return _look(tool, name)
    if not worst and (invited := _invited(given)) and not looks(name):
        worst, told = invited, "By whom it tells"
    if not _STAGES.isdisjoint(given.names):
        worst, told = [*worst, *sorted(_STAGES & given.names)], "By what it is given"
    if worst:
        why = f"{told} ({worst[0]!r}) a person answers for what it does"
        return _finding(Risk.HIGH, "mcp-destructive", tool, why)
    is_look = (
        looks(name)
        or (fetches(name) and any(_is_address(k) for k, _ in given.texts))
        or (is_plain(name) and any(k in _uses() and chosen_look(v) for k, v in chosen))
    )
    is_loose = (
        given.is_cut
        or Risk.MEDIUM in flags
        or (bool(statements) and not asks)
        or any(_is_code(key, text) for key, text in given.texts)
    )
    if is_look and not is_loose and all(_is_look_too(key, value) for key, value in chosen):
        return _look(tool, name)
    if moves_things(name) and not is_look:
        why = "It moves things in a house, or what runs in a cluster"
        return _finding(Risk.HIGH, "mcp-moves", tool, why)
    return _finding(
        Risk.MEDIUM, "mcp", tool, "A tool of an MCP server: what it does is not seen here"
    )


def _invited(given: Given) -> list[str]:
    """The field of those who are told of it, where somebody is in it."""
    fields = sorted(given.names.intersection(load_table("tools")["mcp"]["invited"]))
    is_somebody = any(key in fields or key.endswith("email") for key, _ in given.texts)
    return fields if is_somebody else []


def _look(tool: str, name: Name) -> Finding:
    risk = risk_of_look(name)
    why = {
        Risk.LOW: "A tool of an MCP server that only looks, by its name",
        Risk.MEDIUM: "Shows letters, or what there is of secrets",
        Risk.HIGH: "Shows what a keeper of secrets keeps",
    }[risk]
    return _finding(risk, "mcp-look", tool, why, EffectKind.READ, EffectKind.NETWORK)


def _is_code(key: str, text: str) -> bool:
    """GraphQL that changes something; a program in whatever language."""
    is_program = key in _CODE_KEYS and re.search(r"[(=;.]", text) is not None
    return is_program or _is_mutation(text)


def _is_mutation(text: str) -> bool:
    is_one = "mutation" in text and "{" in text
    return is_one and _MUTATION.search(_NO_CODE.sub(" ", text)) is not None


def _mutated(text: str) -> list[str]:
    """By which of its fields a person answers for a mutation: `deleteRef`."""
    if not _is_mutation(text):
        return []
    fields = _FIELD.findall(_NO_CODE.sub(" ", text))
    return [word for field in fields for word in chosen_harm(field)]


def _is_like_a_command(key: str, text: str) -> bool:
    """Under a name of what is run at some time: `{"hooks": [{"post": "rm -rf /"}]}`."""
    may_run = key.startswith("on_") or key.rpartition("_")[2] in _TIMES
    return may_run and len(text) < _LONGEST_PATH and _LIKE_A_COMMAND.search(text) is not None


def _chosen(given: Given) -> Iterator[tuple[str, str]]:
    """Words by which the input says what a tool of many uses does: `{"action": "delete"}`."""
    table = load_table("tools")["mcp"]
    for key, value in given.texts:
        is_name = len(value) < _LONGEST_CHOICE and re.fullmatch(r"[\w.:/-]+", value) is not None
        last = key.rpartition("_")[2]
        is_choosing = key in table["choosing"] or last in table["choosing_last"]
        if is_name and (is_choosing or value in _CHANGING_METHODS):
            yield key, value


def _uses() -> list[str]:
    uses: list[str] = load_table("tools")["mcp"]["choosing_uses"]
    return uses


def _is_look_too(key: str, value: str) -> bool:
    """A thing that is looked at, or a use that only looks."""
    table = load_table("tools")["mcp"]
    return key in table["choosing_things"] or value.lower() in _METHODS or chosen_look(value)


def _is_statement(key: str, name: Name) -> bool:
    return _STATEMENT_KEY.search(key) is not None or (
        key in {"query", "queries", "q"} and asks_statements(name)
    )


def _is_address(key: str) -> bool:
    return _ADDRESS_KEY.search(key) is not None


class _Values:
    """Judges what one tool is given, value by value."""

    def __init__(
        self, name: Name, territory: Territory, cwds: Directories, settings: PermissionSettings
    ) -> None:
        self.name, self.territory, self.cwds, self.settings = name, territory, cwds, settings
        self.writes = not _WRITES.isdisjoint(name.words)

    def value(self, key: str, value: str) -> list[Finding]:
        text = plain(value)
        if key in COMMAND_KEYS or key.endswith(("_command", "_cmd")):
            return self._command(text)
        if (runs(key) or _is_like_a_command(key, text)) and (found := self._run(text)):
            return found
        if _is_statement(key, self.name) or (asks_statements(self.name) and ";" in text):
            return _statement(text)
        if text[:5].lower() == "file:":
            return self._file(text)
        is_host = _is_address(key) or _HOST_KEY.search(key) is not None
        if _ADDRESS.match(text) or (is_host and _MAY_BE_HOST.search(text)):
            return self._address(text, is_named=_is_address(key))
        return self._path(key, text)

    def written(self, given: Given) -> list[Finding]:
        """What a tool that writes files puts into one, and code that it is given to run."""
        run = [text for key, text in given.texts if key in _RUN_KEYS]
        found = [finding for text in run for finding in judge_code("given code", text)]
        paths = [text for key, text in given.texts if key in _WRITTEN_KEYS]
        if not (self.writes and paths):
            return found
        path = self.territory.locate(plain(paths[0]), self.cwds).path
        texts = (text for key, text in given.texts if key in _CONTENT_KEYS)
        return found + [finding for text in texts for finding in judge_code(path, text)]

    def _command(self, text: str) -> list[Finding]:
        return CommandJudge(self.territory, self.settings.blocked_commands).text(text, self.cwds)

    def _run(self, text: str) -> list[Finding]:
        """It need not be a command, so only what is HIGH counts."""
        return [finding for finding in self._command(text) if finding.risk is Risk.HIGH]

    def _file(self, text: str) -> list[Finding]:
        try:
            path = unquote(urlsplit(text).path)
        except ValueError:
            return [judge_url(text, text[:200])]
        location = self.territory.locate(path, self.cwds)
        if fetches(self.name) and location.zone not in {Zone.SAFE, Zone.PROJECT}:
            return [judge_url(text, text[:200])]
        return [self.territory.read(path, self.cwds, text[:200])]

    def _address(self, text: str, *, is_named: bool) -> list[Finding]:
        text = as_read(text)
        if _SCHEME.match(text) is None or ("://" not in text and "." in text.partition(":")[0]):
            text = f"http://{text}"
        found = judge_url(text, text[:200], self.settings.trusted_hosts)
        is_sent = is_named or ("?" in text and re.search(r"\s", text.strip()) is None)
        if found.rule == HostKind.LOOPBACK or (found.rule == HostKind.PUBLIC and not is_sent):
            return []
        if found.rule == HostKind.PUBLIC and self._is_own_page(text):
            return []
        return [found]

    def _is_own_page(self, url: str) -> bool:
        """`https://acme.sentry.io/issues/1`, given to the server of that name."""
        *_, domain, _ = ("", "", *host_of(url).split("."))
        pages = load_table("tools")["mcp"]["pages"]
        return any(domain in {word, pages.get(word)} for word in self.name.server)

    def _path(self, key: str, text: str) -> list[Finding]:
        text = _SAME_PLACE.sub("/", text.replace("\\", "/").strip())
        is_named = _PATH_KEY.search(key) is not None
        is_prose = " " in text and key in _PROSE
        is_text = "\n" in text or len(text) > _LONGEST_PATH
        if not text or is_prose or (is_text and not is_named):
            return []
        is_written = self.writes or _OUTPUT_KEY.search(key) is not None
        if is_written and (text.startswith(("/", "~", ".")) or key in _WRITTEN_KEYS):
            return [self.territory.write(text, self.cwds, text[:_LONGEST_PATH])]
        if is_named or "/" in text or text.startswith("."):
            lists, part = "list" in self.name.own, text[:_LONGEST_PATH]
            return [self.territory.read(text, self.cwds, part, lists=lists)]
        return []


def _finding(risk: Risk, rule: str, tool: str, why: str, *kinds: EffectKind) -> Finding:
    return Finding(
        risk=risk, rule=rule, part=tool[:80], kind=apart(f"tool {tool}"), explanation=why,
        effects=tuple(Effect(kind=kind, target=tool) for kind in kinds or EffectKind),
    )  # fmt: skip


def _statement(text: str) -> list[Finding]:
    words = destroying(text)
    if words is None:
        return []
    why = f"{words!r} changes or deletes data, or the server"
    return [
        Finding(
            risk=Risk.HIGH, rule="database-change", part=text[:80], kind="database change",
            explanation=why, effects=(Effect(kind=EffectKind.DELETE),),
        )
    ]  # fmt: skip
