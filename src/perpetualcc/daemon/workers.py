"""The way from what is asked of the work to what runs."""

from dataclasses import dataclass

from perpetualcc.agent.inbox import Order, Settled
from perpetualcc.agent.master_agent import MasterAgent
from perpetualcc.domain.escalations import Escalation
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.work.dispatcher import Dispatcher


@dataclass(slots=True)
class Workers:
    """`sessions.ports.Workers` and `human.escalation.Runs`."""

    agent: MasterAgent
    dispatcher: Dispatcher

    def pause(self, session: SessionId) -> None:
        self.agent.tell(session, Order.PAUSE)

    async def cancel(self, task: TaskId) -> None:
        await self.dispatcher.cancel(task)

    def wake(self) -> None:
        self.dispatcher.wake()

    def answered(self, escalation: Escalation) -> None:
        settled = Settled(number=escalation.number, answer=escalation.answer or {})
        self.agent.answered(escalation.request.session, settled)
        self.dispatcher.wake()
