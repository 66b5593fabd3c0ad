"""
The learning worker's process: `python -m perpetualcc.daemon.learning_worker CLAUDE DATA`.

It gives the worker a brain to confirm rules with. Whatever keeps the brain from answering, the
classifier's own wording stands.
"""

import asyncio
import logging
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from perpetualcc.domain.corrections import Remark, RemarkReading
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import RunId, SessionId, TaskId
from perpetualcc.domain.locations import Locations
from perpetualcc.learning.places import Places

if TYPE_CHECKING:
    from perpetualcc.brain.model_brain import ModelBrain

log = logging.getLogger(__name__)

PATIENCE = timedelta(seconds=25)
"""For one answer: an event may take 60 s, a worker without a heartbeat for 30 s is called stuck
(seed 004)."""
_FAILURES = 3
_SILENCE = 300.0
"""Seconds in which nobody is asked after so many failures in a row: a queue must not wait for a
service that is down."""


def command(places: Places, locations: Locations) -> Sequence[str]:
    """What starts a worker for these places."""
    module = "perpetualcc.daemon.learning_worker"
    return (sys.executable, "-m", module, str(places.claude), str(locations.data))


def mark(locations: Locations) -> dict[str, str]:
    """By which the kill switch finds one that no engine started."""
    from perpetualcc.claude import processes  # noqa: PLC0415  # a worker does not need it

    return processes.mark(locations.data, RunId("learning"))


class BrainConfirmation:
    """`learning.process.Confirm`: the configured brain, within the budget of the day."""

    def __init__(self, locations: Locations) -> None:
        self._locations = locations
        self._failures = 0
        self._silent_until = 0.0

    def __call__(self, remark: Remark) -> RemarkReading | None:
        """The brain's reading; None without a brain, without budget, or when it fails."""
        if time.monotonic() < self._silent_until:
            return None
        try:
            model = self._model()
            reading = asyncio.run(self._within_budget(model, remark)) if model else None
        except PerpetualError as error:
            log.warning("No brain confirms the rule, it stands as it is: %s", error.message)
            self._failed()
            return None
        except Exception:  # a service's client that breaks must not cost the user's correction
            log.exception("No brain confirms the rule, it stands as it is")
            self._failed()
            return None
        self._failures = 0
        return reading

    def _failed(self) -> None:
        self._failures += 1
        if self._failures >= _FAILURES:
            self._silent_until = time.monotonic() + _SILENCE

    def _model(self) -> "ModelBrain | None":
        """Opened for each remark: they are rare, and the configuration may have changed."""
        # A worker that never needs a brain does not load one.
        from perpetualcc.brain.factory import open_model  # noqa: PLC0415
        from perpetualcc.claude import processes  # noqa: PLC0415
        from perpetualcc.claude.completion import ClaudeCompletion  # noqa: PLC0415
        from perpetualcc.config import environment  # noqa: PLC0415
        from perpetualcc.config.file import load_config  # noqa: PLC0415

        mark = processes.mark(self._locations.data, RunId("brain"))
        return open_model(
            load_config().brain,
            environment=environment(),
            open_claude=lambda settings: ClaudeCompletion(settings, environment=mark),
            patience=PATIENCE,
        )

    async def _within_budget(self, model: "ModelBrain", remark: Remark) -> RemarkReading | None:
        from perpetualcc.config.clock import wall_clock  # noqa: PLC0415  # with the brain
        from perpetualcc.sessions.budget import BudgetRequest, Refusal  # noqa: PLC0415
        from perpetualcc.store.budget import SqliteBudget  # noqa: PLC0415
        from perpetualcc.store.database import Database  # noqa: PLC0415

        clock, task = wall_clock(), TaskId(f"learning-{uuid4()}")
        request = BudgetRequest(
            session=SessionId("learning"), task=task, is_unattended=True, resume_tokens=0
        )
        async with await Database.open(
            self._locations.prepare().database, exclusive=False
        ) as database:
            budget = SqliteBudget(database)
            granted = await budget.reserve(request, clock.now())
            if isinstance(granted, Refusal):
                log.info("No brain confirms the rule: %s", granted.reason)
                return None
            try:
                return await model.read_remark(remark)
            finally:
                used = model.usage
                await budget.close(task, used.tokens, used.cost_usd, clock.now())


if __name__ == "__main__":
    # Not for the engine, which only starts it: the classifier is a tenth of what that would import.
    from perpetualcc.learning.worker import work

    claude, data = map(Path, sys.argv[1:3])
    sys.exit(work(Places(claude=claude), BrainConfirmation(Locations(data=data))))
