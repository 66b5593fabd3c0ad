"""
Where a run's tool calls and questions are held until they are answered.

A `PreToolUse` callback sees all calls, before anything else, and fails closed. What it lets through
is what was judged: a call that a hook of somebody else's may change comes back to `can_use_tool`.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import claude_agent_sdk as sdk

from perpetualcc.agent.inbox import Asked, Inbox, ToolWanted
from perpetualcc.agent.petitions import digest
from perpetualcc.claude import messages
from perpetualcc.claude.foreign_hooks import ForeignHooks
from perpetualcc.domain.decisions import DecidedBy, Decision, Verdict
from perpetualcc.domain.ids import RequestId

_STOP = {"continue_": False, "stopReason": "That is all for now; the work goes on later."}
"""With a call's answer: its reply is played to the end, and nothing follows. Claude Code (2.1.330)
keeps to it whether the call is let through or refused, succeeds or fails."""
_TWICE = "Another call with the same id is not decided yet; make this one again, by itself."
_COME_BACK = "PerpetualCC looks at what the hooks of the settings make of it"
"""The reason of an *ask* that is only ours: where a rule of Claude Code's or another hook asks as
well, `can_use_tool` is told of theirs, or of none (measured on 2.1.330)."""
_OVERHEARD = (
    "This is decided anew, {why}, and a PermissionRequest hook of the settings would answer first "
    "here. Make exactly this call again: then it is decided before that hook hears of it."
)
_WHY_ANEW = {
    True: "since Claude Code's own rules or a hook keep it for a person",
    False: "since a hook of the settings changed it",
}


@dataclass(frozen=True, slots=True)
class _Judged:
    """A call that was let through, and has no result yet."""

    given: Mapping[str, Any]
    """As Claude made it."""
    as_input: Mapping[str, Any]
    """As it was judged."""


@dataclass(frozen=True, slots=True)
class _NextTime:
    """What a call comes to that was refused so that it is made again."""

    as_input: Mapping[str, Any]
    is_kept: bool
    """For a person."""


class Gate:
    """The two callbacks of one run, and the answers to what they hold."""

    def __init__(self, inbox: Inbox) -> None:
        self.hooks = ForeignHooks()
        self.reminder = ""
        """For Claude, with the next call's result."""
        self._inbox = inbox
        self._held: dict[RequestId, asyncio.Future[dict[str, Any]]] = {}
        self._allowed_by_a_person: set[RequestId] = set()
        self._judged: dict[RequestId, _Judged] = {}
        self._next_time: dict[str, _NextTime] = {}
        """By what Claude gives."""
        self._cwd: Path | None = None
        """Where the shell stood at the newest call."""

    def respond(self, request: RequestId, decision: Decision, *, is_last: bool = False) -> None:
        allowed = decision.verdict is Verdict.ALLOW
        self._allowed_by_a_person.discard(request)  # an earlier call's, where ids come again
        if allowed and decision.decided_by in {DecidedBy.PERSON, DecidedBy.RULE}:
            self._allowed_by_a_person.add(request)
        answer = _hook_answer("allow" if allowed else "deny", decision.message or decision.reason)
        self.answer(request, answer | (_STOP if is_last else {}))

    def ended(self, request: RequestId) -> None:
        """The call has its result."""
        self._judged.pop(request, None)

    def answer(self, request: RequestId, answer: dict[str, Any]) -> None:
        held = self._held.get(request)
        if held is not None and not held.done():
            held.set_result(answer)

    async def _hold(self, request: RequestId) -> dict[str, Any]:
        held: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._held[request] = held
        try:
            return await held
        finally:
            del self._held[request]

    async def pre_tool_use(self, data: Any, tool_use_id: str | None, _context: Any) -> Any:
        """It sees every call. Questions go on to `can_use_tool`, unless others answer there."""
        tool = str(data.get("tool_name", ""))
        request = RequestId(str(tool_use_id or data.get("tool_use_id") or id(data)))
        told = data.get("tool_input")
        given = told if isinstance(told, dict) else {}
        if tool == messages.QUESTION_TOOL:
            return await self._answered(request, given) if self.hooks.answer_requests else {}
        place = data.get("cwd")
        self._cwd = Path(place) if isinstance(place, str) and place else None
        agent = str(data.get("agent_id") or "")
        answer = await self._judge(request, tool, given, agent)
        # Subagents do not get the reminder: it is their caller's.
        return answer if agent else self._with_reminder(answer)

    async def _judge(
        self, request: RequestId, tool: str, given: Mapping[str, Any], agent: str
    ) -> dict[str, Any]:
        """What was judged is let through; where a hook may change it, it is to come back."""
        known = self._next_time.get(digest(tool, given, self._cwd)) if self._next_time else None
        if known is None:
            known = _NextTime(given, is_kept=False)
            answer = await self._held_for(request, tool, given, agent=agent)
        elif known.is_kept:
            answer = await self._held_for(request, tool, known.as_input, agent=agent, again=request)
        else:
            answer = await self._held_for(
                request, tool, known.as_input, agent=agent, is_changed=True
            )
        if _allows(answer):
            self._judged[request] = _Judged(given, known.as_input)
            if known.as_input is not given or not await self.hooks.leave(tool):
                return answer | _hook_answer("ask", _COME_BACK)
        return answer

    async def _held_for(
        self,
        request: RequestId,
        tool: str,
        as_input: Mapping[str, Any],
        *,
        agent: str = "",
        again: RequestId | None = None,
        is_changed: bool = False,
    ) -> dict[str, Any]:
        if request in self._held:  # one answer would count for both
            return _hook_answer("deny", _TWICE)
        waiting = self._hold(request)
        self._inbox.put(
            ToolWanted(
                request=request,
                tool=tool,
                input=as_input,
                cwd=self._cwd,
                again=again,
                is_changed=is_changed,
                agent=agent,
            )
        )
        return await waiting

    def _with_reminder(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Claude reads it with the call's result; a hook after the call would cost every call."""
        if not self.reminder:
            return answer
        text, self.reminder = self.reminder, ""
        told = answer["hookSpecificOutput"] | {"additionalContext": text}
        return answer | {"hookSpecificOutput": told}

    async def can_use_tool(self, tool: str, tool_input: dict[str, Any], context: Any) -> Any:
        """
        Where questions arrive, and calls that were let through although a rule of Claude Code's
        says *ask* (a person's word on them counts, and nobody else's) or a hook may change them.
        """
        request = RequestId(str(getattr(context, "tool_use_id", None) or id(tool_input)))
        if tool != messages.QUESTION_TOOL:
            reason = getattr(context, "decision_reason", None)
            return await self._ask_again(request, tool, tool_input, is_kept=reason != _COME_BACK)
        if request in self._judged and self._judged[request].as_input == tool_input:
            return sdk.PermissionResultAllow()
        told = (await self._answered(request, tool_input))["hookSpecificOutput"]
        if told["permissionDecision"] == "allow":
            return sdk.PermissionResultAllow(updated_input=told["updatedInput"])
        return sdk.PermissionResultDeny(message=told["permissionDecisionReason"])

    async def _answered(self, request: RequestId, given: Mapping[str, Any]) -> dict[str, Any]:
        """What to say to questions, once they have answers."""
        questions = messages.questions(given)
        if not questions:
            return _hook_answer("deny", "The question has no text. Ask it in words.")
        waiting = self._hold(request)
        self._inbox.put(Asked(request=request, questions=questions))
        answer = await waiting
        if "answers" not in answer:
            return answer
        self._judged[request] = _Judged(given, {**given, **answer})
        told = _hook_answer("allow", "answered")
        told["hookSpecificOutput"]["updatedInput"] = {**given, **answer}
        return told

    async def _ask_again(
        self, request: RequestId, tool: str, tool_input: dict[str, Any], *, is_kept: bool
    ) -> Any:
        judged = self._judged.get(request, _Judged(tool_input, {}))
        is_same = judged.as_input == tool_input
        if is_same and (not is_kept or request in self._allowed_by_a_person):
            return sdk.PermissionResultAllow()
        if self.hooks.answer_requests:  # what is held here, another may answer
            place = digest(tool, judged.given, self._cwd)
            self._next_time[place] = _NextTime(tool_input, is_kept=is_kept)
            return sdk.PermissionResultDeny(message=_OVERHEARD.format(why=_WHY_ANEW[is_kept]))
        again = RequestId(f"{request}:again")
        answer = await self._held_for(
            again, tool, tool_input, again=request, is_changed=not is_kept
        )
        if _allows(answer):
            return sdk.PermissionResultAllow()
        reason = answer["hookSpecificOutput"]["permissionDecisionReason"]
        return sdk.PermissionResultDeny(message=reason)


def _hook_answer(verdict: str, reason: str) -> dict[str, Any]:
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": verdict,
            "permissionDecisionReason": reason,
        }
    }


def _allows(answer: Mapping[str, Any]) -> bool:
    return bool(answer["hookSpecificOutput"]["permissionDecision"] == "allow")
