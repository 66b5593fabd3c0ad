"""The offer to make a rule, put into the questions it belongs to."""

from dataclasses import dataclass, replace

from perpetualcc.domain.escalations import ALWAYS, EscalationRequest
from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.offers import offer
from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.store.escalations import SqliteEscalations


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOffers:
    """Knows what people have approved before."""

    escalations: SqliteEscalations
    settings: PermissionSettings

    async def with_offer(self, request: EscalationRequest) -> EscalationRequest:
        """The request with the option `Always`, when it is about a kind approved often enough."""
        kind, risk = str(request.raw.get("kind", "")), request.raw.get("risk")
        if not kind or risk is None:
            return request
        approvals = await self.escalations.approvals(request.session, kind)
        words = offer(kind, Risk(risk), approvals, self.settings)
        if not words:
            return request
        return replace(request, options=(*request.options, {"label": ALWAYS, "description": words}))
