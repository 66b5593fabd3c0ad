"""The agent's faculties as this engine has them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from perpetualcc.agent.ports import Judgement
from perpetualcc.domain.decisions import Verdict
from perpetualcc.domain.escalations import Escalation, EscalationRequest
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.questions import BrainAnswer, Question
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Task
from perpetualcc.domain.tools import Risk, ToolCall
from perpetualcc.human.escalation import EscalationQueue
from perpetualcc.permissions.interim import judge


class HumanBridge:
    """`agent.ports.People`: who is looking, and how to ask them."""

    queue: EscalationQueue
    """Set by the engine: the queue and the agent need each other."""

    def __init__(self) -> None:
        self._looking: Counter[SessionId] = Counter()

    @contextmanager
    def looking(self, session: SessionId) -> Iterator[None]:
        """A person is attached to the session as long as this lasts."""
        self._looking[session] += 1
        try:
            yield
        finally:
            self._looking[session] -= 1

    def attached(self, session: SessionId) -> bool:
        return self._looking[session] > 0

    async def escalate(self, request: EscalationRequest) -> int:
        return (await self.queue.escalate(request)).number

    async def expire(self, number: int) -> None:
        await self.queue.expire(await self.queue.get(number))

    async def stored(self, task: TaskId, digest: str) -> Escalation | None:
        return await self.queue.store.stored(task, digest)

    async def unused(self, task: TaskId) -> Sequence[Escalation]:
        return await self.queue.store.unused(task)

    async def use(self, number: int) -> bool:
        return await self.queue.store.use(number)


class InterimGatekeeper:
    """Reading and writing inside the project; a person for everything else."""

    async def judge(self, call: ToolCall, session: Session) -> Judgement:
        verdict, reason = judge(call)
        return Judgement(
            verdict=verdict,
            risk=Risk.LOW if verdict is Verdict.ALLOW else Risk.HIGH,
            confidence=0.95 if verdict is Verdict.ALLOW else 0.0,
            reason=f"{reason}.",
        )


class NoAnswers:
    """Every question goes to a person."""

    async def answer(
        self, questions: Sequence[Question], session: Session, task: Task
    ) -> Sequence[BrainAnswer]:
        unsure = BrainAnswer(selected=(), confidence=0.0, reasoning="No brain is configured.")
        return [unsure] * len(questions)
