"""Between the dispatcher and the agent: a session's status follows its tasks."""

import asyncio
from collections.abc import Iterator

from perpetualcc.agent.master_agent import MasterAgent
from perpetualcc.agent.patience import until_written
from perpetualcc.daemon import packets
from perpetualcc.daemon.budget import BudgetKeeper
from perpetualcc.daemon.checkpoints import CheckpointKeeper
from perpetualcc.daemon.limits import LimitKeeper
from perpetualcc.daemon.memory_watch import MemoryWatch
from perpetualcc.daemon.open_questions import OpenQuestions
from perpetualcc.daemon.reviews import Reviews
from perpetualcc.daemon.snapshots import SnapshotKeeper
from perpetualcc.daemon.words import WordKeeper
from perpetualcc.domain.events import Event, TaskSettled
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import (
    Done,
    Failed,
    Later,
    Outcome,
    Parked,
    Task,
    Wait,
    added,
    is_to_plan,
)
from perpetualcc.goals.planner import Planner
from perpetualcc.goals.verifier import Verifier
from perpetualcc.sessions.checkpoint import SessionCheckpoint
from perpetualcc.sessions.limit_waits import is_of_limit
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.sessions.task_queue import behind
from perpetualcc.store.events import EventLog
from perpetualcc.work.outcomes import Settlement


class SessionWork:
    """`work.dispatcher.Handler` for the tasks of sessions."""

    manager: SessionManager
    """Set by the engine: the manager and the dispatcher need each other."""

    def __init__(
        self,
        agent: MasterAgent,
        limits: LimitKeeper,
        budget: BudgetKeeper,
        checkpoints: CheckpointKeeper,
        questions: OpenQuestions,
        events: EventLog,
        verifier: Verifier,
        planner: Planner,
        *,
        reviews: Reviews,
        memory: MemoryWatch,
        snapshots: SnapshotKeeper,
        words: WordKeeper,
    ) -> None:
        self._agent = agent
        self._limits = limits
        self._budget = budget
        self._checkpoints = checkpoints
        self._questions = questions
        self._events = events
        self._verifier = verifier
        self._planner = planner
        self._reviews = reviews
        self._memory = memory
        self._snapshots = snapshots
        self._words = words

    async def advance(self, task: Task) -> Outcome:
        self._words.begins(task.id)
        if asked := await self._questions.admit(task):
            return asked
        session = await self.manager.get_session(task.group)
        if held := await self._reviews.admit(task, session):
            return held
        if held := await self._limits.admit(task, session):
            return held
        try:
            if held := await self._budget.admit(task, session):
                kept = await self._checkpoints.latest(session)
                return await self._told(held, task, session, kept)
            return await self._run(task, session)
        finally:
            await self._budget.give_back(task.id, session.id)

    async def _run(self, task: Task, session: Session) -> Outcome:
        await self._snapshots.put_back(session)
        if not await self.manager.begin(session.id):
            now = self._limits.clock.now()
            return Later(due=now, counts=False, reason="paused", keeps_answer=True)
        try:
            await self._snapshots.before(task, session)
            outcome = await self._memory.settle(task, await self._advanced(task, session))
        except asyncio.CancelledError:
            await self._keep(task, "stopped")
            raise
        if isinstance(outcome, Done):
            done = outcome
            if not await until_written(lambda: self._words.goes_on(task.id)):
                return await until_written(lambda: self._limits.settle(task, session, done))
            due = self._limits.clock.now()
            outcome = Later(due=due, counts=False, reason="you have said something more")
        kept = await self._keep(task, _reason(outcome))
        outcome = await self._told(outcome, task, session, kept)
        if isinstance(outcome, Later) and outcome.pauses:
            await self._pause(session, outcome.reason)
        return await self._limits.settle(task, session, outcome)

    async def _advanced(self, task: Task, session: Session) -> Outcome:
        """A goal is planned first; whatever is said to be done is proved."""
        if is_to_plan(task):
            said = await self._planner.decided(task) or await self._ask(task)
            if isinstance(said, Done):
                return await self._planner.concluded(task, session, said)
            return said
        is_unheard = await self._words.is_unheard(task.id)
        claimed = None if is_unheard else await self._verifier.claimed(task)
        said = claimed or await self._ask(task)
        return await self._verifier.prove(task, session, said) if isinstance(said, Done) else said

    async def _ask(self, task: Task) -> Outcome:
        self._limits.begins(task.id)
        return await self._agent.advance(task)

    async def _pause(self, session: Session, reason: str) -> None:
        """Unless a person was faster, who may have stopped it."""
        now = await self.manager.get_session(session.id)
        if now.status is SessionStatus.PROCESSING:
            await self.manager.pause_session(session.id, reason)

    async def _keep(self, task: Task, reason: str) -> SessionCheckpoint | None:
        session = await self.manager.get_session(task.group)
        return await self._checkpoints.save(session, task, reason)

    async def _told(
        self, outcome: Outcome, task: Task, session: Session, kept: SessionCheckpoint | None
    ) -> Outcome:
        """With everything that a person needs to decide, when it is theirs to decide."""
        if not isinstance(outcome, Parked | Failed):
            return outcome
        found = await self._events.tail(session.id, packets.LOOKED_AT, kinds=packets.KINDS)
        tasks = await self.manager.queue(session.id).everything()
        seen = [one.event for one in found]
        return packets.completed(outcome, task, session, kept, seen, behind([task.id], tasks))

    def describe(self, task: Task, became: Settlement) -> Iterator[Event]:
        yield TaskSettled(
            session=SessionId(task.group),
            task=task.id,
            state=became.state.value,
            result=became.result,
            due=became.due,
            repeats="every" in task.payload,
        )
        yield from map(added, became.first)

    async def settled(self, task: Task, became: Settlement) -> None:
        self._words.begins(task.id)
        await self.manager.settled(
            task,
            became.state,
            due=became.due,
            result=became.result,
            limited=is_of_limit(became.signal),
        )


def _reason(outcome: Outcome) -> str:
    match outcome:
        case Later(reason=reason) | Wait(reason=reason):
            return reason or "waits"
        case Failed(result=result) | Parked(result=result):
            return result
        case _:
            return "goes on"
