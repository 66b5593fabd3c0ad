"""
Calls of MCP servers: what they do is the server's word, so what they are given is looked at.

A tool whose name says harm is believed. Values that are paths, statements, commands or
addresses are judged as what they are, and only what is HIGH there counts: nothing here makes a
call harmless.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.characters import plain
from perpetualcc.permissions.commands.judge import CommandJudge
from perpetualcc.permissions.commands.programs.databases import destroying
from perpetualcc.permissions.effects import Effect, EffectKind, Finding
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.paths import Territory
from perpetualcc.permissions.shell.directories import Directories
from perpetualcc.permissions.urls import judge_url

VALUE_LIMIT = 20_000
"""Characters of one value that are looked at."""
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_WRITES = frozenset(
    {"write", "create", "edit", "move", "copy", "save", "put", "append", "update", "insert",
     "patch", "rename", "replace", "upload", "download", "export", "set"}
)  # fmt: skip
_DATABASES = re.compile(
    r"sql|postgres|supabase|database|maria|bigquery|snowflake|duckdb|neon|planetscale|clickhouse|db\b",
    re.IGNORECASE,
)
_COMMAND_KEYS = frozenset({"command", "commands", "cmd", "commandline", "command_line", "bash"})
_STATEMENT_KEYS = frozenset({"sql", "statement", "statements"})


def judge_mcp(
    tool: str, values: Mapping[str, Any], territory: Territory, cwds: Directories
) -> list[Finding]:
    """What the name says, and what is HIGH in the values."""
    words = [word.lower() for word in _WORD.findall(tool)]
    findings = [_named(tool, words, values)]
    for key, value in _values(values):
        text = plain(value[:VALUE_LIMIT])
        if key in _COMMAND_KEYS or key.endswith(("_command", "_cmd")):
            found = CommandJudge(territory).text(text, cwds)
        elif key in _STATEMENT_KEYS or (key == "query" and _DATABASES.search(tool)):
            found = _statement(text)
        elif text.startswith(("http://", "https://", "file:")):
            found = [judge_url(text, text[:200])]
        elif _WRITES.intersection(words) and _is_path(text):
            found = [territory.write(text, cwds, text)]
        else:
            found = []
        findings += [finding for finding in found if finding.risk is Risk.HIGH]
    return findings


def _only_asks(tool: str, values: Mapping[str, Any]) -> bool:
    """Every statement it is given asks a database for something, and one is given."""
    given = [
        text
        for key, text in _values(values)
        if key in _STATEMENT_KEYS or (key == "query" and _DATABASES.search(tool))
    ]
    statements = [one for text in given for one in plain(text).split(";") if one.strip()]
    return bool(statements) and all(
        _ASKS.match(_REMARK.sub("", one)) and destroying(one) is None for one in statements
    )


_REMARK = re.compile(r"^(?:\s*--[^\n]*\n)+")
_ASKS = re.compile(r"\s*(?:select|show|explain|describe|values)\b", re.IGNORECASE)


def _named(tool: str, words: list[str], values: Mapping[str, Any]) -> Finding:
    named = load_table("tools")["mcp"]
    server, own = _parts(tool)
    chosen = [word for word in _chosen(values, named["choosing"]) if word != "post"]
    harm = sorted({*words, *chosen}.intersection(named["destructive"]))
    is_look = not {*own[:2]}.isdisjoint(named["looks"]) and {*own}.isdisjoint(named["joins"])
    if is_look:
        harm = [word for word in harm if word not in named["things"]]
    elif not {*server}.isdisjoint(named["speaking"]):
        harm += [word for word in own if word in named["speech"]]
    elif not {*server}.isdisjoint(named["paying"]):
        harm += [word for word in own if word in named["money"]]
    if set(harm) <= {"execute", "exec", "run"} and _only_asks(tool, values):
        harm = []
    if harm == ["run"] and not set(words).isdisjoint(named["run_and_look"]):
        harm = []
    if harm:
        told = "By its name" if harm[0] in words else "By what it is asked for"
        why = f"{told} ({harm[0]!r}) a person answers for what it does"
        return _finding(Risk.HIGH, "mcp-destructive", tool, why)
    return _finding(
        Risk.MEDIUM, "mcp", tool, "A tool of an MCP server: what it does is not seen here"
    )


def _chosen(values: Mapping[str, Any], choosing: list[str]) -> Iterator[str]:
    """Words by which the input says what a tool of many uses does: `{"action": "delete"}`."""
    for key, value in _values(values):
        if (
            key in choosing
            and len(value) < _LONGEST_CHOICE
            and value.replace("_", "a").isidentifier()
        ):
            yield from (word.lower() for word in _WORD.findall(value))


_LONGEST_CHOICE = 60


def _parts(tool: str) -> tuple[list[str], list[str]]:
    """The words of the server's name, and those of the tool's own."""
    _, _, named = tool.partition("__")
    server, _, own = named.partition("__")
    words = [[word.lower() for word in _WORD.findall(part)] for part in (server, own)]
    return words[0], [word for word in words[1] if word not in words[0]]


def _finding(risk: Risk, rule: str, tool: str, why: str) -> Finding:
    return Finding(
        risk=risk, rule=rule, part=tool[:80], kind=f"tool {tool[:60]}", explanation=why,
        effects=tuple(Effect(kind=kind, target=tool) for kind in EffectKind),
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


def _is_path(text: str) -> bool:
    return len(text) < 400 and "\n" not in text and text.startswith(("/", "~", ".", "../"))


def _values(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Every text in the input, with the name it has."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping) and depth < 5:
        for name, inner in list(value.items())[:100]:
            yield from _values(inner, str(name).lower(), depth + 1)
    elif isinstance(value, list | tuple) and depth < 5:
        for inner in value[:100]:
            yield from _values(inner, key, depth + 1)
