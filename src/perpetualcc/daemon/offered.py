"""What clients may ask for: the engine's methods, put together of its parts."""

from collections.abc import Mapping
from functools import partial

from perpetualcc.daemon.api import Api
from perpetualcc.daemon.budget_api import BudgetApi
from perpetualcc.daemon.delays import Delays
from perpetualcc.daemon.device_api import DeviceApi
from perpetualcc.daemon.disk import spent_disk
from perpetualcc.daemon.guard_api import GuardApi
from perpetualcc.daemon.log_api import LogApi
from perpetualcc.daemon.parts import Parts
from perpetualcc.daemon.people_api import PeopleApi
from perpetualcc.daemon.report_api import ReportApi
from perpetualcc.daemon.result_api import ResultApi
from perpetualcc.daemon.snapshot_api import SnapshotApi
from perpetualcc.daemon.words_api import WordsApi
from perpetualcc.gateway.methods import Method
from perpetualcc.store.devices import DeviceStore


def methods_of(parts: Parts) -> Mapping[str, Method]:
    """Every method with its parameters; `docs/protocol.md` is made from this table."""
    words, snapshots, reports = _words(parts), _snapshots(parts), _reports(parts)
    offered = (
        _sessions(parts, words),
        words,
        _people(parts),
        snapshots,
        reports,
        ResultApi(reports=reports, snapshots=snapshots, record=parts.journal.record),
        LogApi(
            events=parts.events,
            decisions=parts.decisions,
            manager=parts.manager,
            sessions=parts.sessions,
            people=parts.people,
        ),
        BudgetApi(budget=parts.spending, questions=parts.budget_questions, clock=parts.clock),
        DeviceApi(devices=DeviceStore(parts.database, parts.clock), clock=parts.clock),
        GuardApi(guard=parts.guard, trust=parts.trust, rules=parts.rules),
    )
    return {name: method for one in offered for name, method in one.methods().items()}


def _sessions(parts: Parts, words: WordsApi) -> Api:
    return Api(
        manager=parts.manager,
        held=parts.held,
        delays=Delays(
            is_stopped=parts.is_work_stopped,
            spent_disk=partial(spent_disk, parts.locations.data),
            load=parts.load.why_closed,
            places=parts.config.sessions.lanes,
            taken=lambda: parts.dispatcher.running,
        ),
        about_words=words,
        events=parts.events,
        results=parts.results,
        runs=parts.runs,
        decisions=parts.decisions,
        dispatcher=parts.dispatcher,
        checkpoints=parts.checkpoints,
        budget=parts.spending,
        clock=parts.clock,
        handovers=parts.handovers,
        minds=parts.minds,
        defaults=parts.config.brain,
        locations=parts.locations,
    )


def _words(parts: Parts) -> WordsApi:
    return WordsApi(
        words=parts.words,
        manager=parts.manager,
        held=parts.held,
        agent=parts.agent,
        learning=parts.learning_places,
    )


def _people(parts: Parts) -> PeopleApi:
    return PeopleApi(
        manager=parts.manager,
        queue=parts.queue,
        escalations=parts.escalations,
        desk=parts.desk,
        events=parts.events,
        rules=parts.rules,
        ledger=parts.ledger,
        sessions=parts.sessions,
    )


def _reports(parts: Parts) -> ReportApi:
    return ReportApi(
        reports=parts.reports,
        results=parts.results,
        outages=parts.outages,
        manager=parts.manager,
        held=parts.held,
        clock=parts.clock,
    )


def _snapshots(parts: Parts) -> SnapshotApi:
    return SnapshotApi(
        keeper=parts.snapshots,
        manager=parts.manager,
        held=parts.held,
        ledger=parts.ledger,
        locations=parts.locations,
    )
