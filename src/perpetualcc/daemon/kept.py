"""What the engine keeps, and where: a property for each table family, made once."""

import os
import secrets
from datetime import timedelta
from functools import cached_property

from perpetualcc.config.clock import wall_clock
from perpetualcc.config.file import Config
from perpetualcc.deferred.repeat import repeated
from perpetualcc.domain.locations import Locations
from perpetualcc.store.budget import SqliteBudget
from perpetualcc.store.claims import SqliteClaims
from perpetualcc.store.database import Database
from perpetualcc.store.decisions import DecisionJournal
from perpetualcc.store.escalations import SqliteEscalations
from perpetualcc.store.events import EventLog
from perpetualcc.store.guards import RuleStore, TrustStore
from perpetualcc.store.journal import SqliteJournal
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.outages import SqliteOutages
from perpetualcc.store.outbox import SqliteOutbox
from perpetualcc.store.reports import SqliteReports
from perpetualcc.store.results import Results
from perpetualcc.store.retention import Retention
from perpetualcc.store.run_memory import SqliteRunMemory
from perpetualcc.store.runs import RunStore
from perpetualcc.store.sessions import SessionStore
from perpetualcc.store.work_ahead import SqliteWorkAhead


class Kept:
    """The stores over one database. What is built upon them is in `daemon.parts`."""

    def __init__(self, locations: Locations, config: Config, database: Database) -> None:
        self.locations = locations
        self.config = config
        self.database = database
        self.clock = wall_clock()

    @cached_property
    def ledger(self) -> SqliteLedger:
        owner = f"{os.getpid()}-{secrets.token_hex(4)}"
        return SqliteLedger(self.database, self.clock, owner=owner, repeats=repeated)

    @cached_property
    def work_ahead(self) -> SqliteWorkAhead:
        return SqliteWorkAhead(self.database)

    @cached_property
    def outages(self) -> SqliteOutages:
        return SqliteOutages(self.database)

    @cached_property
    def events(self) -> EventLog:
        return EventLog(self.database, self.clock)

    @cached_property
    def runs(self) -> RunStore:
        return RunStore(self.database)

    @cached_property
    def sessions(self) -> SessionStore:
        return SessionStore(self.database, self.clock)

    @cached_property
    def decisions(self) -> DecisionJournal:
        return DecisionJournal(self.database, self.clock)

    @cached_property
    def journal(self) -> SqliteJournal:
        return SqliteJournal(
            self.database,
            events=self.events,
            sessions=self.sessions,
            runs=self.runs,
            decisions=self.decisions,
            ledger=self.ledger,
        )

    @cached_property
    def escalations(self) -> SqliteEscalations:
        return SqliteEscalations(self.database, self.clock, self.ledger)

    @cached_property
    def spending(self) -> SqliteBudget:
        return SqliteBudget(self.database)

    @cached_property
    def trust(self) -> TrustStore:
        return TrustStore(self.database, self.clock)

    @cached_property
    def rules(self) -> RuleStore:
        return RuleStore(self.database, self.clock)

    @cached_property
    def claims(self) -> SqliteClaims:
        return SqliteClaims(self.database)

    @cached_property
    def run_memory(self) -> SqliteRunMemory:
        return SqliteRunMemory(self.database)

    @cached_property
    def outbox(self) -> SqliteOutbox:
        return SqliteOutbox(self.database, self.clock)

    @cached_property
    def retention(self) -> Retention:
        keep = timedelta(days=self.config.sessions.history_days)
        return Retention(self.database, self.clock, keep=keep)

    @cached_property
    def reports(self) -> SqliteReports:
        return SqliteReports(self.database)

    @cached_property
    def results(self) -> Results:
        return Results(self.database)
