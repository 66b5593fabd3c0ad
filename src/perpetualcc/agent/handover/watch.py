"""Watches one run: when is its handover due, is Claude ready for it, and how did it go?"""

import asyncio
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from perpetualcc.agent.endings import RunFacts
from perpetualcc.agent.handover.gauge import Gauge
from perpetualcc.agent.handover.iteration import Iteration
from perpetualcc.agent.handover.maker import Ending, HandoverMaker
from perpetualcc.agent.handover.ownership import holder_of, in_use
from perpetualcc.agent.handover.status_board import StatusBoard, owner_of
from perpetualcc.agent.inbox import (
    Arrival,
    ClockTicked,
    Gone,
    Inbox,
    Order,
    Told,
    ToolEnded,
    TroubleReported,
    TurnEnded,
)
from perpetualcc.agent.ports import ClaudeCode, Journal, Launch
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import Event, HandoverDue, ProblemNoticed
from perpetualcc.domain.tasks import Done, Failed, Later, Outcome
from perpetualcc.sessions.handover.document import (
    DamagedDocumentError,
    HandoverDocument,
    Heading,
    parse_document,
    render_document,
)
from perpetualcc.sessions.handover.folder import DOCUMENT, LAST_GOOD, STATE, HandoverFolder
from perpetualcc.sessions.handover.prompts import reminder
from perpetualcc.sessions.handover.records import Handover, Manner, Records
from perpetualcc.sessions.handover.thresholds import HandoverSettings, Level

_TICK = 1.0
"""Seconds between two looks at the trigger file: one failing open of a local directory."""
_GRACE = 5.0
"""Seconds that a tool at work has to end before the turn is interrupted (seed 001)."""
_GIVING_UP = 20.0
"""Seconds after which a Claude Code that ignores interrupts is ended."""
_FULL = ("Prompt is too long", "API Error: The model has reached its context window limit")
"""How Claude Code says that the context is full, before a request and in a reply (2.1.330)."""
_REFUSED = re.compile(r"API Error: 4(?:00|13|22)\b")
"""The same of refusals that it has no words for: bad request, too large, unprocessable."""
_LONGEST_REASON = 200
"""Characters."""


@dataclass(slots=True, kw_only=True)
class HandoverWatch:
    """One run's way to its handover. `seen` is called with each arrival, after it was handled."""

    iteration: Iteration
    launch: Launch
    records: Records
    maker: HandoverMaker
    journal: Journal
    settings: HandoverSettings
    clock: Clock
    steady: Clock
    """For how long it takes."""
    level: Level = Level.NORMAL
    reason: str = ""
    _begun: Handover | None = None
    """On file: the handover is due."""
    _is_triggered: bool = False
    _was_taken_up: bool = False
    """The API took the conversation as it was: a call of this run came to its result. A reply that
    only began says nothing; it may be what was cut off and refused."""
    _ordered_at: float | None = None
    """When the run was ordered to end."""
    _has_folder: bool = False
    _is_laid_out: bool = False
    """Claude has a document to write, or had one."""
    _good: str | None = None
    """The document as it was when it was last whole: the folder may be cleaned away."""
    _folder: HandoverFolder = field(init=False)
    _gauge: Gauge = field(init=False)
    _board: StatusBoard = field(init=False)

    def __post_init__(self) -> None:
        self._folder = HandoverFolder(self.iteration.session.project)
        self._gauge = Gauge(iteration=self.iteration, settings=self.settings, steady=self.steady)
        self._board = StatusBoard(
            iteration=self.iteration, run=self.launch.run, folder=self._folder, gauge=self._gauge
        )

    async def begin(self) -> None:
        """
        Lay the files out, before Claude Code starts.

        Raises:
            PerpetualError: a perpetual session's folder cannot be used.
        """
        conversation = self.launch.claude_session
        self._gauge.worked_before = await self.records.seconds_worked(conversation)
        self._gauge.told(self.launch.prompt)
        if self.iteration.session.options.perpetual is not None:
            await self._prepare(lay_out=not self.launch.resume)

    async def seen(
        self, arrival: Arrival, claude: ClaudeCode, inbox: Inbox, *, is_held: bool
    ) -> None:
        """`is_held`: Claude Code waits for a person, and time does not count."""
        if self.launch.may_compact or isinstance(arrival, TurnEnded | Gone):
            return
        self._gauge.hold(is_held)
        await self._gauge.read(arrival, claude)
        match arrival:
            case ToolEnded():
                self._was_taken_up = True
                self._keep_good_version()
            case TroubleReported(text=text) if text.startswith(_FULL):
                await self._due(Level.CRITICAL, "the context is full", claude, inbox)
            case TroubleReported() if self._is_refused_again and is_of_the_request(arrival):
                reason = f"the conversation cannot go on: {arrival.text}"
                await self._due(Level.CRITICAL, reason[:_LONGEST_REASON], claude, inbox)
            case _:
                pass
        level, reason = self._gauge.level()
        if level.rank > self.level.rank and not is_held:
            await self._due(level, reason, claude, inbox)
        # A person's trigger can wait for a second; Claude, once warned, sets one with a tool.
        if isinstance(arrival, ClockTicked) or (self._begun and isinstance(arrival, ToolEnded)):
            await self._look_around(claude, inbox)
        await self._show()

    @property
    def _is_refused_again(self) -> bool:
        """
        The conversation was gone on with, and what it holds (an image, a call without a result) is
        what the API refuses: it would each time.
        """
        return self.launch.resume and not self._was_taken_up

    async def _look_around(self, claude: ClaudeCode, inbox: Inbox) -> None:
        """Is the trigger there? Does a run that was told to end do so?"""
        if self._ordered_at is None and await self._take_trigger():
            self._is_triggered = True
            warned = f"trigger.flag, after the warning at {self.reason}"
            reason = warned if self.reason else "a person asked for it (trigger.flag)"
            await self._due(Level.CRITICAL, reason, claude, inbox)
        if self._ordered_at is not None and self.steady.now() - self._ordered_at > _GRACE:
            await claude.interrupt()
            if self.steady.now() - self._ordered_at > _GIVING_UP:
                inbox.put(Gone(error="Claude Code did not stop for its handover"))

    async def _due(self, level: Level, reason: str, claude: ClaudeCode, inbox: Inbox) -> None:
        """Write it down first; then tell Claude, or end the run."""
        self.level, self.reason = level, reason
        begun = self._handover()
        await self.records.begin(begun)
        self._begun = begun
        await self.journal.record(
            self._event(
                HandoverDue,
                iteration=begun.iteration,
                status=level.value,
                reason=reason,
                tokens=self._gauge.tokens,
                minutes=round(self._gauge.minutes, 2),
            )
        )
        if level is Level.CRITICAL:
            self._ordered_at = self.steady.now()
            inbox.put(Told(order=Order.HAND_OVER))
            return
        await self._prepare_late()
        claude.remind(reminder(self._folder, reason, has_folder=self._has_folder))

    async def _show(self) -> None:
        if not self._has_folder:
            return
        try:
            measured = self._board.show(self.level, self.clock.now())
        except PerpetualError as error:
            self._has_folder = False
            await self._problem(error)
            return
        if measured is not None:
            await self.journal.record(measured)

    # -- files ---------------------------------------------------------------------------------

    async def _prepare(self, *, lay_out: bool) -> None:
        """A fresh conversation finds the document of the iteration before it, or the template."""
        me = self.iteration.session.id
        if holder := await holder_of(self._folder, self.journal, me):
            raise in_use(self._folder, holder)
        self._folder.prepare()
        self._has_folder = self._is_laid_out = True
        owner = owner_of(self._folder.read(STATE))
        self._board.claim(self.level, self.clock.now())
        if owner and owner != me:
            self._folder.set_aside(owner)
        elif not lay_out:
            return
        self._folder.take_trigger()
        self._folder.remove(LAST_GOOD)
        self._folder.write(DOCUMENT, self._given())

    async def _take_trigger(self) -> bool:
        """Seen once, and by the session that hands over here."""
        if not os.path.lexists(self._folder.trigger):
            return False
        holder = await holder_of(self._folder, self.journal, self.iteration.session.id)
        return holder is None and self._folder.take_trigger()

    async def _prepare_late(self) -> None:
        """An ordinary session gets the folder when it is needed; without one it goes on too."""
        if self._has_folder:
            return
        try:
            await self._prepare(lay_out=True)
        except PerpetualError as error:
            await self._problem(error)

    def _given(self) -> str:
        """The document that this iteration began with."""
        if self.iteration.carried is not None:
            return self.iteration.carried.document
        number, stamp = self.iteration.number, "not yet"
        heading = Heading(generated=stamp, iteration=number, duration="00:00:00", reason=stamp)
        return render_document(HandoverDocument(), self.iteration.task.prompt, heading)

    def _keep_good_version(self) -> None:
        """Claude may write the document in several steps; the last whole one is kept."""
        text = self._folder.read(DOCUMENT) if self._has_folder and self._begun else None
        if text is None or text == self._folder.read(LAST_GOOD):
            return
        with suppress(DamagedDocumentError, PerpetualError):
            parse_document(text)
            self._good = text
            self._folder.write(LAST_GOOD, text)

    # -- the end -------------------------------------------------------------------------------

    async def conclude(self, outcome: Outcome, facts: RunFacts) -> Outcome:
        """The run's outcome, or what its handover came to."""
        if self._begun is None:
            return outcome
        if isinstance(outcome, Done):
            self._is_triggered = self._is_triggered or await self._take_trigger()
        manner = self._manner(outcome, facts)
        if manner is None:
            if isinstance(outcome, Done):
                await self.records.drop(self.iteration.session.id)
            return outcome
        ending = Ending(
            manner=manner,
            tokens=self._gauge.tokens,
            seconds=self._gauge.minutes * 60,
            error=facts.error or (facts.turn.result if facts.turn else ""),
            full_from=self._full_from(),
            is_laid_out=self._is_laid_out,
            good=self._good,
        )
        handover = await self.maker.make(self._handover(), self.iteration, ending)
        return await self.maker.outcome(handover, self.iteration)

    def _full_from(self) -> int:
        """The run may be ended before a reply says what it began with: then it is estimated."""
        hard = self._gauge.limits.hard_tokens
        began_with = self._gauge.opened_with or self._gauge.tokens
        return hard if not self.launch.resume and began_with >= hard else 0

    def _manner(self, outcome: Outcome, facts: RunFacts) -> Manner | None:
        """None: there is no handover, or it is made when the work goes on."""
        if facts.order is Order.PAUSE:
            return None
        match outcome:
            case Done():
                return Manner.WRITTEN if self._is_triggered or self._has_more_to_do() else None
            case Later(counts=True) | Failed() if facts.order is Order.HAND_OVER:
                return Manner.WRITTEN
            case Later(counts=True) | Failed():
                return Manner.EMERGENCY
            case _:
                return None

    def _has_more_to_do(self) -> bool:
        """Claude ended its turn after the warning: is the task finished, or its unit of work?"""
        for text in (self._folder.read(DOCUMENT) if self._has_folder else None, self._good):
            with suppress(DamagedDocumentError):
                if text is not None:
                    return text != self._given() and parse_document(text).has_more_to_do
        return False

    def _handover(self) -> Handover:
        return Handover(
            session=self.iteration.session.id,
            task=self.iteration.task.id,
            iteration=self.iteration.number,
            run=self.launch.run,
            claude_session=self.launch.claude_session,
            reason=self.reason,
        )

    async def _problem(self, error: PerpetualError) -> None:
        noticed = self._event(ProblemNoticed, text=error.message, hint=error.hint or "")
        await self.journal.record(noticed)

    def _event(self, kind: type[Event], **facts: Any) -> Event:
        session, task = self.iteration.session.id, self.iteration.task.id
        return kind(session=session, run=self.launch.run, task=task, **facts)


def is_of_the_request(trouble: TroubleReported) -> bool:
    """Whether the API refused what it was sent: sent again, it is refused again."""
    return trouble.kind == "invalid_request" or _REFUSED.match(trouble.text) is not None


@contextmanager
def ticking(inbox: Inbox) -> Iterator[None]:
    """A `ClockTicked` each second, as long as this lasts."""
    loop, is_over = asyncio.get_running_loop(), False

    def tick() -> None:
        if not is_over:
            inbox.put(ClockTicked())
            loop.call_later(_TICK, tick)

    loop.call_later(_TICK, tick)
    try:
        yield
    finally:
        is_over = True
