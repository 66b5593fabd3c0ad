"""One run in hand: what arrives in its inbox, and what is done about it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from perpetualcc.agent.api_reports import ApiReports
from perpetualcc.agent.background import BackgroundWork
from perpetualcc.agent.calls import CallsInHand, calls_an_agent
from perpetualcc.agent.costs import CostCount
from perpetualcc.agent.endings import WIDER_MODES, RunFacts, was_lost, wider_mode
from perpetualcc.agent.faculties import AgentSettings, Faculties
from perpetualcc.agent.inbox import (
    ApiTriedAgain,
    Arrival,
    Asked,
    BackgroundBegan,
    BackgroundChanged,
    ClockTicked,
    Gone,
    HoldExpired,
    Inbox,
    LimitReported,
    MessageEnded,
    Order,
    Said,
    Settled,
    Spoken,
    Started,
    TimeUp,
    Told,
    ToolEnded,
    ToolWanted,
    TroubleReported,
    TurnEnded,
)
from perpetualcc.agent.petitions import Petitioner, questions_digest, to_review
from perpetualcc.agent.ports import ClaudeCode, Launch
from perpetualcc.agent.replies import (
    HANDOVER_FILE,
    KEPT_FOR_A_PERSON,
    answers_by_person,
    by_person,
    changed_by_a_hook,
    refused_unattended,
)
from perpetualcc.agent.run_events import RunEvents
from perpetualcc.agent.verdicts import Verdicts
from perpetualcc.agent.words import WordsInHand
from perpetualcc.domain.decisions import Ruling, Verdict
from perpetualcc.domain.escalations import Escalation, EscalationRequest
from perpetualcc.domain.events import Event, UsageReported
from perpetualcc.domain.ids import RequestId
from perpetualcc.domain.questions import BrainAnswer
from perpetualcc.domain.tasks import Task
from perpetualcc.domain.tools import Risk, ToolCall
from perpetualcc.sessions.budget import BudgetScope, Refusal
from perpetualcc.sessions.handover.folder import is_handover_file
from perpetualcc.sessions.stuck import StuckWatch


@dataclass(slots=True, kw_only=True)
class SupervisedRun:
    """The state of one run. `handle` is called with one arrival at a time, in order."""

    launch: Launch
    task: Task
    facts: RunFacts
    claude: ClaudeCode
    inbox: Inbox
    faculties: Faculties
    settings: AgentSettings
    stuck: StuckWatch
    costs: CostCount
    calls: CallsInHand = field(default_factory=CallsInHand)
    is_over: bool = False
    """Nothing more is wanted of this process: the work is done, or goes on in another run."""
    background: BackgroundWork = field(default_factory=BackgroundWork)
    waiting: dict[int, ToolWanted | Asked] = field(default_factory=dict)
    """What a person was asked, by escalation number."""
    risks: dict[RequestId, Risk] = field(default_factory=dict)
    """Of the calls that a person was asked about."""
    answering: dict[RequestId, int] = field(default_factory=dict)
    """Questions that were answered and have no result yet, with their escalation."""
    context_tokens: int = 0
    context_window: int = 0
    words: WordsInHand = field(init=False)

    def __post_init__(self) -> None:
        self.words = WordsInHand(
            launch=self.launch,
            task=self.task.id,
            claude=self.claude,
            faculties=self.faculties,
            events=self._events,
        )

    async def handle(self, arrival: Arrival) -> None:  # noqa: C901, PLR0912  # a table, one line each
        """One arrival; the table of what is done about each kind."""
        await self.costs.seen(arrival)
        if not isinstance(arrival, ClockTicked):
            self.stuck.heard = self.faculties.steady.now()
        match arrival:
            case ToolWanted():
                await self._tool_wanted(arrival)
            case ToolEnded():
                await self._tool_ended(arrival)
            case Said():
                await self._said(arrival)
            case Asked():
                await self._asked(arrival)
            case Settled():
                await self._settled(arrival)
            case HoldExpired(number=number):
                await self._hold_expired(number)
            case Spoken():
                await self._give_words()
            case MessageEnded(message=message):
                self.words.ended(message)
            case Started():
                await self._started(arrival)
            case LimitReported():
                await self._api.limit(arrival)
            case TroubleReported():
                await self._api.trouble(arrival)
            case ApiTriedAgain():
                await self._api.tried_again(arrival)
                if self.facts.order is Order.LEAVE:
                    await self._wind_up()
            case Told(order=order):
                await self._told(order)
            case TimeUp():
                await self._time_up()
            case BackgroundChanged(works=works):
                self.background.changed(works)
            case BackgroundBegan(work=work, request=request):
                self.background.began(work, self.calls.at_work.get(request))
            case ClockTicked():
                await self._look_at_the_clock()
            case TurnEnded():
                await self._turn_ended(arrival)
            case Gone(error=error):
                self.facts.error = error
                self._outlive_process()

    # -- tools ---------------------------------------------------------------------------------

    async def _tool_wanted(self, wanted: ToolWanted) -> None:
        call = self._call(wanted)
        self.calls.heard.add(wanted.request)
        self.background.act()
        await self._look_at_trust()
        is_beyond = self.facts.over is not None and calls_an_agent(wanted.tool)
        if is_beyond:  # what it calls would ask for replies of its own
            self.calls.begin(wanted.request, call)
        if is_beyond or self.facts.order is not None or self.facts.stuck or self.facts.outdated:
            # Held and never answered: a refusal would be taken for one when the work goes on.
            await self._wind_up()
            return
        if wanted.again is not None:
            self.calls.take_back(wanted.again)
        if wanted.again is not None and not wanted.is_changed:
            ruling = KEPT_FOR_A_PERSON
        elif is_handover_file(call):
            ruling = HANDOVER_FILE
        else:
            ruling = await self.faculties.gatekeeper.judge(call, self.launch.session)
        if wanted.is_changed:
            ruling = changed_by_a_hook(ruling)
        if ruling.verdict is Verdict.ASK:
            await self._ask_for_permission(wanted, ruling)
        else:
            await self._execute(wanted, ruling)

    async def _execute(self, wanted: ToolWanted, ruling: Ruling) -> None:
        """Write the decision down, then let Claude know."""
        decision = await self._verdicts.decide(wanted, ruling)
        call = self._call(wanted)
        # A subagent's calls are not announced: after its last one its caller would go on.
        is_last = self.facts.over is not None and wanted.request in self.calls.announced
        self.facts.is_stopped |= is_last
        is_allowed = decision.verdict is Verdict.ALLOW
        if is_allowed:
            self.calls.begin(wanted.again or wanted.request, call)
        await self.claude.respond_permission(wanted.request, decision, is_last=is_last)
        if is_allowed and wanted.again is not None and not wanted.is_changed:
            return  # the same call was looked at when it came first
        await self._end_if_stuck(self.stuck.called(call, is_allowed=is_allowed, agent=wanted.agent))

    async def _ask_for_permission(self, wanted: ToolWanted, ruling: Ruling) -> None:
        """Take the word given for exactly this call, ask for one, or refuse it for now."""
        call = self._call(wanted)
        request = self._petitioner.for_call(wanted, call, ruling)
        people = self.faculties.people
        known = await people.stored(self.task.id, request.digest)
        if known is not None and await self._take_word(wanted, known, ruling.risk):
            return
        if people.attached(self.launch.session.id) or self.settings.waits_unattended:
            await self.faculties.journal.record(self._events.wanted(wanted, call))
            self.risks[wanted.request] = ruling.risk
            await self._ask_a_person(wanted, request)
        else:
            await people.escalate(to_review(request))
            await self._execute(wanted, refused_unattended(ruling))

    async def _tool_ended(self, ended: ToolEnded) -> None:
        unheard = None if self._is_ending else self.calls.unheard(ended.request)
        call = self.calls.end(ended.request)
        if (number := self.answering.pop(ended.request, None)) and not ended.is_error:
            await self.faculties.people.use(number)
        tried = self._call(unheard) if unheard else call
        self.faculties.journal.note(*self._events.ended(ended, tried))
        if not self.facts.got_on and not ended.is_error:
            self.facts.got_on = await self.faculties.journal.got_on(
                self.launch.run, self.task, ended.request
            )
        if call is not None:
            now = self.faculties.steady.now()
            await self._end_if_stuck(
                self.stuck.ended(call, is_error=ended.is_error, now=now, result=ended.digest)
            )
        await self._look_at_trust()
        if self._is_ending:
            await self._wind_up()
        elif self.facts.question is not None:
            self.is_over = not self.calls.at_work

    @property
    def _is_ending(self) -> bool:
        """Nothing new is to begin: an order, a budget, a run that goes round in circles."""
        facts = self.facts
        told = facts.order is not None or facts.over is not None
        return told or bool(facts.stuck or facts.outdated)

    async def _look_at_trust(self) -> None:
        """Before a call as after one: the call may be what changed the project's own settings."""
        if self.facts.outdated:
            return
        if why := await self.faculties.gatekeeper.outdated(self.launch.session):
            self.facts.outdated = why.message
            await self.faculties.journal.record(self._events.outdated(why.message, why.hint))

    async def _end_if_stuck(self, why: str) -> None:
        """It goes round in circles: what it did, and its conversation, stay. Empty: it does not."""
        if not why or self.facts.stuck:
            return
        self.facts.stuck = why
        await self.faculties.journal.record(self._events.stuck(why))
        await self._wind_up()

    # -- questions -----------------------------------------------------------------------------

    async def _asked(self, asked: Asked) -> None:
        self.calls.heard.add(asked.request)
        await self.faculties.journal.record(self._events.asked(asked))
        call = self._call(asked)
        await self._end_if_stuck(self.stuck.called(call, is_allowed=True))
        if self.facts.stuck or await self._take_stored_answer(asked):
            return
        answers = await self.faculties.answerer.answer(
            asked.questions, self.launch.session, self.task
        )
        sure = self.launch.session.options.confidence
        is_sure = all(answer.selected and answer.confidence >= sure for answer in answers)
        if is_sure and self.settings.answers_alone:
            await self._answer_by_brain(asked, answers)
        else:
            await self._ask_a_person(asked, self._petitioner.for_questions(asked, answers))

    async def _answer_by_brain(self, asked: Asked, answers: Sequence[BrainAnswer]) -> None:
        chosen = {
            question.text: ", ".join(answer.selected)
            for question, answer in zip(asked.questions, answers, strict=True)
        }
        answered = self._events.answered_by_brain(asked, chosen, answers)
        await self.faculties.journal.record(answered)
        await self.claude.respond_answer(asked.request, chosen)

    async def _take_stored_answer(self, asked: Asked) -> bool:
        """Claude repeats a question that it was stopped at: it has been answered meanwhile."""
        known = await self.faculties.people.stored(self.task.id, questions_digest(asked))
        if known is None:
            return False
        self.waiting[known.number] = asked
        await self._settled(Settled(number=known.number, answer=known.answer or {}))
        return True

    # -- people --------------------------------------------------------------------------------

    async def _ask_a_person(self, held: ToolWanted | Asked, request: EscalationRequest) -> None:
        number = await self.faculties.people.escalate(request)
        self.waiting[number] = held
        asyncio.get_running_loop().call_later(
            self.settings.hold.total_seconds(), self.inbox.put, HoldExpired(number=number)
        )
        if self.facts.order is Order.LEAVE:
            await self._told(Order.LEAVE)

    async def _settled(self, settled: Settled) -> None:
        self.stuck.waited(self.faculties.steady.now())
        match self.waiting.pop(settled.number, None):
            case ToolWanted() as wanted:
                await self._take_word(wanted, settled, self.risks[wanted.request])
            case Asked() as asked:
                chosen = answers_by_person(asked.questions, settled.answer)
                self.answering[asked.request] = settled.number
                # It is on record since it was given: nobody may be there to take it then.
                await self.claude.respond_answer(asked.request, chosen)

    async def _take_word(self, wanted: ToolWanted, said: Settled | Escalation, risk: Risk) -> bool:
        """Through a crash an approval counts once, and a refusal is not asked for twice."""
        word, use = by_person(said.answer or {}, risk), self.faculties.people.use
        if word.verdict is Verdict.ALLOW and not await use(said.number):
            return False
        await self._verdicts.list_expired(wanted, word)
        await self._execute(wanted, word)
        return word.verdict is Verdict.ALLOW or await use(said.number)

    async def _hold_expired(self, number: int) -> None:
        """Stop holding Claude: the session waits on as a row, or the call is refused."""
        match self.waiting.get(number):
            case ToolWanted() if not self.settings.waits_unattended:
                await self.faculties.people.expire(number)
            case ToolWanted() | Asked():
                del self.waiting[number]
                # Never answered: whatever we said now would be taken for the person's word.
                self.facts.question = number
                self.is_over = not self.calls.at_work

    async def _give_words(self) -> None:
        """Unless the run is about to end, or its Claude was not heard of yet: then they wait."""
        is_there = self.facts.started and not self.is_over and self.facts.question is None
        if is_there and not self._is_ending and await self.words.give():
            self.stuck.told(self.faculties.steady.now())

    def _outlive_process(self) -> None:
        """A process that was lost while it was held leaves its question: that one waits on."""
        if was_lost(self.facts) and self.facts.limit is None:
            self._leave_question()

    def _leave_question(self) -> None:
        for number, held in self.waiting.items():
            if isinstance(held, Asked) or self.settings.waits_unattended:
                del self.waiting[number]
                self.facts.question = number
                return

    async def _told(self, order: Order) -> None:
        if order is not Order.LEAVE:
            self.facts.order = order
            await self._wind_up()
            return
        # Of a reply that is on its way the first call ends the run: so nothing is paid twice.
        self.facts.order = self.facts.order or order
        if self.waiting or self.faculties.steady.now() < self.facts.next_try:
            self._leave_question()
            await self._wind_up()

    async def _wind_up(self) -> None:
        """
        Once nothing is at work: leave for a pause; end the turn for a handover. A budget waits for
        every call of the reply, those that are held or on their way too: none is interrupted, and
        where Claude Code was told to stop after them it ends the turn itself. An agent that was
        called is not waited for: it would go on and on.
        """
        if self.calls.at_work:
            return
        is_idle = self.background.is_awaited
        leaves = self.facts.order in {Order.PAUSE, Order.LEAVE}
        if is_idle or leaves or self.facts.stuck or self.facts.outdated:
            self.is_over = True
        elif self.facts.order is Order.HAND_OVER:
            await self.claude.interrupt()
        elif self.calls.leave_only_agents:
            if self.calls.calling:
                self.is_over = True
            elif not self.facts.is_stopped:
                await self.claude.interrupt()

    # -- what Claude Code reports --------------------------------------------------------------

    async def _started(self, started: Started) -> None:
        self.background.begin()
        if self.facts.started:
            return
        self.facts.started = True
        await self._give_words()  # of when there was no inbox yet to tell it
        await self.faculties.journal.record(self._events.started(started))
        if started.permission_mode in WIDER_MODES:
            await self._api.trouble(wider_mode(started.permission_mode))
            self.is_over = True

    async def _said(self, said: Said) -> None:
        events: list[Event] = []
        self.facts.replies += 1
        if not said.is_beside:
            self.background.begin()
        self.calls.announce(said.calls)
        if said.text.strip():
            events.append(self._events.said(said.text))
        if said.context_tokens not in {None, self.context_tokens}:
            self.context_tokens = said.context_tokens or 0
            events.append(self._usage())
        self.faculties.journal.note(*events)
        is_new = self.costs.is_new(said)
        if await self.costs.count(said):
            # A further reply is left, not interrupted: a call that is held meanwhile would count
            # as refused by the person, and be missing when the work goes on.
            self.is_over = not self.calls.at_work
        if is_new:
            await self._end_if_stuck(self.stuck.replied(self.faculties.steady.now()))

    async def _time_up(self) -> None:
        self.facts.over = Refusal(scope=BudgetScope.TASK, limit="task_minutes", used=0, allowed=0)
        await self._wind_up()

    async def _turn_ended(self, turn: TurnEnded) -> None:
        if turn.is_empty and not turn.is_error:
            if self.facts.before is not None:
                self.background.wait()
            return
        if not turn.turns and self.facts.before and self.words.is_only_of_words(turn):
            await self.words.stopped(turn.heard, turn.result)
            turn, self.facts.before = self.facts.before, None
        await self.words.turn_ended(turn)
        self.facts.turn = turn = turn.after(self.facts.before)
        if not turn.is_error:
            await self._verdicts.used_by_now()
        self.is_over = True
        goes_on = bool(self.background.kinds) or self.words.are_on_their_way
        if goes_on and self.facts.is_done:  # what ends now may not be the work
            self.facts.before, self.facts.turn = turn, None
            if not self._is_ending:
                self.is_over = False
                self.background.wait()
        is_new = turn.context_window not in {0, self.context_window}
        self.context_window = turn.context_window or self.context_window
        if is_new and self.context_tokens:  # else nothing was said: what was known still holds
            await self.faculties.journal.record(self._usage())
        if self.background.kinds and self.background.is_awaited:
            awaited = self._events.awaited(self.background.in_words)
            await self.faculties.journal.record(awaited)

    async def _look_at_the_clock(self) -> None:
        """
        Claude waits for what works in the background; a command has its time. A process that hangs
        in mid-turn is given up for lost, and so is one that was stopped, whatever works for it.
        """
        is_idle, now = not (self.calls.at_work or self.waiting), self.faculties.steady.now()
        if self.background.is_waited_out:
            self.facts.turn, self.is_over = self.facts.before, True
        elif (silent := self.stuck.silent(now)) and self._hangs(is_idle=is_idle):
            self.inbox.put(Gone(error=silent))
        elif is_idle and self.background.has_agents and self.background.is_awaited:
            await self._end_if_stuck(self.stuck.looked_at(now))

    def _hangs(self, *, is_idle: bool) -> bool:
        if self.waiting:
            return False
        return (is_idle and not self.background.is_awaited) or self.claude.is_stopped

    def _usage(self) -> UsageReported:
        return self._events.used(self.context_tokens, self.context_window)

    def _call(self, held: ToolWanted | Asked) -> ToolCall:
        return held.call(self.launch.session.project)

    @property
    def _api(self) -> ApiReports:
        return ApiReports(
            facts=self.facts, claude=self.claude, faculties=self.faculties, events=self._events
        )

    @property
    def _verdicts(self) -> Verdicts:
        return Verdicts(
            launch=self.launch,
            task=self.task,
            faculties=self.faculties,
            events=self._events,
            petitioner=self._petitioner,
        )

    @property
    def _petitioner(self) -> Petitioner:
        return Petitioner(
            session=self.launch.session.id,
            run=self.launch.run,
            task=self.task.id,
            prompt=self.task.prompt,
        )

    @property
    def _events(self) -> RunEvents:
        return RunEvents(session=self.launch.session.id, run=self.launch.run, task=self.task.id)
