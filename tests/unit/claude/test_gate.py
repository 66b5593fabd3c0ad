"""What is let through is what was judged, whatever Claude Code comes back with."""

import asyncio
from types import SimpleNamespace

import pytest

from perpetualcc.agent.inbox import Inbox
from perpetualcc.claude.gate import _COME_BACK, Gate
from perpetualcc.domain.decisions import DecidedBy, Decision, Verdict
from perpetualcc.domain.ids import RequestId, RunId
from perpetualcc.domain.tools import Risk

GIVEN, CHANGED = {"command": "touch a"}, {"command": "rm a"}
STARTED = {"subtype": "hook_started", "hook_id": "1", "hook_name": "PreToolUse:Bash"}
REWROTE = STARTED | {"subtype": "hook_response", "output": '{"updatedInput": {}}'}


class Run:
    """A gate whose calls are all decided by one rule; what it was asked is kept."""

    def __init__(self, *, rewrites=False, answers_requests=False):
        inbox = Inbox()
        self.gate, self.asked = Gate(inbox), []
        inbox.put = self.decide
        self.refused, self.decided_by = [], DecidedBy.POLICY
        listed = [{"event": "PermissionRequest"}] if answers_requests else []
        self.gate.hooks.listed({"hooks": listed})
        for event in (STARTED, REWROTE) if rewrites else ():
            self.gate.hooks.saw(event)

    def decide(self, wanted):
        self.asked.append(wanted)
        decision = Decision(
            request=wanted.request,
            run=RunId("r"),
            verdict=Verdict.DENY if wanted.input in self.refused else Verdict.ALLOW,
            risk=Risk.LOW,
            confidence=1.0,
            reason="because",
            decided_by=self.decided_by,
        )
        asyncio.get_running_loop().call_soon(self.gate.respond, wanted.request, decision)

    async def call(self, given=GIVEN, request="1"):
        data = {"tool_name": "Bash", "tool_input": given, "cwd": "/p"}
        told = await self.gate.pre_tool_use(data, request, None)
        return told["hookSpecificOutput"]["permissionDecision"]

    async def comes_back(self, given, reason=_COME_BACK, request="1"):
        context = SimpleNamespace(tool_use_id=request, decision_reason=reason)
        return (await self.gate.can_use_tool("Bash", given, context)).behavior


def test_where_no_hook_may_change_it_a_call_is_let_through_at_once():
    run = Run()

    assert asyncio.run(run.call()) == "allow"


def test_where_a_hook_may_it_comes_back():
    run = Run(rewrites=True)

    async def play():
        return await run.call(), await run.comes_back(GIVEN)

    assert asyncio.run(play()) == ("ask", "allow")
    assert len(run.asked) == 1


@pytest.mark.parametrize("refused", [False, True])
def test_what_was_changed_is_judged(refused):
    run = Run(rewrites=True)
    run.refused = [CHANGED] if refused else []

    async def play():
        return await run.call(), await run.comes_back(CHANGED)

    assert asyncio.run(play()) == ("ask", "deny" if refused else "allow")
    wanted = run.asked[1]
    assert (wanted.input, wanted.again, wanted.is_changed) == (CHANGED, RequestId("1"), True)


@pytest.mark.parametrize("by", [DecidedBy.POLICY, DecidedBy.PERSON])
def test_a_word_given_for_a_call_counts_for_nothing_else(by):
    """Also not where a rule of Claude Code's keeps what became of it."""
    run = Run()
    run.decided_by = by

    async def play():
        await run.call()
        return await run.comes_back(CHANGED, reason=None)

    assert asyncio.run(play()) == "allow"
    wanted = run.asked[1]
    assert (wanted.input, wanted.again, wanted.is_changed) == (CHANGED, RequestId("1"), False)


@pytest.mark.parametrize("by", [DecidedBy.POLICY, DecidedBy.PERSON, DecidedBy.RULE])
def test_what_a_rule_keeps_only_a_person_lets_through(by):
    run = Run(rewrites=True)
    run.decided_by = by

    async def play():
        await run.call()
        await run.comes_back(GIVEN, reason="a rule's")

    asyncio.run(play())

    assert len(run.asked) == (2 if by is DecidedBy.POLICY else 1)


@pytest.mark.parametrize(("reason", "is_kept"), [(_COME_BACK, False), (None, True)])
def test_nothing_is_held_where_another_may_answer(reason, is_kept):
    run = Run(rewrites=True, answers_requests=True)

    async def play():
        first = await run.call(), await run.comes_back(CHANGED, reason)
        assert len(run.asked) == 1
        run.decided_by = DecidedBy.PERSON
        second = await run.call(request="2"), await run.comes_back(CHANGED, reason, request="2")
        return first, second

    assert asyncio.run(play()) == (("ask", "deny"), ("ask", "allow"))
    wanted = run.asked[1]
    assert (wanted.input, wanted.is_changed) == (CHANGED, not is_kept)
    assert (wanted.again is not None) is is_kept


def test_what_was_said_of_a_call_counts_until_its_result():
    run = Run(rewrites=True)

    async def play():
        await run.call()
        run.gate.ended(RequestId("1"))
        await run.comes_back(GIVEN)

    asyncio.run(play())

    assert len(run.asked) == 2
