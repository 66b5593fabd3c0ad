"""
A task that has asked a person something waits for the answer as a row, whatever ended its run.

A run that held the question may have died with the engine, or by itself. Resuming it at once
would only have Claude ask again, and keep a process for it.
"""

from dataclasses import dataclass

from perpetualcc.domain.escalations import EscalationType, signal_name
from perpetualcc.domain.tasks import Task, Wait
from perpetualcc.sessions.limit_waits import SIGNAL
from perpetualcc.store.escalations import SqliteEscalations


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestions:
    """Looks whether a task may run, or waits for somebody first."""

    escalations: SqliteEscalations
    permissions: bool
    """Whether permissions are waited for too. Where nobody is waited for they are refused and
    listed for review, and nothing waits on them."""

    async def admit(self, task: Task) -> Wait | None:
        """
        The wait for the oldest request that nobody has answered; None when there is none.

        Whether to go on after a limit is such a request, also one from when that was a review. What
        was said to that counts also when the engine died before the task waited for it.
        """
        kinds = [EscalationType.QUESTION]
        if self.permissions:
            kinds.append(EscalationType.PERMISSION)
        taken = None if task.answer is None else task.signal
        number = await self.escalations.oldest_open(task.id, kinds, named=SIGNAL, taken=taken)
        if number is None:
            return None
        return Wait(signal=signal_name(number), reason="a person must answer")
