"""A model that is silent until the test says so: what comes first then comes first anywhere."""

import asyncio
import threading

from perpetualcc.rehearsal import RehearsalServer
from perpetualcc.rehearsal.http import Request
from perpetualcc.rehearsal.wire import Answer


class HeldBack(RehearsalServer):
    """Claude Code has asked it, and hears nothing before `go` is set."""

    def __init__(self, *words, **options) -> None:
        super().__init__(*words, **options)
        self.go = threading.Event()

    async def _answer(self, request: Request) -> Answer:
        while not self.go.is_set():  # noqa: ASYNC110  # set in another thread
            await asyncio.sleep(0.02)
        return await super()._answer(request)
