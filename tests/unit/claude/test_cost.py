"""What a process cost, when it does not answer at once."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from perpetualcc.claude.adapter import ClaudeCodeAdapter
from tests.unit.agent.test_supervision import LAUNCH


@pytest.mark.parametrize(("resume", "paid"), [(True, 1.5), (False, 4.0)])
def test_a_resumed_conversation_is_not_paid_twice_on_a_crowded_machine(resume, paid):
    answers = iter([TimeoutError(), TimeoutError(), "cost: $2.50", "cost: $4.00"])

    async def told(_request):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return {"text": answer}

    async def main():
        adapter = ClaudeCodeAdapter(replace(LAUNCH, resume=resume), None, None, None)
        adapter._client = SimpleNamespace(_query=SimpleNamespace(_send_control_request=told))
        await adapter._begin_count()
        while (usd := await adapter.cost_usd()) is None or (not resume and usd < 4):
            pass
        return usd

    assert asyncio.run(main()) == paid
