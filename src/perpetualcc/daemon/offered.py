"""What clients may ask for: the engine's methods, put together of its parts."""

from collections.abc import Mapping
from functools import partial

from perpetualcc.daemon.api import Api
from perpetualcc.daemon.delays import Delays
from perpetualcc.daemon.device_api import DeviceApi
from perpetualcc.daemon.disk import spent_disk
from perpetualcc.daemon.guard_api import GuardApi
from perpetualcc.daemon.parts import Parts
from perpetualcc.daemon.people_api import PeopleApi
from perpetualcc.daemon.report_api import ReportApi
from perpetualcc.daemon.snapshot_api import SnapshotApi
from perpetualcc.daemon.words_api import WordsApi
from perpetualcc.gateway.methods import Method
from perpetualcc.store.devices import DeviceStore


def methods_of(parts: Parts) -> Mapping[str, Method]:
    api = Api(
        manager=parts.manager,
        people=parts.people,
        about_people=PeopleApi(
            manager=parts.manager,
            queue=parts.queue,
            escalations=parts.escalations,
            desk=parts.desk,
            events=parts.events,
            rules=parts.rules,
            ledger=parts.ledger,
            sessions=parts.sessions,
        ),
        held=parts.held,
        delays=Delays(
            is_stopped=parts.is_work_stopped,
            spent_disk=partial(spent_disk, parts.locations.data),
            load=parts.load.why_closed,
            places=parts.config.sessions.lanes,
            taken=lambda: parts.dispatcher.running,
        ),
        about_devices=DeviceApi(
            devices=DeviceStore(parts.database, parts.clock), clock=parts.clock
        ),
        about_words=WordsApi(
            words=parts.words,
            manager=parts.manager,
            held=parts.held,
            agent=parts.agent,
            learning=parts.learning_places,
        ),
        about_guards=GuardApi(guard=parts.guard, trust=parts.trust, rules=parts.rules),
        about_reports=ReportApi(
            reports=parts.reports,
            outages=parts.outages,
            manager=parts.manager,
            held=parts.held,
            clock=parts.clock,
        ),
        about_snapshots=SnapshotApi(
            keeper=parts.snapshots,
            manager=parts.manager,
            held=parts.held,
            ledger=parts.ledger,
            locations=parts.locations,
        ),
        events=parts.events,
        runs=parts.runs,
        decisions=parts.decisions,
        dispatcher=parts.dispatcher,
        checkpoints=parts.checkpoints,
        budget=parts.spending,
        budget_questions=parts.budget_questions,
        clock=parts.clock,
        handovers=parts.handovers,
        minds=parts.minds,
        defaults=parts.config.brain,
        locations=parts.locations,
    )
    return api.methods()
