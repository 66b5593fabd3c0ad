"""Rulings as they are written down, and what people had answered, which is used once."""

from dataclasses import dataclass

from perpetualcc.agent.faculties import Faculties
from perpetualcc.agent.inbox import ToolWanted
from perpetualcc.agent.petitions import Petitioner, called, to_review
from perpetualcc.agent.ports import Launch
from perpetualcc.agent.replies import by_person
from perpetualcc.agent.run_events import RunEvents
from perpetualcc.domain.decisions import DecidedBy, Decision, Ruling
from perpetualcc.domain.escalations import EscalationType
from perpetualcc.domain.tasks import Task
from perpetualcc.domain.tools import Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """Of one run."""

    launch: Launch
    task: Task
    faculties: Faculties
    events: RunEvents
    petitioner: Petitioner

    async def decide(self, wanted: ToolWanted, ruling: Ruling) -> Decision:
        """Write the decision down, before Claude is told of it."""
        decision = ruling.bound_to(wanted.request, self.launch.run)
        call = wanted.call(self.launch.session.project)
        decided = self.events.decided(decision, call)
        await self.faculties.journal.decide(self.launch.session.id, decision, call, decided)
        return decision

    async def list_expired(self, wanted: ToolWanted, word: Ruling) -> None:
        """A person may still approve, for the next time, what nobody answered."""
        if word.decided_by is DecidedBy.TIMEOUT:
            call = wanted.call(self.launch.session.project)
            refused = self.petitioner.for_call(wanted, call, word)
            await self.faculties.people.escalate(to_review(refused))

    async def used_by_now(self) -> None:
        """
        The turn is over, and with it what its prompt said people had answered. Of a call that was
        refused while nothing ran, and that Claude did without, nothing else tells.
        """
        people = self.faculties.people
        for told in await people.unused(self.task.id):
            request, answer = told.request, told.answer or {}
            is_refused = request.type is EscalationType.PERMISSION and not answer.get("approve")
            if request.type is EscalationType.QUESTION or is_refused:
                is_first = await people.use(told.number)
                if is_refused and is_first:
                    wanted, word = called(request), by_person(answer, Risk(request.raw["risk"]))
                    await self.decide(wanted, word)
                    await self.list_expired(wanted, word)
