"""Everything that a session's runs need for moving from one to the next, as one faculty."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from perpetualcc.agent.handover.iteration import Iteration
from perpetualcc.agent.handover.maker import Ending, HandoverMaker
from perpetualcc.agent.handover.ownership import holder_of, in_use
from perpetualcc.agent.handover.watch import HandoverWatch
from perpetualcc.agent.ports import Journal, Launch
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.sessions import Perpetual, Session
from perpetualcc.domain.tasks import Parked, Task
from perpetualcc.sessions.handover.folder import HandoverFolder
from perpetualcc.sessions.handover.records import Handover, Manner, Records
from perpetualcc.sessions.handover.thresholds import HandoverSettings, perpetual_from

_CUT_OFF = "the run was cut off in the middle of its handover"


class Handovers:
    """Finds the iteration that a dispatch belongs to; finishes what a crash interrupted."""

    def __init__(
        self,
        records: Records,
        journal: Journal,
        settings: HandoverSettings,
        clock: Clock,
        steady: Clock,
    ) -> None:
        self._records = records
        self._journal = journal
        self.settings = settings
        self._clock = clock
        self._steady = steady
        self._maker = HandoverMaker(records, clock)

    async def plan_start(self, project: Path, asked: Mapping[str, Any]) -> tuple[Perpetual, str]:
        """
        What a new perpetual session works with, and with `resume_from` the words of the person
        who started the earlier one; empty without.

        Raises:
            PerpetualError: numbers that make no sense, a folder that is unusable or in use, no such
                iteration.
        """
        perpetual = perpetual_from(asked, self.settings)
        folder = HandoverFolder(project)
        if holder := await holder_of(folder, self._journal):
            raise in_use(folder, holder)
        await asyncio.to_thread(folder.prepare)
        if perpetual.resume_from is None:
            return perpetual, ""
        left = await self._left_by(project, perpetual.resume_from)
        return perpetual, await self._records.words(left.task)

    async def current(self, session: Session, task: Task) -> Iteration | Parked:
        """
        Where this dispatch begins. A handover that was begun is done afterwards. Where the run of
        the newest died before its end was on file, and that was the last iteration that was asked
        for, or goes in circles, a person must look first.
        """
        history = list(await self._records.history(session.id))
        if history and history[0].done_at is None:
            begun = history.pop(0)
            if begun.task == task.id:
                history.insert(0, await self._rescue(begun, session, task, history))
        if not history:
            return await self._first(session, task)
        newest = history[0]
        iteration = Iteration(
            session=session,
            task=task,
            number=newest.iteration + 1,
            carried=newest if newest.task == task.id else None,
        )
        if newest.task == task.id and not await self._records.is_settled(newest):
            outcome = await self._maker.outcome(newest, iteration)
            if isinstance(outcome, Parked):
                return outcome
        return iteration

    async def number(self, session: Session) -> int:
        """The iteration that the session is in, counted from 1."""
        done = [one for one in await self._records.history(session.id) if one.done_at is not None]
        perpetual = session.options.perpetual
        before = perpetual.resume_from if perpetual and perpetual.resume_from else 0
        return max([before, *(one.iteration for one in done)]) + 1

    def watch(self, iteration: Iteration, launch: Launch) -> HandoverWatch:
        """For one run."""
        return HandoverWatch(
            iteration=iteration,
            launch=launch,
            records=self._records,
            maker=self._maker,
            journal=self._journal,
            settings=self.settings,
            clock=self._clock,
            steady=self._steady,
        )

    async def _first(self, session: Session, task: Task) -> Iteration:
        perpetual = session.options.perpetual
        number = perpetual.resume_from if perpetual else None
        if number is None:
            return Iteration(session=session, task=task, number=1)
        left = await self._left_by(session.project, number)
        # Its conversation is another session's: this one begins its own.
        carried = replace(left, claude_session=None)
        return Iteration(session=session, task=task, number=number + 1, carried=carried)

    async def _rescue(
        self, begun: Handover, session: Session, task: Task, history: Sequence[Handover]
    ) -> Handover:
        carried = next((one for one in history if one.task == task.id), None)
        iteration = Iteration(session=session, task=task, number=begun.iteration, carried=carried)
        worked = 0.0
        if begun.claude_session is not None:
            worked = await self._records.seconds_worked(begun.claude_session)
        was_lost = await self._records.was_lost(begun)
        ending = Ending(
            manner=Manner.EMERGENCY,
            tokens=session.tokens,
            seconds=worked,
            error=_CUT_OFF if was_lost else "",
            is_put_off=not was_lost,
        )
        return await self._maker.make(begun, iteration, ending)

    async def _left_by(self, project: Path, number: int) -> Handover:
        left = await self._records.left_by(project, number)
        if left is not None:
            return left
        known = await self._records.iterations(project)
        raise PerpetualError(
            f"No handover of iteration {number} is on file for '{project}'",
            hint=f"There are: {', '.join(map(str, known)) or 'none'}",
        )
