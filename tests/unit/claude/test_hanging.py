"""A Claude Code that is asked something and does not answer."""

import asyncio
from types import SimpleNamespace

import pytest

from perpetualcc.claude import adapter as module
from perpetualcc.claude.adapter import ClaudeCodeAdapter
from tests.unit.agent.test_supervision import LAUNCH


async def never():
    await asyncio.Event().wait()


async def refuses():
    raise Exception("Control request timeout: interrupt")  # noqa: TRY002  # as the SDK does


@pytest.mark.parametrize("answer", [never, refuses])
def test_an_interrupt_or_a_question_that_is_not_answered_ends_no_run(answer, monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", module.timedelta(milliseconds=50))

    async def main():
        adapter = ClaudeCodeAdapter(LAUNCH, None, None, None)
        adapter._client = SimpleNamespace(interrupt=answer, get_context_usage=answer)
        async with asyncio.timeout(5):
            await adapter.interrupt()
            return await adapter.context_window()

    assert asyncio.run(main()) is None
