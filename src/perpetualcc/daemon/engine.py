"""
The composition root: every part of the engine is made here, and nowhere else.

    database ── stores ── ledger ── dispatcher ── session work ── master agent ── Claude Code
                                        │               │              │
                                      lanes          sessions     gatekeeper, answerer, people
"""

import asyncio
import logging
import os
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from perpetualcc import __version__
from perpetualcc.agent.handover.handovers import Handovers
from perpetualcc.agent.inbox import Order, Settled
from perpetualcc.agent.master_agent import AgentSettings, Faculties, MasterAgent
from perpetualcc.agent.ports import Claudes
from perpetualcc.claude import processes
from perpetualcc.config import claude_directory
from perpetualcc.config.clock import wall_clock
from perpetualcc.config.file import Config, load_config
from perpetualcc.daemon.api import Api
from perpetualcc.daemon.budget import BudgetKeeper
from perpetualcc.daemon.checkpoints import CheckpointKeeper
from perpetualcc.daemon.claudes import ClaudeRunner
from perpetualcc.daemon.gatekeeper import Guard
from perpetualcc.daemon.guard_api import GuardApi
from perpetualcc.daemon.host import run
from perpetualcc.daemon.library import Library
from perpetualcc.daemon.limits import LimitKeeper
from perpetualcc.daemon.minds import BrainAnswerer, Minds
from perpetualcc.daemon.people import HumanBridge
from perpetualcc.daemon.people_api import PeopleApi
from perpetualcc.daemon.people_desk import PeopleDesk, SessionDesk
from perpetualcc.daemon.recollection import Recollection
from perpetualcc.daemon.session_work import SessionWork
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.escalations import Escalation
from perpetualcc.domain.events import EngineStarted, TaskSettled
from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.tasks import Lane, TaskState
from perpetualcc.gateway.methods import Method
from perpetualcc.human.escalation import EscalationQueue
from perpetualcc.learning.places import Places
from perpetualcc.learning.service import LearningService
from perpetualcc.memory import EpisodicMemory, SemanticMemory
from perpetualcc.sessions.checkpoint import CheckpointManager
from perpetualcc.sessions.limit_waits import WakeUps
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.sessions.rate_limit import RateLimitMonitor
from perpetualcc.sessions.system_load import LoadGate
from perpetualcc.store.budget import SqliteBudget
from perpetualcc.store.database import Database
from perpetualcc.store.decisions import DecisionJournal
from perpetualcc.store.episodes import SqliteEpisodes
from perpetualcc.store.escalations import SqliteEscalations
from perpetualcc.store.events import EventLog
from perpetualcc.store.facts import SqliteFacts
from perpetualcc.store.guards import RuleStore, TrustStore
from perpetualcc.store.handovers import SqliteHandovers
from perpetualcc.store.journal import SqliteJournal
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.limits import SqliteLimitWaits
from perpetualcc.store.runs import RunStore
from perpetualcc.store.sessions import SessionStore
from perpetualcc.work.dispatcher import Dispatcher

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Workers:
    """`sessions.manager.Workers` and `human.escalation.Runs`: the way back to what runs."""

    agent: MasterAgent
    dispatcher: Dispatcher

    def pause(self, session: SessionId) -> bool:
        return self.agent.tell(session, Order.PAUSE)

    async def cancel(self, task: TaskId) -> TaskState:
        return await self.dispatcher.cancel(task)

    def wake(self) -> None:
        self.dispatcher.wake()

    def answered(self, escalation: Escalation) -> None:
        settled = Settled(number=escalation.number, answer=escalation.answer or {})
        self.agent.answered(escalation.request.session, settled)
        self.dispatcher.wake()


class Engine:
    """`daemon.host.Hosted`."""

    def __init__(
        self,
        methods: Mapping[str, Method],
        dispatcher: Dispatcher,
        ledger: SqliteLedger,
        desk: PeopleDesk,
        clock: Clock,
    ) -> None:
        self.methods = methods
        self._dispatcher = dispatcher
        self._ledger = ledger
        self._clock = clock
        self._desk = desk

    @property
    def busy(self) -> bool:
        return self._desk.busy or not self._dispatcher.is_idle

    async def next_due(self) -> float | None:
        """On the supervisor's clock, which is the machine's: a shifted one is shifted back."""
        shift = self._clock.now() - time.time()
        found = [await self._ledger.next_due(), await self._desk.next_due()]
        return min((due - shift for due in found if due is not None), default=None)

    async def stop(self, grace: timedelta) -> None:
        await self._dispatcher.stop(grace)


@asynccontextmanager
async def build(locations: Locations, claudes: Claudes | None = None) -> AsyncIterator[Engine]:
    """
    Put the engine together, recover what an earlier one left, and start working.

    `claudes`: where Claude Code comes from, when it is not this machine's own.
    """
    config = load_config()
    clock = wall_clock()
    async with AsyncExitStack() as stack:
        database = await Database.open(locations.database)
        stack.push_async_callback(database.close)
        ledger = SqliteLedger(database, clock, owner=f"{os.getpid()}-{secrets.token_hex(4)}")
        events = EventLog(database, clock)
        runs = RunStore(database)
        sessions = SessionStore(database, clock)
        decisions = DecisionJournal(database, clock)
        journal = SqliteJournal(
            events=events, sessions=sessions, runs=runs, decisions=decisions, ledger=ledger
        )
        handovers = Handovers(SqliteHandovers(database, events), journal, config.handover, clock)
        people = HumanBridge()
        limits = LimitKeeper(
            waits=SqliteLimitWaits(database),
            settings=config.limits,
            auto_resume=config.sessions.auto_resume,
            record=journal.record,
            people=people,
            clock=clock,
            wake_ups=WakeUps(config.limits.stagger_seconds),
        )
        spending = SqliteBudget(database)
        await spending.recover(clock.now())
        budget = BudgetKeeper(
            store=spending, settings=config.limits, record=journal.record, clock=clock
        )
        checkpoints = CheckpointKeeper(
            manager=CheckpointManager(
                locations.data,
                clock,
                retention=timedelta(days=config.sessions.checkpoint_retention_days),
            ),
            events=events,
            decisions=decisions,
            ledger=ledger,
        )
        minds = Minds(config.brain, locations)
        library = Library(config.knowledge)
        recollection = Recollection(
            events,
            sessions,
            EpisodicMemory(SqliteEpisodes(database)),
            SemanticMemory(SqliteFacts(database)),
        )
        trust, rules = TrustStore(database, clock), RuleStore(database, clock)
        guard = Guard(config.permissions, minds, trust, rules)
        claudes = claudes or ClaudeRunner(
            locations,
            binary=config.claude.path,
            started=journal.process_started,
            model_for=limits.model_for,
            is_intact=checkpoints.is_intact,
            layers=guard.layers,
            tools=library.tools,
        )
        agent = MasterAgent(
            Faculties(
                claudes=claudes,
                journal=journal,
                gatekeeper=guard,
                answerer=BrainAnswerer(minds, library, recollection),
                people=people,
                clock=clock,
                handovers=handovers,
                checkpoints=checkpoints,
                meter=budget,
                limits=RateLimitMonitor(
                    clock,
                    warn_at=config.limits.warn_at,
                    overage_allowed=config.limits.overage,
                ),
            ),
            AgentSettings(
                hold=config.human.hold,
                waits_unattended=config.human.waits_unattended,
                stuck=config.stuck,
            ),
        )
        work = SessionWork(agent, limits, budget, checkpoints)
        dispatcher = Dispatcher(
            ledger,
            work,
            lanes(config),
            clock,
            describe=work.describe,
            settled=work.settled,
            is_open=LoadGate(config.load).is_open,
        )
        workers = Workers(agent, dispatcher)
        manager = work.manager = SessionManager(sessions, ledger, journal.record, workers)
        escalations = SqliteEscalations(database, clock, ledger)
        queue = EscalationQueue(escalations, workers, config.human, clock)
        people.queue = queue
        await _recover(locations, ledger, manager, events)
        desk = PeopleDesk(
            locations=locations,
            config=config,
            database=database,
            clock=clock,
            queue=queue,
            escalations=escalations,
            work=SessionDesk(manager=manager, ledger=ledger, events=events),
        )
        api = Api(
            manager=manager,
            people=people,
            about_people=PeopleApi(
                manager=manager, queue=queue, escalations=escalations, desk=desk, rules=rules
            ),
            events=events,
            runs=runs,
            decisions=decisions,
            dispatcher=dispatcher,
            checkpoints=checkpoints,
            budget=spending,
            clock=clock,
            handovers=handovers,
            minds=minds,
            defaults=config.brain,
            claude_model=config.claude.model,
            about_guards=GuardApi(guard=guard, trust=trust, rules=rules),
        )
        since = await events.last()
        working = await stack.enter_async_context(asyncio.TaskGroup())
        for name, watching in (
            ("recollection", recollection.run(since)),
            ("index", library.run(events.follow(since))),
        ):
            # Observers follow the log for ever; they go before the log does.
            stack.callback(working.create_task(watching, name=name).cancel)
        learning = LearningService(Places(claude=claude_directory()))
        if learning.is_wanted:
            working.create_task(learning.run(), name="learning")
            stack.push_async_callback(learning.stop)
        working.create_task(dispatcher.run(), name="dispatcher")
        stack.push_async_callback(dispatcher.stop, timedelta())
        working.create_task(desk.run(), name="people")
        stack.push_async_callback(desk.stop)
        yield Engine(api.methods(), dispatcher, ledger, desk, clock)


def lanes(config: Config) -> Mapping[Lane, int]:
    """How many tasks of each kind run at the same time."""
    return {
        Lane.INTERACTIVE: config.sessions.max_concurrent,
        Lane.GOAL: config.sessions.max_concurrent,
        Lane.CRON: 2,  # seed 003, NFR-1
        Lane.MAINTENANCE: 1,
    }


async def _recover(
    locations: Locations, ledger: SqliteLedger, manager: SessionManager, events: EventLog
) -> None:
    """End what an earlier engine left running, then take its tasks over."""
    orphans = await asyncio.to_thread(processes.sweep, locations.data, timedelta(seconds=2))
    recovered = await ledger.recover()
    await manager.recover()
    # Parked after too many crashes: people hear of it as of any other task that stopped.
    stopped = [
        TaskSettled(
            session=SessionId(task.group), task=task.id, state=task.state.value, result=task.result
        )
        for task in recovered
        if task.state.is_final
    ]
    started = EngineStarted(version=__version__, recovered=len(recovered), orphans=orphans)
    await events.append([*stopped, started])
    if recovered or orphans:
        log.warning("took over %d tasks, ended %d processes", len(recovered), orphans)


if __name__ == "__main__":
    run(build)
