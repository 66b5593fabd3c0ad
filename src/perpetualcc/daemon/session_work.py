"""Between the dispatcher and the agent: a session's status follows its tasks."""

import logging
from collections.abc import Iterator

from perpetualcc.agent.master_agent import MasterAgent
from perpetualcc.domain.events import Event, TaskSettled
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.tasks import Later, Outcome, Task
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.work.outcomes import Settlement

log = logging.getLogger(__name__)


class SessionWork:
    """`work.dispatcher.Handler` for the tasks of sessions."""

    manager: SessionManager
    """Set by the engine: the manager and the dispatcher need each other."""

    def __init__(self, agent: MasterAgent) -> None:
        self._agent = agent
        self._limited: set[TaskId] = set()

    async def advance(self, task: Task) -> Outcome:
        self._limited.discard(task.id)
        await self.manager.begin(await self.manager.get_session(task.group))
        outcome = await self._agent.advance(task)
        if isinstance(outcome, Later) and not outcome.counts:
            self._limited.add(task.id)
        return outcome

    def describe(self, task: Task, became: Settlement) -> Iterator[Event]:
        yield TaskSettled(
            session=SessionId(task.group),
            task=task.id,
            state=became.state.value,
            result=became.result,
            due=became.due,
        )

    async def settled(self, task: Task, became: Settlement) -> None:
        await self.manager.settled(
            task,
            became.state,
            due=became.due,
            result=became.result,
            limited=task.id in self._limited,
        )
        self._limited.discard(task.id)
