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
# What Claude Code (2.1.330) puts in place of a result: nobody was there to allow the call, whoever
# it asked went away before answering, or the process died before the result was written.
_NOBODY_THERE = "The user doesn't want to take this action right now. STOP"
_LEFT = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file). STOP"
)
_CUT_OFF = (_NOBODY_THERE, _LEFT, "[Tool call interrupted: the session ended before")
# How a prompt that came during a turn reaches the model, as a message of the system (2.1.330).
_MEANWHILE = re.compile(
    r"The user sent a new message while you were working:\n(.*?)(?:\n\nThis is how Claude Code|$)",
    re.DOTALL,
)
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
    told_to_stop: bool = False
    """The newest tools were refused because nobody was there, and nobody has come since."""


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
    step, after, cut_off = 0, 0, _cut_off(messages)
    for number, message in enumerate(messages):
        if message.get("role") != "assistant":
            step = _called(scene, step, _typed([message]))
            continue
        reached = _reached(scene, step, message, cut_off)
        if reached is not None:
            step, after = reached, number + 1
    fresh = [message for message in messages[after:] if message.get("role") != "assistant"]
    return Standing(
        step=step,
        news="\n".join(map(message_text, fresh)),
        prompt=_typed(fresh),
        fresh=fresh,
        told_to_stop=_told_to_stop(messages),
    )


def _cut_off(messages: Sequence[dict[str, Any]]) -> set[str]:
    """Ids of the tool calls that have no real result, nor an answer in a prompt."""
    cut = {
        str(block.get("tool_use_id"))
        for message in messages
        for block in _blocks(message)
        if block.get("is_error") and message_text({"content": [block]}).startswith(_CUT_OFF)
    }
    return cut - _answered_since(messages) if cut else cut


def _answered_since(messages: Sequence[dict[str, Any]]) -> set[str]:
    """Ids of the questions that a prompt takes up: "a person answered: which database? …"."""
    asked: dict[str, list[str]] = {}
    answered: set[str] = set()
    for message in messages:
        typed = _typed([message])
        answered |= {one for one, texts in asked.items() if any(text in typed for text in texts)}
        for block in _blocks(message):
            if block.get("name") == "AskUserQuestion":
                questions = block.get("input", {}).get("questions", [])
                asked[str(block.get("id"))] = [str(one.get("question")) for one in questions]
    return answered


def _told_to_stop(messages: Sequence[dict[str, Any]]) -> bool:
    turns = itertools.takewhile(lambda one: one.get("role") != "assistant", reversed(messages))
    newest = list(turns)
    refused = any(message_text(message).startswith(_NOBODY_THERE) for message in newest)
    return refused and not _typed(newest)


def _typed(messages: Iterable[dict[str, Any]]) -> str:
    """The texts of the user's messages, without tool results and Claude Code's reminders."""
    texts = []
    for message in messages:
        if message.get("role") == "user":
            content = message.get("content", "")
            texts += [content] if isinstance(content, str) else []
            texts += [str(block.get("text", "")) for block in _blocks(message)]
        else:
            texts += _MEANWHILE.findall(message_text(message))
    return _REMINDER.sub("", "\n".join(text for text in texts if text)).strip()


def _called(scene: Scene, step: int, typed: str) -> int:
    """The step that a prompt leads to: where its mark says, or the next that waits for it."""
    found = _MARK.search(typed)
    if found and found[2]:
        return int(found[2])
    for ahead in range(step, len(scene.replies)) if typed else ():
        waits_for = scene.replies[ahead].on_prompt
        if waits_for and waits_for.matches(typed):
            return ahead
    return step


def _reached(scene: Scene, step: int, message: dict[str, Any], cut_off: set[str]) -> int | None:
    """The step after the one that a reply shows, if it shows one."""
    ids = [str(block["id"]) for block in _blocks(message) if "id" in block]
    played = [int(found[2]) for found in map(_TOOL_ID.match, ids) if found]
    if played:
        again = not cut_off.isdisjoint(ids) and not _once(scene, played[-1])
        return None if again else played[-1] + 1
    said = message_text(message).strip()
    if step < len(scene.replies) and _same_text(scene.replies[step].say, said):
        return step + 1
    return None


def _once(scene: Scene, step: int) -> bool:
    return step < len(scene.replies) and scene.replies[step].once


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
