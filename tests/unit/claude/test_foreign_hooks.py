"""Whether a hook that is not ours may change a call, or answer in our place."""

import asyncio
import time

import pytest

from perpetualcc.claude.foreign_hooks import ForeignHooks


def event(phase, hook="h", of="PreToolUse:Bash", output=""):
    return {"subtype": f"hook_{phase}", "hook_id": hook, "hook_name": of, "output": output}


CHANGED = '{"hookSpecificOutput": {"updatedInput": {"command": "ls"}}}'


def test_a_call_that_no_hook_looks_at_keeps_its_input():
    hooks = ForeignHooks()
    hooks.saw(event("started", of="PreToolUse:Write"))
    hooks.saw(event("started", of="PostToolUse:Bash"))

    assert asyncio.run(hooks.leave("Bash"))


@pytest.mark.parametrize(("output", "keeps"), [("", True), ("noted", True), (CHANGED, False)])
def test_hooks_at_work_are_waited_for(output, keeps):
    hooks = ForeignHooks()

    async def leaves():
        for hook in ("quick", "slow"):
            hooks.saw(event("started", hook))
        loop = asyncio.get_running_loop()
        loop.call_later(0.01, hooks.saw, event("response", "quick"))
        loop.call_later(0.03, hooks.saw, event("response", "slow", output=output))
        return await hooks.leave("Bash")

    assert asyncio.run(leaves()) is keeps
    assert asyncio.run(hooks.leave("Bash")) is keeps  # what one of them did, it may do again
    assert asyncio.run(hooks.leave("Write"))


def test_one_that_does_not_end_is_waited_for_once():
    hooks = ForeignHooks()
    hooks.saw(event("started"))

    async def seconds():
        before = time.monotonic()
        assert not await hooks.leave("Bash")
        return time.monotonic() - before

    async def twice():
        return await seconds(), await seconds()

    first, second = asyncio.run(twice())

    assert first >= 1 > second


@pytest.mark.parametrize(
    ("listing", "answer"),
    [
        ({}, True),  # it did not tell
        ({"hooks": "of another form"}, True),
        ({"hooks": []}, False),
        ({"hooks": [{"event": "PreToolUse"}]}, False),
        ({"hooks": [{"event": "PreToolUse"}, {"event": "PermissionRequest"}]}, True),
    ],
)
def test_who_answers_beside_us_is_known_from_the_list(listing, answer):
    hooks = ForeignHooks()

    hooks.listed(listing)

    assert hooks.answer_requests is answer


def test_one_that_was_not_listed_is_seen_at_work():
    hooks = ForeignHooks()
    hooks.listed({"hooks": []})

    hooks.saw(event("started", of="PermissionRequest:Bash"))

    assert hooks.answer_requests
