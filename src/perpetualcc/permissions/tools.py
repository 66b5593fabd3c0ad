"""Every tool of Claude Code, and what a call of it would do. An unknown tool is never LOW."""

from collections.abc import Callable, Mapping
from typing import Any

from perpetualcc.domain.tools import Risk, ToolCall
from perpetualcc.permissions.characters import judge_characters, plain
from perpetualcc.permissions.commands.judge import CommandJudge
from perpetualcc.permissions.effects import Effect, EffectKind, Finding
from perpetualcc.permissions.paths import Territory
from perpetualcc.permissions.settings import PermissionSettings

COMMAND_LIMIT = 400_000
"""Characters of one command. Longer ones are refused unread."""

Judgement = list[Finding]


class MalformedInput(Exception):  # noqa: N818  # the name says what is wrong, to the reader of a reason
    """A field is missing or has the wrong type."""


def judge_tool(call: ToolCall, territory: Territory, settings: PermissionSettings) -> Judgement:
    """What `call` would do. At least one finding."""
    tool = call.tool if isinstance(call.tool, str) else ""
    tool_input = call.input
    if not isinstance(tool_input, Mapping):
        return [_malformed(tool, "its input is not an object")]
    cwd = str(call.cwd) if call.cwd is not None else territory.project
    judge = _TOOLS.get(tool) or (_mcp if tool.startswith("mcp__") else _unknown)
    try:
        return judge(Request(tool, tool_input, territory, settings, cwd))
    except MalformedInput as malformed:
        return [_malformed(tool, str(malformed))]


class Request:
    """One call, with its input read field by field."""

    def __init__(
        self,
        tool: str,
        tool_input: Mapping[str, Any],
        territory: Territory,
        settings: PermissionSettings,
        cwd: str,
    ) -> None:
        self.tool, self.input, self.territory = tool, tool_input, territory
        self.settings, self.cwd = settings, cwd

    def text(self, *names: str) -> str:
        """The first of these fields that is there. Raises MalformedInput when it is no text."""
        for name in names:
            value = self.input.get(name)
            if isinstance(value, str) and value:
                return value
            if value is not None:
                raise MalformedInput(f"{name!r} is not a text")
        raise MalformedInput(f"{names[0]!r} is missing")


def _malformed(tool: str, why: str) -> Finding:
    return Finding(
        risk=Risk.MEDIUM, rule="malformed-input", part=tool, kind=f"malformed {tool}",
        explanation=f"The call cannot be understood: {why}",
        effects=(Effect(kind=EffectKind.EXECUTE),),
    )  # fmt: skip


def _unknown(request: Request) -> Judgement:
    return [
        Finding(
            risk=Risk.MEDIUM,
            rule="unknown-tool",
            part=request.tool,
            kind=f"tool {request.tool[:40]}",
            explanation=f"Nothing is known about the tool {request.tool[:60]!r}",
            effects=(Effect(kind=EffectKind.EXECUTE),),
        )  # fmt: skip
    ]


def _bash(request: Request) -> Judgement:
    command = request.text("command")
    if len(command) > COMMAND_LIMIT:
        return [
            Finding(
                risk=Risk.HIGH,
                rule="too-long",
                part=command[:60],
                kind="too long",
                explanation=f"{len(command)} characters are too long to judge",
                effects=(Effect(kind=EffectKind.EXECUTE),),
            )  # fmt: skip
        ]
    judge = CommandJudge(request.territory)
    return judge_characters(command) + judge.text(plain(command), (request.cwd,))


def _path_of(request: Request) -> tuple[str, Judgement]:
    path = request.text("file_path", "notebook_path", "path")
    return plain(path), judge_characters(path)


def _read(request: Request) -> Judgement:
    path, findings = _path_of(request)
    return [*findings, request.territory.read(path, (request.cwd,), path)]


def _write(request: Request) -> Judgement:
    path, findings = _path_of(request)
    return [*findings, request.territory.write(path, (request.cwd,), path)]


def _mcp(request: Request) -> Judgement:
    return _unknown(request)


_TOOLS: dict[str, Callable[[Request], Judgement]] = {
    "Bash": _bash,
    "Read": _read,
    "Write": _write,
    "Edit": _write,
    "MultiEdit": _write,
    "NotebookEdit": _write,
}
