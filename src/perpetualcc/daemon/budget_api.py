"""The methods about budgets: what is left of them, and another amount."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from perpetualcc.daemon.budget_questions import BudgetQuestions
from perpetualcc.daemon.views import budget_data
from perpetualcc.domain.clock import Clock
from perpetualcc.gateway.methods import Connection, Method, Params
from perpetualcc.store.budget import SqliteBudget


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetApi:
    """`budget.…`."""

    budget: SqliteBudget
    questions: BudgetQuestions
    clock: Clock

    def methods(self) -> Mapping[str, Method]:
        return {
            "budget.show": Method(call=self.show),
            "budget.set": Method(
                call=self.set, params={"name": str, "value": float}, is_decision=True
            ),
        }

    async def show(self, _params: Params, _: Connection) -> Any:
        """
        Every budget with what of it is used, the day's tokens and money, and the subscription's
        `windows` as Claude Code last told of them.
        """
        now = self.clock.now()
        limits, spent = await self.budget.limits(now), await self.budget.spent(now)
        return {
            "budgets": budget_data(limits, spent),
            "today": {"tokens": spent.day_tokens, "usd": spent.day_usd},
            "windows": [asdict(one) for one in await self.budget.windows(now)],
        }

    async def set(self, params: Params, _: Connection) -> Any:
        """Change a budget, and wake what waits for one."""
        name = params["name"]
        limits = await self.budget.set_limit(name, float(params["value"]))
        await self.questions.changed(name)
        return {"name": name, "allowed": getattr(limits, name)}
