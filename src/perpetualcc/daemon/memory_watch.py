"""
Ends a run that holds too much of the machine's memory, before the system ends something.

It is given up as one that hangs is: its work goes on in the same conversation, at once. The second
time in a row it waits, after the third it asks a person.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from perpetualcc.agent.inbox import Gone, Inbox
from perpetualcc.agent.ports import Launch
from perpetualcc.claude import memory, processes
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import MemoryOutgrown, Record
from perpetualcc.domain.ids import RunId, TaskId
from perpetualcc.domain.tasks import STOPS, Later, Outcome, Parked, Task
from perpetualcc.sessions.run_memory import Outgrown, Resident, outgrown
from perpetualcc.sessions.settings import LoadSettings
from perpetualcc.sessions.system_load import Memory, read_memory
from perpetualcc.store.run_memory import SqliteRunMemory

log = logging.getLogger(__name__)

_LOOKS = timedelta(seconds=2)
_GRACE = timedelta(seconds=1)
"""What holds the most gets so long to end by itself: it grows meanwhile."""
_ONCE_MORE = timedelta(minutes=5)
"""Before the third try."""
_MOST = 3
"""Times in a row: then a person is asked."""

Measure = Callable[[], Mapping[RunId, Sequence[Resident]]]


@dataclass(slots=True, kw_only=True)
class MemoryWatch:
    """Knows the runs at work, and what those came to that it ended."""

    data: Path
    settings: LoadSettings
    record: Record
    past: SqliteRunMemory
    clock: Clock
    look: Callable[[], Memory | None] = read_memory
    measure: Measure | None = None
    _at_work: dict[RunId, tuple[Launch, Inbox]] = field(default_factory=dict)
    _ended: dict[TaskId, str] = field(default_factory=dict)

    @contextmanager
    def watching(self, launch: Launch, inbox: Inbox) -> Iterator[None]:
        """While its process is there."""
        self._at_work[launch.run] = (launch, inbox)
        try:
            yield
        finally:
            self._at_work.pop(launch.run, None)

    async def run(self, every: timedelta = _LOOKS) -> None:
        """Look for ever; nothing is looked at while nothing is at work."""
        while self.settings.run_memory or self.settings.least_memory:
            await asyncio.sleep(every.total_seconds())
            if self._at_work:
                try:
                    await self._look()
                except (PerpetualError, OSError):  # a full disk: the next look finds it
                    log.exception("the memory of the runs could not be looked at")

    async def _look(self) -> None:
        for found in await asyncio.to_thread(self._outgrown):
            if found.run in self._at_work:
                await self._end(found)

    def _outgrown(self) -> list[Outgrown]:
        """Each of them counted twice: what is shared is shared out before anything is ended."""
        if (machine := self.look()) is None:
            return []
        measured = self._measured().items()
        runs = {run: found for run, found in measured if found and run in self._at_work}
        if not (suspects := outgrown(runs, machine, self.settings)):
            return []
        runs |= {one.run: memory.shared_out(runs[one.run]) for one in suspects}
        return outgrown(runs, machine, self.settings)

    def _measured(self) -> Mapping[RunId, Sequence[Resident]]:
        return self.measure() if self.measure else memory.of_runs(self.data)

    async def _end(self, found: Outgrown) -> None:
        launch, inbox = self._at_work.pop(found.run)
        log.warning("run %s is ended: %s", found.run, found.text)
        task = launch.session.current_task
        if task is not None:
            self._ended[task] = found.text
        try:
            await self.record(
                MemoryOutgrown(
                    session=launch.session.id,
                    run=found.run,
                    task=task,
                    text=found.text,
                    held=found.held,
                    largest=found.largest.program,
                )
            )
        finally:
            inbox.put(Gone(error=found.text))
        # The run's end takes seconds, in which this one would go on growing.
        await asyncio.to_thread(self._end_largest, found)

    def _end_largest(self, found: Outgrown) -> None:
        """If it is still the run's: on a full disk the note took minutes, and numbers go round."""
        there = {one.pid for one in self._measured().get(found.run, ())}
        processes.end({found.largest.pid} & there, _GRACE)

    async def settle(self, task: Task, outcome: Outcome) -> Outcome:
        """What a run came to, when it was ended for this and nobody wanted something else of it."""
        why = self._ended.pop(task.id, "")
        if not (why and isinstance(outcome, Later | Parked) and _reason(outcome) == why):
            return outcome
        times, now = await self.past.in_a_row(task.id), self.clock.now()
        if times >= _MOST:
            return Parked(result=why, packet={**STOPS, **_packet(task, why, times)})
        if times == _MOST - 1:
            reason = f"{why}. It was the second time in a row"
            return Later(due=now + _ONCE_MORE.total_seconds(), counts=False, reason=reason)
        soon = replace(outcome, counts=False) if isinstance(outcome, Later) else None
        return soon or Later(due=now, counts=False, reason=why)


def _reason(outcome: Later | Parked) -> str:
    return outcome.reason if isinstance(outcome, Later) else outcome.result


def _packet(task: Task, why: str, times: int) -> dict[str, object]:
    more = "pcc config set load.run_memory SHARE (0: never mind), then: pcc daemon restart"
    return {
        "state": why,
        "attempts": times,
        "analysis": f"{times} runs in a row took too much memory soon after they began",
        "hint": f"To let it take more: {more}; go on with: pcc resume {task.group}",
    }


def told_to_claude(why: str) -> str:
    """For the run that goes on; empty when nothing was ended."""
    if not why:
        return ""
    return (
        "You were ended because this run and what it had started took too much of this machine's"
        f" memory. {why}. What you started in the background has ended with it. If a command of"
        " yours took it, do not repeat it as it was: take less at a time, or give it a limit."
    )
