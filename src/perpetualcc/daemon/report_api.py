"""The method that tells what happened while nobody looked."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from perpetualcc.daemon.held import Held
from perpetualcc.daemon.views import session_data, that_fits
from perpetualcc.domain.clock import Clock
from perpetualcc.gateway.methods import Connection, Method, Params
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.sessions.outages import Outages
from perpetualcc.sessions.report import Reports
from perpetualcc.store.results import Results


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportApi:
    """`report.show`."""

    reports: Reports
    results: Results
    outages: Outages
    manager: SessionManager
    held: Held
    clock: Clock

    def methods(self) -> Mapping[str, Method]:
        params = {"seconds": float, "session": str | None}
        return {"report.show": Method(call=self.show, params=params)}

    async def show(self, params: Params, _: Connection) -> Any:
        """
        What happened in the last `seconds`: each session as it is now, with its tasks that ended,
        what was said and answered, refused and written, and what it cost. And when nothing ran
        although there was work, and why (`outages`).
        """
        now = self.clock.now()
        since = now - max(0.0, float(params["seconds"]))
        session = await self.manager.id_of(params["session"])
        reports = await self.reports.since(since, now, session)
        seen = await self.held.shown(
            [await self.manager.get_session(one.session) for one in reports]
        )
        taken = await self.results.taken([one.session for one in reports])
        found = [
            {**asdict(one), "session": {**session_data(its), "is_taken": its.id in taken}}
            for one, its in zip(reports, seen, strict=True)
        ]
        outages = [asdict(one) for one in await self.outages.since(since, now, session)]
        told = {"since": since, "until": now, "outages": outages}
        return told | {"sessions": that_fits(found)}
