"""Watches one run: when is its handover due, is Claude ready for it, and how did it go?"""

import asyncio
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from perpetualcc.agent.endings import RunFacts
from perpetualcc.agent.handover_maker import Ending, HandoverMaker, state_text
from perpetualcc.agent.inbox import (
    Arrival,
    ClockTicked,
    Gone,
    Inbox,
    Order,
    Said,
    Told,
    ToolEnded,
    ToolWanted,
    TroubleReported,
    TurnEnded,
)
from perpetualcc.agent.iterations import Iteration
from perpetualcc.agent.ports import ClaudeCode, Journal, Launch
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import ContextMeasured, HandoverDue, ProblemNoticed
from perpetualcc.domain.tasks import Done, Failed, Later, Outcome
from perpetualcc.sessions.handover.document import (
    DamagedDocumentError,
    HandoverDocument,
    Heading,
    parse_document,
    render_document,
)
from perpetualcc.sessions.handover.estimate import FileEstimate
from perpetualcc.sessions.handover.folder import DOCUMENT, LAST_GOOD, STATE, STATUS, HandoverFolder
from perpetualcc.sessions.handover.prompts import reminder
from perpetualcc.sessions.handover.records import Handover, HandoverRecords, Manner
from perpetualcc.sessions.handover.status_text import status_text
from perpetualcc.sessions.handover.thresholds import HandoverSettings, Level, level_of

log = logging.getLogger(__name__)

_TICK = 1.0
"""Seconds between two looks at the trigger file; a stat of a local file."""
_STATUS_EVERY = 30.0
"""Seconds (seed 001)."""
_GRACE = 5.0
"""Seconds that a tool at work has to end before the turn is interrupted (seed 001)."""
_GIVING_UP = 20.0
"""Seconds after which a Claude Code that ignores interrupts is ended."""
_FULL = "Prompt is too long"
"""How Claude Code's own refusal begins when the context is full (2.1.330)."""


@dataclass(slots=True, kw_only=True)
class HandoverWatch:
    """One run's way to its handover. `seen` is called with each arrival, after it was handled."""

    iteration: Iteration
    launch: Launch
    records: HandoverRecords
    maker: HandoverMaker
    journal: Journal
    settings: HandoverSettings
    clock: Clock
    level: Level = Level.NORMAL
    reason: str = ""
    tokens: int = 0
    is_triggered: bool = False
    _window: int | None = None
    _worked_before: float = 0.0
    _began_at: float = 0.0
    _held_since: float | None = None
    _begun: Handover | None = None
    _is_told: bool = False
    """The run was ordered to end."""
    _told_at: float = 0.0
    _status_at: float = 0.0
    _shown: tuple[Level, int] | None = None
    _has_folder: bool = False
    _estimate: FileEstimate = field(init=False)
    _folder: HandoverFolder = field(init=False)
    _opened: dict[str, str] = field(default_factory=dict)
    """Files that are being read, by request."""

    def __post_init__(self) -> None:
        self._folder = HandoverFolder(self.iteration.session.project)
        self._estimate = FileEstimate(self.iteration.session.project)

    @property
    def is_perpetual(self) -> bool:
        return self.iteration.session.options.perpetual is not None

    @property
    def is_off(self) -> bool:
        return not self.is_perpetual and not self.settings.enabled

    @property
    def minutes(self) -> float:
        """How long this iteration has worked, waits for people left out."""
        until = self._held_since or self.clock.now()
        return max(0.0, self._worked_before + until - self._began_at) / 60

    async def begin(self) -> None:
        """
        Lay the files out, before Claude Code starts.

        Raises:
            PerpetualError: a perpetual session's folder cannot be used.
        """
        self._began_at = self.clock.now()
        self._worked_before = await self.records.seconds_worked(self.launch.claude_session)
        self._estimate.said(self.launch.prompt)
        if self.is_perpetual:
            self._folder.prepare()
            self._has_folder = True
            if not self.launch.resume:
                self._lay_out()

    def _lay_out(self) -> None:
        """A fresh conversation finds the document of the iteration before it, or the template."""
        owner = _owner(self._folder.read(STATE))
        if owner and owner != self.iteration.session.id:
            self._folder.set_aside(owner)
        self._folder.take_trigger()
        self._folder.remove(LAST_GOOD)
        carried = self.iteration.carried
        self._folder.write(DOCUMENT, carried.document if carried else self._template())

    def _template(self) -> str:
        stamp = "not yet"
        heading = Heading(
            generated=stamp, iteration=self.iteration.number, duration="00:00:00", reason=stamp
        )
        return render_document(HandoverDocument(), self.iteration.task.prompt, heading)

    async def seen(
        self, arrival: Arrival, claude: ClaudeCode, inbox: Inbox, *, is_held: bool
    ) -> None:
        """`is_held`: Claude Code waits for a person, and time does not count."""
        if self.is_off or isinstance(arrival, TurnEnded | Gone):
            return
        self._hold(is_held)
        match arrival:
            case Said():
                await self._said(arrival, claude)
            case ToolWanted():
                self._estimate.wants(arrival.input)
                if arrival.tool == "Read":
                    self._opened[arrival.request] = str(arrival.input.get("file_path", ""))
            case ToolEnded():
                self._tool_ended(arrival)
            case TroubleReported(kind="invalid_request", text=text) if text.startswith(_FULL):
                await self._due(Level.CRITICAL, "the context is full", claude, inbox)
            case _:
                pass
        if not is_held:
            await self._assess(claude, inbox)
        await self._show()

    def _hold(self, is_held: bool) -> None:
        if is_held and self._held_since is None:
            self._held_since = self.clock.now()
        elif not is_held and self._held_since is not None:
            self._began_at += self.clock.now() - self._held_since
            self._held_since = None

    async def _said(self, said: Said, claude: ClaudeCode) -> None:
        self._estimate.said(said.text)
        if not said.context_tokens:
            return
        self.tokens = said.context_tokens
        half = self.iteration.limits(self.settings, self._window).warn_tokens // 2
        if self._window is None and self.tokens > half:
            self._window = await claude.context_window() or self.iteration.session.context_window

    def _tool_ended(self, ended: ToolEnded) -> None:
        path = self._opened.pop(ended.request, None)
        if path is None or ended.is_error:
            self._estimate.said(ended.text)
        else:
            self._estimate.opened(path)
        self._keep_good_version()

    def _keep_good_version(self) -> None:
        """Claude may write the document in several steps; the last whole one is kept."""
        text = self._folder.read(DOCUMENT) if self._has_folder and self._begun else None
        if text is None or text == self._folder.read(LAST_GOOD):
            return
        with suppress(DamagedDocumentError, PerpetualError):
            parse_document(text)
            self._folder.write(LAST_GOOD, text)

    async def _assess(self, claude: ClaudeCode, inbox: Inbox) -> None:
        used = self.tokens or self._estimate.tokens(self.minutes)
        limits = self.iteration.limits(self.settings, self._window)
        level, reason = level_of(limits, used, self.minutes)
        if level.rank > self.level.rank:
            await self._due(level, reason, claude, inbox)
        if not self._is_told and self._folder.take_trigger():
            self.is_triggered = True
            reason = self.reason or "a person asked for it (trigger.flag)"
            await self._due(Level.CRITICAL, reason, claude, inbox)
        if self._is_told and self.clock.now() - self._told_at > _GRACE:
            await claude.interrupt()
            if self.clock.now() - self._told_at > _GIVING_UP:
                inbox.put(Gone(error="Claude Code did not stop for its handover"))

    async def _due(self, level: Level, reason: str, claude: ClaudeCode, inbox: Inbox) -> None:
        """Write it down first; then tell Claude, or end the run."""
        self.level, self.reason = level, reason
        begun = self._handover()
        await self.records.begin(begun)
        self._begun = self._begun or begun
        await self.journal.record(
            HandoverDue(
                session=begun.session,
                run=begun.run,
                task=begun.task,
                iteration=begun.iteration,
                status=level.value,
                reason=reason,
                tokens=self.tokens,
                minutes=round(self.minutes, 2),
            )
        )
        if level is Level.CRITICAL:
            self._is_told, self._told_at = True, self.clock.now()
            inbox.put(Told(order=Order.HAND_OVER))
            return
        await self._prepare_folder()
        claude.remind(reminder(self._folder, reason, has_folder=self._has_folder))

    async def _prepare_folder(self) -> None:
        """An ordinary session gets the folder when it is needed; without one it goes on too."""
        if self._has_folder:
            return
        try:
            self._folder.prepare()
            self._lay_out()
            self._has_folder = True
        except PerpetualError as error:
            await self._problem(error)

    def _handover(self) -> Handover:
        return Handover(
            session=self.iteration.session.id,
            task=self.iteration.task.id,
            iteration=self.iteration.number,
            run=self.launch.run,
            claude_session=self.launch.claude_session,
            reason=self.reason,
            begun_at=self.clock.now(),
        )

    async def _show(self) -> None:
        """status.txt and the status line: every 30 s, and when something changed."""
        if not self._has_folder:
            return
        now, shown = self.clock.now(), (self.level, self.tokens)
        if shown == self._shown and now - self._status_at < _STATUS_EVERY:
            return
        limits = self.iteration.limits(self.settings, self._window)
        used = self.tokens or self._estimate.tokens(self.minutes)
        is_news = self._shown is None or self._shown[0] is not self.level
        try:
            self._folder.write(STATUS, status_text(limits, used, self.minutes, self.level))
            state = state_text(self.iteration, now, level=self.level, tokens=used)
            self._folder.write(STATE, state)
        except PerpetualError as error:
            self._has_folder = False
            await self._problem(error)
        if is_news or now - self._status_at >= _STATUS_EVERY:
            self._status_at = now
            await self.journal.record(
                ContextMeasured(
                    session=self.iteration.session.id,
                    run=self.launch.run,
                    task=self.iteration.task.id,
                    iteration=self.iteration.number,
                    status=self.level.value,
                    tokens=used,
                    hard_tokens=limits.hard_tokens,
                    minutes=round(self.minutes, 2),
                    hard_minutes=limits.hard_minutes,
                )
            )
        self._shown = shown

    async def _problem(self, error: PerpetualError) -> None:
        await self.journal.record(
            ProblemNoticed(
                session=self.iteration.session.id,
                run=self.launch.run,
                task=self.iteration.task.id,
                text=error.message,
                hint=error.hint or "",
            )
        )

    async def conclude(self, outcome: Outcome, facts: RunFacts) -> Outcome:
        """The run's outcome, or what its handover came to."""
        manner = self._manner(outcome, facts)
        if manner is None or self._begun is None:
            if isinstance(outcome, Done) and self._begun is not None:
                await self.records.drop(self.iteration.session.id)
            return outcome
        ending = Ending(
            manner=manner,
            tokens=self.tokens,
            seconds=self.minutes * 60,
            error=facts.error or (facts.turn.result if facts.turn else ""),
        )
        begun = self._handover()
        handover = await self.maker.make(begun, self.iteration, ending)
        return await self.maker.outcome(handover, self.iteration)

    def _manner(self, outcome: Outcome, facts: RunFacts) -> Manner | None:
        """None: there is no handover, or it is made when the run goes on."""
        if self._begun is None or facts.order is Order.PAUSE:
            return None
        match outcome:
            case Done():
                self.is_triggered = self.is_triggered or self._folder.take_trigger()
                return Manner.WRITTEN if self.is_triggered or self._has_more_to_do() else None
            case Later(counts=True) | Failed() if facts.order is Order.HAND_OVER:
                return Manner.WRITTEN
            case Later(counts=True) | Failed():
                return Manner.EMERGENCY
            case _:
                return None

    def _has_more_to_do(self) -> bool:
        """Claude ended its turn after the warning: is the task finished, or its unit of work?"""
        text = self._folder.read(DOCUMENT) if self._has_folder else None
        carried = self.iteration.carried
        if text is None or text == (carried.document if carried else self._template()):
            return False
        try:
            return parse_document(text).has_more_to_do
        except DamagedDocumentError:
            return False


def _owner(state: str | None) -> str:
    """The session that a state.json belongs to; it is the agent's to write, so anything may be."""
    try:
        owner = json.loads(state or "{}").get("session", "")
    except (ValueError, AttributeError):
        return ""
    return owner if isinstance(owner, str) and owner.isalnum() and len(owner) <= 32 else ""


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
