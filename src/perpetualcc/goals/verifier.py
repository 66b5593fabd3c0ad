"""Runs the checks of a task that is said to be done, and says what follows."""

from collections.abc import Sequence
from typing import Protocol

from perpetualcc.domain.events import AskedInPassing, CheckEnded, ChecksBegan, Record
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Again, Done, Outcome, Parked, Task, checks_of
from perpetualcc.goals.claims import CheckSettings, Claim, Claims, Ran, in_a_line, report
from perpetualcc.goals.last_words import ASKED, question_at_the_end

_HINT = "Look at it, then: pcc resume {session}, which runs the checks again before Claude works"


class Shell(Protocol):
    """Where checks run."""

    async def run(self, command: str, session: Session, seconds: float) -> Ran:
        """
        Run a command in the session's project to its end, at most so long. What it started is gone
        afterwards, also when this is cancelled. Never raises: what cannot be run has failed.
        """
        ...


class Verifier:
    """Between "I am done" and done."""

    def __init__(
        self, claims: Claims, shell: Shell, record: Record, settings: CheckSettings
    ) -> None:
        self._claims = claims
        self._shell = shell
        self._record = record
        self._settings = settings

    async def claimed(self, task: Task) -> Done | None:
        """What Claude said when its checks could not be run to the end, or a person has looked."""
        if not checks_of(task):
            return None
        claim = await self._claims.get(task.id)
        return Done(result=claim.result) if claim is not None and claim.is_open else None

    async def prove(self, task: Task, session: Session, done: Done) -> Outcome:
        """The outcome of a task that Claude says is done."""
        checks = checks_of(task)
        if not checks:
            return await self._unless_it_asks(task, session, done)
        before = await self._claims.get(task.id)
        failed = before.failed if before is not None else 0
        await self._claims.put(Claim(task=task.id, result=done.result, failed=failed))
        ran = await self._run(task, session, checks)
        wrong = [one for one in ran if one.trouble]
        if not wrong:
            # The claim goes with the task: a crash before it is settled proves it once more.
            told = "\n".join(f"Checked: {one.command}" for one in ran)
            return Done(result=f"{done.result.rstrip()}\n\n{told}".strip())
        return await self._refuted(task, done, failed + 1, ran, wrong)

    async def _unless_it_asks(self, task: Task, session: Session, done: Done) -> Outcome:
        """A question that reaches nobody is no end, once: what is said then is one."""
        question = question_at_the_end(done.result)
        if not question or await self._claims.get(task.id) is not None:
            return done
        await self._claims.put(Claim(task=task.id, result=done.result, report=ASKED))
        await self._record(AskedInPassing(session=session.id, task=task.id, question=question))
        return Again(prompt=task.prompt)

    async def _refuted(
        self, task: Task, done: Done, failed: int, ran: Sequence[Ran], wrong: Sequence[Ran]
    ) -> Outcome:
        told, line = report(ran), in_a_line(wrong)
        if failed < self._settings.attempts:
            refuted = Claim(task=task.id, result=done.result, failed=failed, report=told)
            await self._claims.put(refuted)
            return Again(prompt=task.prompt)
        # Whoever goes on with it has looked: first the checks again, then Claude, from the start.
        await self._claims.put(Claim(task=task.id, result=done.result))
        packet = {
            "analysis": f"Claude says it is done, and the checks failed {failed} times in a row",
            "last": told,
            "hint": _HINT.format(session=task.group),
        }
        return Parked(result=line, packet=packet)

    async def _run(self, task: Task, session: Session, checks: Sequence[str]) -> list[Ran]:
        await self._record(ChecksBegan(session=session.id, task=task.id, commands=list(checks)))
        ran = []
        for command in checks:
            one = await self._shell.run(command, session, self._settings.minutes * 60)
            ran.append(one)
            ended = CheckEnded(
                session=session.id,
                task=task.id,
                command=command,
                trouble=one.trouble,
                seconds=round(one.seconds, 1),
                text=one.last_line if one.trouble else "",
            )
            await self._record(ended)
        return ran
