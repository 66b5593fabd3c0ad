"""From the SDK's messages to what may arrive in an inbox. Pure; survives any shape."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import claude_agent_sdk as sdk

from perpetualcc.agent.inbox import (
    ApiTriedAgain,
    Arrival,
    BackgroundBegan,
    BackgroundChanged,
    LimitReported,
    MessageEnded,
    Said,
    Started,
    ToolEnded,
    ToolWanted,
    TroubleReported,
    TurnEnded,
)
from perpetualcc.domain.ids import RequestId
from perpetualcc.domain.limits import WindowUse
from perpetualcc.domain.questions import Option, Question

QUESTION_TOOL = "AskUserQuestion"
_SYNTHETIC = "<synthetic>"
_WINDOWS = ("five_hour", "seven_day", "seven_day_overage_included")
"""Of a subscription, as `unifiedWindows` calls them (Claude Code 2.1.332)."""
_WINDOW = re.compile(r"five_hour|seven_day(?:_[a-z0-9_]{1,40})?|overage")
"""What a word on one of them may be about."""
_NO_NUMBER = 1e300
_LONGEST_RESULT = 2000
"""Characters of a tool result that are worth keeping in the event log."""
_TOLD_APART = 50_000
"""Characters at either end of a result by which it is told from others."""
_WHEN = re.compile(
    r"(?<!\d)\d{1,9}(?:\.\d{1,9})?\s?(?:[mµn]?s|secs?|seconds?|minutes?)\b"
    r"|\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?|\d{4}-\d{2}-\d{2}|\b0x[0-9a-f]+\b",
    re.IGNORECASE,
)
"""How long something took, when it was, and where in memory it lay."""


def arrivals(message: Any) -> Iterator[Arrival]:  # noqa: C901  # a table, one line each
    """Translate one message. Messages of kinds we do not know yield nothing."""
    match message:
        case sdk.SystemMessage(subtype="init", data=data):
            yield Started(
                model=str(data.get("model", "")),
                permission_mode=str(data.get("permissionMode", "")),
                version=str(data.get("claude_code_version", "")),
            )
        case sdk.SystemMessage(subtype="api_retry", data=data):
            yield _tried_again(data)
        case sdk.SystemMessage(subtype="background_tasks_changed", data=data):
            yield BackgroundChanged(works=dict(_works(data.get("tasks"))))
        case sdk.SystemMessage(subtype="task_started", data=data):
            request = RequestId(str(data.get("tool_use_id") or ""))
            yield BackgroundBegan(work=str(data.get("task_id") or ""), request=request)
        case sdk.AssistantMessage(error=str(error)):
            yield TroubleReported(kind=error, text=_text(message.content))
        case sdk.AssistantMessage() if message.model != _SYNTHETIC:
            yield from _said(message)
        case sdk.UserMessage(content=list(content)):
            yield from _subagent_ended(message)
            yield from _tool_results(content)
        case {"type": "command_lifecycle", "state": "completed", "command_uuid": str(uuid)}:
            yield MessageEnded(message=uuid)
        case sdk.RateLimitEvent(rate_limit_info=info):
            yield _limit(info)
        case sdk.ResultMessage():
            yield _turn_ended(message)


def questions(tool_input: Mapping[str, Any]) -> tuple[Question, ...]:
    """The questions of an `AskUserQuestion` call; those without a text are left out."""
    found = tool_input.get("questions")
    if not isinstance(found, list):
        return ()
    return tuple(
        Question(
            text=str(item.get("question", "")),
            header=str(item.get("header", "")),
            multi_select=item.get("multiSelect") is True,
            options=tuple(_options(item.get("options"))),
        )
        for item in found
        if isinstance(item, dict) and item.get("question")
    )


def _options(found: Any) -> Iterator[Option]:
    for item in found if isinstance(found, list) else []:
        if isinstance(item, dict):
            yield Option(
                label=str(item.get("label", "")),
                description=str(item.get("description", "")),
                preview=str(item.get("preview") or ""),
            )


def _works(found: Any) -> Iterator[tuple[str, str]]:
    """Not those that are `ambient`: Claude Code's word for a watcher that is no activity."""
    for item in found if isinstance(found, list) else []:
        if isinstance(item, dict) and item.get("ambient") is not True:
            yield str(item.get("task_id", "")), str(item.get("task_type", ""))


def _tried_again(data: Mapping[str, Any]) -> ApiTriedAgain:
    status = data.get("error_status")
    return ApiTriedAgain(
        attempt=int(data.get("attempt") or 0),
        most=int(data.get("max_retries") or 0),
        pause=float(data.get("retry_delay_ms") or 0) / 1000,
        http_status=int(status) if status else None,
    )


def _said(message: sdk.AssistantMessage) -> Iterator[Arrival]:
    text = _text(message.content)
    if text.strip() or message.usage:
        top_level = message.parent_tool_use_id is None
        yield Said(
            text=text,
            context_tokens=_context(message.usage) if top_level else None,
            message=message.message_id or message.uuid or "",
            tokens_fresh=_fresh_input(message.usage or {}),
            tokens_out=_estimated(message.content),
            is_beside=not top_level,
            calls=tuple(_calls(message.content)) if top_level else (),
        )


def _subagent_ended(message: sdk.UserMessage) -> Iterator[Said]:
    """A subagent's last reply comes as its caller's result, with the tokens of this reply alone."""
    result = message.tool_use_result
    if not isinstance(result, dict) or "agentId" not in result:
        return
    usage = result.get("usage")
    if isinstance(usage, dict):
        yield Said(
            text="",
            message=message.uuid or "",
            tokens_fresh=_fresh_input(usage),
            tokens_out=_count(usage.get("output_tokens")),
            is_beside=True,
        )


def _calls(content: list[Any]) -> Iterator[ToolWanted]:
    for block in content:
        if isinstance(block, sdk.ToolUseBlock):
            yield ToolWanted(request=RequestId(block.id), tool=block.name, input=block.input)


def _fresh_input(usage: Mapping[str, Any]) -> int:
    names = ("input_tokens", "cache_creation_input_tokens")
    return sum(int(usage.get(name) or 0) for name in names)


def _estimated(content: list[Any]) -> int:
    """Four characters a token, in text, thought and tool calls."""
    length = 0
    for block in content:
        match block:
            case sdk.TextBlock(text=text) | sdk.ThinkingBlock(thinking=text):
                length += len(text)
            case sdk.ToolUseBlock(input=given):
                length += len(json.dumps(given, default=str))
    return length // 4


def _context(usage: Mapping[str, Any] | None) -> int | None:
    """Tokens that the context holds after a reply: all that went in, and what came out."""
    if not usage:
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    went_in = sum(_count(usage.get(name)) for name in names)
    # No request is empty: some gateways just do not say.
    return went_in + _count(usage.get("output_tokens")) if went_in else None


def _count(told: object) -> int:
    return int(_amount(told))


def _amount(told: object) -> float:
    """What a gateway calls a number may be none: hours of work are not lost for it."""
    return max(0.0, _number(told) or 0.0)


def _number(told: object) -> float | None:
    """None: it is no number, or one that nothing can be reckoned with."""
    if not isinstance(told, int | float) or isinstance(told, bool):
        return None
    # Compared and not converted: a whole number may be too large for that.
    return float(told) if abs(told) < _NO_NUMBER else None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content if isinstance(block, sdk.TextBlock))


def _tool_results(content: list[Any]) -> Iterator[Arrival]:
    for block in content:
        if isinstance(block, sdk.ToolResultBlock):
            text = block.content if isinstance(block.content, str) else _joined(block.content)
            yield ToolEnded(
                request=RequestId(block.tool_use_id),
                is_error=bool(block.is_error),
                text=text[:_LONGEST_RESULT],
                size=len(text.encode("utf-8", "replace")),
                digest=_digest(text),
            )


def _digest(text: str) -> str:
    ends = text if len(text) <= 2 * _TOLD_APART else text[:_TOLD_APART] + text[-_TOLD_APART:]
    return hashlib.sha256(_WHEN.sub("", ends).encode("utf-8", "replace")).hexdigest()


def _joined(content: Any) -> str:
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _limit(info: sdk.RateLimitInfo) -> LimitReported:
    raw: Any = info.raw
    told = raw if isinstance(raw, dict) else {}
    window, used = str(info.rate_limit_type or ""), _number(info.utilization)
    resets_at = _number(info.resets_at)
    uses = {use.window: use for use in _windows(told.get("unifiedWindows"))}
    if used is not None and _WINDOW.fullmatch(window):
        uses.setdefault(window, WindowUse(window=window, used=max(0.0, used), resets_at=resets_at))
    return LimitReported(
        status=str(info.status),
        window=window,
        resets_at=resets_at,
        utilization=used,
        is_overage=told.get("isUsingOverage") is True,
        windows=tuple(uses.values()),
    )


def _windows(found: Any) -> Iterator[WindowUse]:
    """Those we know: what else a gateway makes up would be kept for good."""
    for window in _WINDOWS if isinstance(found, dict) else ():
        told = found.get(window)
        if isinstance(told, dict) and (used := _number(told.get("utilization"))) is not None:
            resets_at = _number(told.get("resetsAt"))
            yield WindowUse(window=window, used=max(0.0, used), resets_at=resets_at)


def _is_told_of_background(message: sdk.ResultMessage) -> bool:
    origin = getattr(message, "origin", None)
    return isinstance(origin, dict) and origin.get("kind") == "task-notification"


def _turn_ended(message: sdk.ResultMessage) -> TurnEnded:
    usage = message.usage or {}
    windows = [_count(m.get("contextWindow")) for m in (message.model_usage or {}).values()]
    # No turn of Claude's: a hook of the user's stopped the prompt, or it was an unknown command.
    has_no_part = message.num_turns == 0
    is_told = has_no_part and _is_told_of_background(message)
    return TurnEnded(
        is_error=bool(message.is_error) or (has_no_part and not is_told),
        subtype=message.subtype,
        result=message.result or "\n".join(message.errors or []),
        turns=message.num_turns,
        tokens_in=max(0, (_context(usage) or 0) - _count(usage.get("output_tokens"))),
        tokens_out=_count(usage.get("output_tokens")),
        tokens_cached=_count(usage.get("cache_read_input_tokens")),
        cost_usd=_amount(message.total_cost_usd),
        context_window=max(windows, default=0) or None,
        is_empty=is_told,
        heard=tuple(_heard(message)),
    )


def _heard(message: sdk.ResultMessage) -> Iterator[str]:
    """Claude Code lists at most 64, and those that it answers are fewer."""
    listed = [*(message.user_message_uuids or []), message.user_message_uuid]
    yield from (str(one) for one in dict.fromkeys(listed) if one)
