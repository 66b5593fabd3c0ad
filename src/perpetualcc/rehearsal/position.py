"""
Where a conversation stands in its scene, read from the conversation itself.

Nothing is counted on the server, so a Claude Code that was killed and resumed, and a server
that was restarted, both go on at the right step. Scripted tool calls carry scene and step in
their ids; a reply without tools is recognised by its text; a summary of a compacted
conversation carries a mark that its first request shows again.
"""

import itertools
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from perpetualcc.rehearsal.scenario import Scene

_TOOL_ID = re.compile(r"^toolu_01r(\d+)s(\d+)c(\d+)x[0-9a-f]+$")
_MARK = re.compile(r"\[rehearsal: ([^\]/]+)(?:/(\d+))?\]")
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a request's history tells about the play."""

    step: int
    """The step to play next, counted from 0."""
    news: str
    """All that Claude Code sent since the last scripted reply: prompts, results, reminders."""
    prompt: str
    """The part of the news that a person typed."""
    fresh: Sequence[dict[str, Any]] = ()
    """The messages that hold the news."""


def tool_id(scene: int, step: int, call: int) -> str:
    """Name a tool call so that it can be placed again; unique when a step is played twice."""
    return f"toolu_01r{scene}s{step}c{call}x{secrets.token_hex(5)}"


def mark(scene: str, step: int) -> str:
    """Text that puts a conversation at a step when its history is gone."""
    return f"[rehearsal: {scene}/{step}]"


def marked_scene(messages: Sequence[dict[str, Any]]) -> str | None:
    """The scene that a prompt names, if one does."""
    found = _MARK.search(first_prompt(messages))
    return found[1].strip() if found else None


def played_scene(messages: Sequence[dict[str, Any]]) -> int | None:
    """The scene whose tool calls are in the history."""
    for message in messages:
        for block in _blocks(message):
            found = _TOOL_ID.match(str(block.get("id", "")))
            if found:
                return int(found[1])
    return None


def first_prompt(messages: Sequence[dict[str, Any]]) -> str:
    """What the person said before the first reply."""
    before = itertools.takewhile(lambda message: message.get("role") != "assistant", messages)
    return _typed(before)


def standing(scene: Scene, messages: Sequence[dict[str, Any]]) -> Standing:
    """Find the next step, and the news since the step before it."""
    step, after = 0, 0
    for number, message in enumerate(messages):
        reached = _reached(scene, step, message)
        if reached is not None:
            step = reached
            after = number + (message.get("role") == "assistant")
    fresh = [message for message in messages[after:] if message.get("role") != "assistant"]
    news = "\n".join(map(message_text, fresh))
    return Standing(step=step, news=news, prompt=_typed(fresh), fresh=fresh)


def _typed(messages: Iterable[dict[str, Any]]) -> str:
    """The texts of the user's messages, without tool results and Claude Code's reminders."""
    texts = []
    for message in messages:
        if message.get("role") == "user":
            content = message.get("content", "")
            texts += [content] if isinstance(content, str) else []
            texts += [str(block.get("text", "")) for block in _blocks(message)]
    return _REMINDER.sub("", "\n".join(text for text in texts if text)).strip()


def _reached(scene: Scene, step: int, message: dict[str, Any]) -> int | None:
    """The step after the one that this message shows, if it shows one."""
    if message.get("role") != "assistant":
        found = _MARK.search(_typed([message]))
        return int(found[2]) if found and found[2] else None
    for block in reversed(list(_blocks(message))):
        found = _TOOL_ID.match(str(block.get("id", "")))
        if found:
            return int(found[2]) + 1
    said = message_text(message).strip()
    if step < len(scene.replies) and _same_text(scene.replies[step].say, said):
        return step + 1
    return None


def _same_text(scripted: str, said: str) -> bool:
    """Compare a scripted text with what was said, where `{project}` may stand for anything."""
    parts = [re.escape(part) for part in re.split(r"\{(?:project|prompt)\}", scripted.strip())]
    return re.fullmatch(".*".join(parts), said, re.DOTALL) is not None


def message_text(message: dict[str, Any]) -> str:
    """The texts of a message, tool results among them."""
    return "\n".join(_texts(message.get("content", "")))


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for block in content or ():
        if isinstance(block, dict):
            yield from _texts(block.get("text") or block.get("content") or "")


def _blocks(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    content = message.get("content", "")
    if isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))
