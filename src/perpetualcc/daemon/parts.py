"""
The composition root: every part of the engine is made here, and nowhere else.

    database ── stores ── ledger ── dispatcher ── session work ── master agent ── Claude Code
                                        │               │              │
                                      lanes          sessions     gatekeeper, answerer, people

The stores are in `daemon.kept`, what clients ask in `daemon.offered`. Over 300 lines because it is
one list: a property for each part.
"""

from collections.abc import Mapping
from datetime import timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING

from perpetualcc.agent.faculties import AgentSettings, Faculties
from perpetualcc.agent.handover.handovers import Handovers
from perpetualcc.agent.master_agent import MasterAgent
from perpetualcc.agent.ports import Claudes, Launch
from perpetualcc.config import claude_directory, resolve
from perpetualcc.config.embeddings import embeddings_of
from perpetualcc.config.file import Config
from perpetualcc.daemon import learning_worker
from perpetualcc.daemon.accepted_rules import AcceptedRules
from perpetualcc.daemon.budget import BudgetKeeper
from perpetualcc.daemon.budget_questions import BudgetQuestions
from perpetualcc.daemon.check_shell import CheckShell
from perpetualcc.daemon.checkpoints import CheckpointKeeper
from perpetualcc.daemon.claudes import ClaudeRunner
from perpetualcc.daemon.digest import DayReader, Digest
from perpetualcc.daemon.gatekeeper import Guard
from perpetualcc.daemon.habits import Habits
from perpetualcc.daemon.held import Held
from perpetualcc.daemon.index_keeper import IndexKeeper
from perpetualcc.daemon.kept import Kept
from perpetualcc.daemon.library import Library
from perpetualcc.daemon.limits import LimitKeeper
from perpetualcc.daemon.meanings import Meanings
from perpetualcc.daemon.memory_watch import MemoryWatch
from perpetualcc.daemon.minds import BrainAnswerer, Minds
from perpetualcc.daemon.offers import RuleOffers
from perpetualcc.daemon.open_questions import OpenQuestions
from perpetualcc.daemon.outage_watch import OutageWatch
from perpetualcc.daemon.people import HumanBridge
from perpetualcc.daemon.people_desk import PeopleDesk, SessionDesk
from perpetualcc.daemon.putting_back import is_put_back
from perpetualcc.daemon.recollection import Recollection
from perpetualcc.daemon.reviews import Reviews
from perpetualcc.daemon.session_work import SessionWork
from perpetualcc.daemon.snapshots import SnapshotKeeper
from perpetualcc.daemon.state import is_work_stopped
from perpetualcc.daemon.words import WordKeeper
from perpetualcc.daemon.workers import Workers
from perpetualcc.deferred.conditions import ConditionWatch
from perpetualcc.domain.clock import SteadyClock
from perpetualcc.domain.locations import Locations
from perpetualcc.goals.planner import Planner
from perpetualcc.goals.verifier import Verifier
from perpetualcc.human.attendant import Attendant
from perpetualcc.human.escalation import EscalationQueue
from perpetualcc.human.notifications.channels import desktop_program, find_channels
from perpetualcc.human.notifications.courier import Courier, Equipment
from perpetualcc.learning.library import Library as LearnedRules
from perpetualcc.learning.places import Places
from perpetualcc.learning.service import LearningService
from perpetualcc.memory import EpisodicMemory, ProceduralMemory, SemanticMemory
from perpetualcc.sessions.checkpoint import CheckpointManager
from perpetualcc.sessions.limit_waits import WakeUps
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.sessions.rate_limit import RateLimitMonitor
from perpetualcc.sessions.system_load import LoadGate
from perpetualcc.store.all_work import SqliteAllWork
from perpetualcc.store.budget_days import SqliteBudgetDays
from perpetualcc.store.database import Database
from perpetualcc.store.digests import SqliteDigests
from perpetualcc.store.episodes import SqliteEpisodes
from perpetualcc.store.facts import SqliteFacts
from perpetualcc.store.handovers import SqliteHandovers
from perpetualcc.store.limits import SqliteLimitWaits
from perpetualcc.store.outbox import SqliteNews
from perpetualcc.store.plans import SqlitePlans
from perpetualcc.store.procedures import SqliteProcedures
from perpetualcc.store.snapshots import SqliteSnapshots
from perpetualcc.store.words import SqliteWords
from perpetualcc.work.dispatcher import Dispatcher

if TYPE_CHECKING:
    from perpetualcc.claude.tools import Tool


class Parts(Kept):
    """
    Every part of the engine, made once: when the first part that needs it is made.

    What a part needs stands in its own property; there is no other wiring.
    """

    def __init__(
        self, locations: Locations, config: Config, database: Database, claudes: Claudes | None
    ) -> None:
        super().__init__(locations, config, database)
        self.steady = SteadyClock()
        self._other_claudes = claudes

    # -- what a session goes on by

    @cached_property
    def handovers(self) -> Handovers:
        kept = SqliteHandovers(self.database, self.events)
        return Handovers(kept, self.journal, self.config.handover, self.clock, self.steady)

    @cached_property
    def limits(self) -> LimitKeeper:
        return LimitKeeper(
            waits=SqliteLimitWaits(self.database),
            settings=self.config.limits,
            auto_resume=self.config.sessions.auto_resume,
            record=self.journal.record,
            people=self.people,
            clock=self.clock,
            wake_ups=WakeUps(self.config.limits.stagger_seconds),
            model=self.config.claude.model,
            asked=self.escalations.get,
        )

    @cached_property
    def budget(self) -> BudgetKeeper:
        return BudgetKeeper(
            store=self.spending,
            settings=self.config.limits,
            record=self.journal.record,
            clock=self.clock,
            questions=self.budget_questions,
        )

    @cached_property
    def budget_questions(self) -> BudgetQuestions:
        """Its queue and its manager are set by `queue` and `manager`."""
        days = SqliteBudgetDays(self.database)
        return BudgetQuestions(days, self.journal.record, self.clock)

    @cached_property
    def checkpoints(self) -> CheckpointKeeper:
        days = timedelta(days=self.config.sessions.checkpoint_retention_days)
        return CheckpointKeeper(
            manager=CheckpointManager(self.locations.data, self.clock, retention=days),
            events=self.events,
            decisions=self.decisions,
            ledger=self.ledger,
            summarize=self.minds.summarize,
            claims=self.claims,
            outgrown=self.run_memory.last,
        )

    @cached_property
    def verifier(self) -> Verifier:
        shell = CheckShell(self.locations.data)
        return Verifier(self.claims, shell, self.journal.record, self.config.checks)

    @cached_property
    def planner(self) -> Planner:
        plans = SqlitePlans(self.database)
        return Planner(plans, self.claims, self.people, self.guard.lets_run, self.journal.record)

    # -- who thinks, guards and answers

    @cached_property
    def learning_places(self) -> Places:
        return Places(claude=claude_directory())

    @cached_property
    def learning(self) -> LearningService:
        places = self.learning_places
        return LearningService(places, learning_worker.command(places, self.locations))

    @cached_property
    def minds(self) -> Minds:
        return Minds(self.config.brain, self.locations, self.budget.brain_used)

    @cached_property
    def library(self) -> Library:
        return Library(partial(embeddings_of, self.config), self.config.knowledge)

    @cached_property
    def index_keeper(self) -> IndexKeeper:
        is_wanted = self.config.knowledge.auto_index
        return IndexKeeper(self.library, self.sessions.project, is_wanted=is_wanted)

    @cached_property
    def snapshots(self) -> SnapshotKeeper:
        settings = self.config.sessions
        return SnapshotKeeper(
            SqliteSnapshots(self.database),
            self.journal.record,
            self.clock,
            self.locations.run_dir / "snapshots",
            is_wanted=settings.snapshots,
            keep=timedelta(days=settings.history_days),
            is_put_back=partial(is_put_back, self.locations),
        )

    @cached_property
    def recollection(self) -> Recollection:
        rules = AcceptedRules(LearnedRules(self.learning_places))
        return Recollection(
            self.events,
            self.sessions,
            self.ledger,
            EpisodicMemory(SqliteEpisodes(self.database), Meanings(self.library.embeddings)),
            SemanticMemory(SqliteFacts(self.database), rules),
            self.habits,
            self.clock,
        )

    @cached_property
    def habits(self) -> Habits:
        return Habits(ProceduralMemory(SqliteProcedures(self.database)))

    @cached_property
    def guard(self) -> Guard:
        return Guard(self.config.permissions, self.minds, self.trust, self.rules, self.habits)

    @cached_property
    def answerer(self) -> BrainAnswerer:
        return BrainAnswerer(self.minds, self.library, self.recollection)

    @cached_property
    def people(self) -> HumanBridge:
        """Its queue is set by `queue`: the queue and the agent need each other."""
        settings = self.config.permissions
        return HumanBridge(RuleOffers(escalations=self.escalations, settings=settings))

    @cached_property
    def words(self) -> WordKeeper:
        return WordKeeper(store=SqliteWords(self.database, self.clock))

    @cached_property
    def queue(self) -> EscalationQueue:
        queue = EscalationQueue(self.escalations, self.workers, self.config.human, self.clock)
        self.people.queue = self.budget_questions.queue = queue
        return queue

    # -- who works

    @cached_property
    def outage_watch(self) -> OutageWatch:
        return OutageWatch(locations=self.locations, outages=self.outages, clock=self.clock)

    @cached_property
    def claudes(self) -> Claudes:
        return self._other_claudes or ClaudeRunner(
            self.locations,
            binary=self.config.claude.path,
            started=self.runs.process_started,
            model_for=self.limits.model_for,
            is_intact=self.checkpoints.is_intact,
            layers=self.guard.layers,
            tools=self._tools,
            watching=self.memory_watch.watching,
        )

    @cached_property
    def memory_watch(self) -> MemoryWatch:
        return MemoryWatch(
            data=self.locations.data,
            settings=self.config.load,
            record=self.journal.record,
            past=self.run_memory,
            clock=self.clock,
        )

    def _tools(self, launch: Launch) -> Mapping[str, "Tool"]:
        found = dict(self.library.tools(launch.session.project))
        return found if launch.goal is None else {**found, **self.planner.tools(launch.goal)}

    @cached_property
    def agent(self) -> MasterAgent:
        limits, human = self.config.limits, self.config.human
        return MasterAgent(
            Faculties(
                claudes=self.claudes,
                journal=self.journal,
                gatekeeper=self.guard,
                answerer=self.answerer,
                people=self.people,
                words=self.words,
                clock=self.clock,
                steady=self.steady,
                handovers=self.handovers,
                checkpoints=self.checkpoints,
                meter=self.budget,
                limits=RateLimitMonitor(
                    self.clock, warn_at=limits.warn_at, overage_allowed=limits.overage
                ),
            ),
            AgentSettings(
                hold=human.hold,
                waits_unattended=human.waits_unattended,
                answers_alone=self.config.brain.auto_answer,
                stuck=self.config.stuck,
            ),
        )

    @cached_property
    def work(self) -> SessionWork:
        """Its manager is set by `manager`: the manager and the dispatcher need each other."""
        questions = OpenQuestions(
            escalations=self.escalations, permissions=self.config.human.waits_unattended
        )
        return SessionWork(
            self.agent,
            self.limits,
            self.budget,
            self.checkpoints,
            questions,
            self.events,
            self.verifier,
            self.planner,
            reviews=self.reviews,
            memory=self.memory_watch,
            snapshots=self.snapshots,
            words=self.words,
        )

    @cached_property
    def reviews(self) -> Reviews:
        return Reviews(
            most=self.config.sessions.unreviewed,
            sessions=self.sessions,
            results=self.results,
            tasks=self.ledger,
            clock=self.clock,
        )

    @cached_property
    def dispatcher(self) -> Dispatcher:
        return Dispatcher(
            self.ledger,
            self.work,
            self.config.sessions.lanes,
            self.clock,
            describe=self.work.describe,
            settled=self.work.settled,
            is_open=lambda lane: not self.is_work_stopped() and self.load.is_open(lane),
        )

    def is_work_stopped(self) -> bool:
        return is_work_stopped(self.locations)

    @cached_property
    def conditions(self) -> ConditionWatch:
        return ConditionWatch(
            self.ledger,
            CheckShell(self.locations.data).run,
            self.sessions.get,
            self.clock,
            self.dispatcher.wake,
            is_open=lambda: not self.is_work_stopped(),
        )

    @cached_property
    def load(self) -> LoadGate:
        return LoadGate(self.config.load)

    @cached_property
    def workers(self) -> Workers:
        return Workers(self.agent, self.dispatcher)

    @cached_property
    def manager(self) -> SessionManager:
        manager = SessionManager(self.sessions, self.ledger, self.journal.record_now, self.workers)
        self.work.manager = self.budget_questions.manager = manager
        return manager

    # -- who tells people

    @cached_property
    def equipment(self) -> Equipment:
        settings, program = self.config.notifications, desktop_program()
        return Equipment(
            channels=find_channels(settings, resolve, desktop_program=program),
            settings=settings,
            receipts=self.locations.run_dir / "receipts",
            desktop_program=program,
        )

    @cached_property
    def courier(self) -> Courier:
        return Courier(self.outbox, self.equipment, self.clock)

    @cached_property
    def attendant(self) -> Attendant:
        return Attendant(
            news=SqliteNews(self.database, self.events),
            queue=self.queue,
            work=SessionDesk(
                manager=self.manager,
                ledger=self.ledger,
                events=self.events,
                budget=self.budget_questions,
                work=SqliteAllWork(self.database, self.clock),
            ),
            outbox=self.outbox,
            channels=self.equipment.channels,
            settings=self.equipment.settings,
            wake=self.courier.wake,
            page=self.config.dashboard.address,
        )

    @cached_property
    def digest(self) -> Digest:
        digests = SqliteDigests(self.database, self.outbox)
        return Digest(
            reader=DayReader(
                reports=self.reports,
                outages=self.outages,
                manager=self.manager,
                held=self.held,
                queue=self.queue,
                digests=digests,
                page=self.config.dashboard.address,
            ),
            digests=digests,
            equipment=self.equipment,
            clock=self.clock,
            sent=self.courier.wake,
        )

    @cached_property
    def held(self) -> Held:
        return Held(escalations=self.escalations, manager=self.manager)

    @cached_property
    def desk(self) -> PeopleDesk:
        return PeopleDesk(
            queue=self.queue,
            escalations=self.escalations,
            attendant=self.attendant,
            outbox=self.outbox,
            courier=self.courier,
            equipment=self.equipment,
            digest=self.digest,
            ladder=self.config.human.ladder,
            clock=self.clock,
            data=self.locations.data,
        )
