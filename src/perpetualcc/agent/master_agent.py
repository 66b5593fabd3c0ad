"""
The master agent: one call of `advance` supervises one run, from its first prompt to its outcome.

    think     what would the call do, and what do the brain, the memory and the code say?
              (the ports `Gatekeeper` and `Answerer`)
    decide    a pure function; it cannot fail (behind the `Gatekeeper`)
    execute   the only step with effects: answer Claude, or ask a person (`SupervisedRun`)
    learn     write the episode down, never in the way (from the events, beside the run)
"""

import asyncio
import logging
from contextlib import suppress
from dataclasses import replace
from typing import Any

from perpetualcc.agent.costs import CostCount
from perpetualcc.agent.endings import RunFacts, outcome_of, packet, patient_back_off
from perpetualcc.agent.faculties import AgentSettings, Faculties
from perpetualcc.agent.handover.iteration import Iteration
from perpetualcc.agent.handover.watch import HandoverWatch, ticking
from perpetualcc.agent.inbox import Gone, Inbox, Order, Settled, Spoken, TimeUp, Told, TurnEnded
from perpetualcc.agent.patience import PATIENCE, patiently, until_written
from perpetualcc.agent.ports import Launch
from perpetualcc.agent.prompts import (
    answered,
    continuation,
    first_prompt,
    taken_over,
    told_words,
    with_terms,
)
from perpetualcc.agent.supervision import SupervisedRun
from perpetualcc.domain.errors import MissingError, NoRoomError, PassingError, PerpetualError
from perpetualcc.domain.events import Event, ProblemNoticed, RunEnded, RunStarted, TaskStarted
from perpetualcc.domain.ids import ClaudeSessionId, SessionId, new_claude_session_id, new_run_id
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Run, Session, only_reading
from perpetualcc.domain.tasks import STOPS, Later, Outcome, Parked, Task, continued_by, is_to_plan
from perpetualcc.sessions.stuck import StuckWatch

log = logging.getLogger(__name__)

_INTERRUPTED = "interrupted"


class MasterAgent:
    """Supervises the runs of all sessions, at most one run a session at a time."""

    def __init__(self, faculties: Faculties, settings: AgentSettings) -> None:
        self._with = faculties
        self._settings = settings
        self._inboxes: dict[SessionId, Inbox] = {}

    async def advance(self, task: Task) -> Outcome:
        """Play one run of the task and say what it came to. Raises only what is a bug."""
        session = await self._with.journal.session(SessionId(task.group))
        iteration = await self._with.handovers.current(session, task)
        if isinstance(iteration, Parked):
            return iteration
        launch = await self._plan(iteration)
        watch = self._with.handovers.watch(iteration, launch)
        facts = RunFacts()
        run = await self._open(launch, task)
        try:
            await self._metered(launch, task, facts, watch)
        except PassingError as error:
            if not facts.is_done:
                await self._break_off(run, error, facts)
                raise
            log.exception("the last of run %s could not be written", run.id)
            await until_written(lambda: self._book(launch, task, facts))
        except PerpetualError as error:
            return await self._give_up(run, task, error, session)
        except asyncio.CancelledError:
            await self._close(run, _ended(run, facts, _INTERRUPTED))
            raise
        outcome = outcome_of(
            facts,
            task,
            now=self._with.clock.now(),
            limit=self._with.limits.detect(facts.limit, facts.trouble),
        )
        return await until_written(
            lambda: self._conclude(run, facts, watch, outcome),
            within=None if facts.is_done else PATIENCE,
        )

    async def _open(self, launch: Launch, task: Task) -> Run:
        """Written down before there is a process."""
        run = Run(
            id=launch.run,
            session=launch.session.id,
            task=task.id,
            claude_session=launch.claude_session,
            fence=task.fence,
            started_at=self._with.clock.now(),
        )
        started = RunStarted(
            **_ids(run),
            claude_session=launch.claude_session,
            resumed=launch.resume,
            lost=launch.lost,
            copies=launch.copies or "",
        )
        begun = TaskStarted(**_ids(run), prompt=task.prompt, attempt=task.attempts)
        await self._with.journal.open_run(run, begun, started)
        if launch.words:
            await self._with.words.give(launch.words, launch.message, launch.claude_session)
        return run

    async def _conclude(
        self, run: Run, facts: RunFacts, watch: HandoverWatch, outcome: Outcome
    ) -> Outcome:
        outcome = await watch.conclude(outcome, facts)
        await self._close(run, _ended(run, facts, _name(outcome)))
        return outcome

    def tell(self, session: SessionId, order: Order) -> None:
        """Give the session's run an order, if it has one."""
        self._put(session, Told(order=order))

    def leave(self) -> None:
        """The engine stops: runs begin nothing more, and those that wait for a person end."""
        for inbox in self._inboxes.values():
            inbox.put(Told(order=Order.LEAVE))

    def answered(self, session: SessionId, settled: Settled) -> None:
        """Hand a person's answer to the session's run; where it has none the ledger wakes it."""
        self._put(session, settled)

    def said(self, session: SessionId) -> bool:
        """A person has said something to it. False: no run is there, and the next one is told."""
        self._put(session, Spoken())
        return session in self._inboxes

    def _put(self, session: SessionId, arrival: Told | Settled | Spoken) -> None:
        if inbox := self._inboxes.get(session):
            inbox.put(arrival)

    async def _close(self, run: Run, *events: Event) -> None:
        ended = replace(run, ended_at=self._with.clock.now())
        await self._with.journal.close_run(ended, *events)

    async def _plan(self, iteration: Iteration) -> Launch:
        """Begin a conversation for a new task or iteration; go on with one begun before."""
        session, task = iteration.session, iteration.task
        is_theirs = session.current_task == task.id and not iteration.needs_fresh_conversation
        is_begun = is_theirs and await self._with.journal.has_begun(task.id)
        session = replace(session, current_task=task.id)  # what is asked for it is booked on it
        conversation = session.claude_session if is_begun else None
        known = await self._with.checkpoints.recall(session, task) if conversation else None
        words = await self._with.words.all(task.id)
        theirs = None if iteration.carried else continued_by(task)
        if known and conversation and await self._with.claudes.can_resume(session, conversation):
            answers = await self._with.people.unused(task.id)
            said = told_words(words, is_fresh=False)
            prompt, resume = continuation(answers, known.changes, known.refuted, said), True
            theirs = None
        else:
            conversation = ClaudeSessionId(new_claude_session_id())
            finished = await self._with.journal.finished_tasks(session.id)
            settings = self._with.handovers.settings
            begun = known.prompt if known else first_prompt(task, finished)
            begun = taken_over(begun, theirs, session.project) if theirs else begun
            opening = iteration.opening(with_terms(begun, task, finished), settings)
            refuted = known.refuted if known else ""
            said = told_words(words, is_fresh=True)
            told = (answered(await self._with.people.unused(task.id)), refuted, said)
            prompt, resume = "\n\n".join(filter(None, (opening, *told))), False
        is_goal = is_to_plan(task)
        return Launch(
            session=only_reading(session) if is_goal else session,
            goal=task.id if is_goal else None,
            run=new_run_id(),
            claude_session=conversation,
            resume=resume,
            prompt=prompt,
            copies=theirs.conversation if theirs else None,
            lost=known is not None and not (resume or theirs),
            may_compact=not session.options.perpetual and not self._with.handovers.settings.enabled,
            words=tuple(word.number for word in words if not word.is_used),
        )

    async def _metered(
        self, launch: Launch, task: Task, facts: RunFacts, watch: HandoverWatch
    ) -> None:
        try:
            await self._supervise(launch, task, facts, watch)
        finally:
            await patiently(lambda: self._book(launch, task, facts))

    async def _book(self, launch: Launch, task: Task, facts: RunFacts) -> None:
        turn = facts.turn or TurnEnded(is_error=True, subtype="", result="")
        tokens = turn.tokens_in - turn.tokens_cached + turn.tokens_out
        tokens += facts.beside if tokens else 0
        await self._with.meter.ended(task.id, launch.session.id, tokens, facts.usd)

    async def _supervise(
        self, launch: Launch, task: Task, facts: RunFacts, watch: HandoverWatch
    ) -> None:
        inbox = self._inboxes[launch.session.id] = Inbox()
        try:
            await watch.begin()
            now = await self._with.journal.session(launch.session.id)
            if now.status is SessionStatus.PAUSED:  # when there was no inbox yet to tell it
                facts.order = Order.PAUSE
                return
            async with self._with.claudes.open(launch, inbox) as claude:
                run = SupervisedRun(
                    launch=launch,
                    task=task,
                    facts=facts,
                    claude=claude,
                    inbox=inbox,
                    faculties=self._with,
                    settings=self._settings,
                    stuck=StuckWatch(settings=self._settings.stuck, since=self._with.steady.now()),
                    costs=CostCount(
                        claude=claude,
                        meter=self._with.meter,
                        session=launch.session.id,
                        task=task.id,
                        facts=facts,
                    ),
                    context_window=launch.session.context_window,
                )
                if (seconds := self._with.meter.allowance(task.id).seconds) is not None:
                    asyncio.get_running_loop().call_later(seconds, inbox.put, TimeUp())
                with ticking(inbox):
                    try:
                        await self._follow(run, watch)
                    finally:  # however it ends, it is asked what it cost while it can answer
                        await run.costs.settle()
        finally:
            del self._inboxes[launch.session.id]

    async def _follow(self, run: SupervisedRun, watch: HandoverWatch) -> None:
        async for arrival in run.inbox:
            await run.handle(arrival)
            await watch.seen(arrival, run.claude, run.inbox, is_held=bool(run.waiting))
            if run.is_over or isinstance(arrival, Gone):
                return

    async def _break_off(self, run: Run, error: PassingError, facts: RunFacts) -> None:
        """The task comes again by itself; that this run is over is noted, if it can be."""
        ended = replace(_ended(run, facts, _INTERRUPTED), error=error.message)
        with suppress(PassingError):
            await self._close(run, _problem(run, error), ended)

    async def _give_up(
        self, run: Run, task: Task, error: PerpetualError, session: Session
    ) -> Outcome:
        """Something that may come back, or only a person can mend, kept the run from starting."""
        facts = RunFacts(error=error.message)
        outcome: Outcome = Parked(
            result=error.message,
            packet={**STOPS, **packet(facts, task), "hint": error.hint or ""},
        )
        was_there = isinstance(error, MissingError) and session.claude_session is not None
        may_come_back = was_there or isinstance(error, NoRoomError)
        if may_come_back and task.attempts < task.max_attempts:
            due = self._with.clock.now() + patient_back_off(task)
            outcome = Later(due=due, reason=error.message)
        await self._close(run, _problem(run, error), _ended(run, facts, _name(outcome)))
        return outcome


def _ids(run: Run) -> dict[str, Any]:
    return {"session": run.session, "run": run.id, "task": run.task}


def _problem(run: Run, error: PerpetualError) -> ProblemNoticed:
    return ProblemNoticed(**_ids(run), text=error.message, hint=error.hint or "")


def _name(outcome: Outcome) -> str:
    return type(outcome).__name__.lower()


def _ended(run: Run, facts: RunFacts, outcome: str) -> RunEnded:
    turn, last = facts.turn, facts.turn or facts.before
    return RunEnded(
        **_ids(run),
        outcome=outcome,
        turns=last.turns if last else facts.replies,
        tokens_in=(turn and turn.tokens_in) or facts.tokens_in,
        tokens_out=(turn and turn.tokens_out) or facts.tokens_out,
        cost_usd=facts.usd,
        error=facts.error,
    )
