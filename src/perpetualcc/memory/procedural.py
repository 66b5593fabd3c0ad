"""Procedures: what works, and how surely. They make a brain surer, never a call less risky."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, Protocol

from perpetualcc.domain.episodes import Provenance

SUCCESS = 0.05
FAILURE = -0.10
HIGHEST, LOWEST = 0.99, 0.1
"""Seed 000, Component 8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """When this happens, do that."""

    id: int
    event_type: str
    trigger_pattern: str
    """A glob, or a regular expression between slashes."""
    action: str
    confidence: float
    success_count: int = 0
    failure_count: int = 0
    provenance: Provenance = Provenance.TOOL


class ProcedureTable(Protocol):
    """Keeps procedures; a trigger is unique within its event type."""

    async def add(self, procedure: Procedure) -> int:
        """Returns the number; an existing trigger gets the new action and keeps its record."""
        ...

    async def of_type(self, event_type: str) -> list[Procedure]: ...

    async def by_trigger(self, trigger: str) -> list[Procedure]: ...

    async def settle(self, number: int, change: float, low: float, high: float) -> None:
        """Add to the confidence within bounds and count it, in one step."""
        ...


class ProceduralMemory:
    """`match_procedure`, `update_procedure`, `get_procedures` of the seed, over a table."""

    def __init__(self, table: ProcedureTable) -> None:
        self._table = table

    async def add_procedure(
        self,
        event_type: str,
        trigger: str,
        action: str,
        initial_confidence: float = 0.5,
        provenance: Provenance = Provenance.TOOL,
    ) -> int:
        """
        Keep one. Returns its number.

        Raises:
            ValueError: the trigger is not a regular expression, though it has the slashes.
        """
        _compiled(trigger)
        confidence = min(HIGHEST, max(LOWEST, initial_confidence))
        return await self._table.add(
            Procedure(
                id=0,
                event_type=event_type,
                trigger_pattern=trigger,
                action=action,
                confidence=confidence,
                provenance=provenance,
            )
        )

    async def get_procedures(self, event_type: str) -> list[Procedure]:
        """Those for an event type, surest first."""
        return await self._table.of_type(event_type)

    async def match_procedure(self, event_type: str, text: str) -> Procedure | None:
        """The surest procedure whose trigger fits."""
        return _first_match(await self._table.of_type(event_type), text)

    async def update_procedure(self, trigger: str, outcome: Literal["success", "failure"]) -> None:
        """Success +0.05, failure -0.10, within 0.1 and 0.99. An unknown trigger is nothing."""
        change = SUCCESS if outcome == "success" else FAILURE
        for procedure in await self._table.by_trigger(trigger):
            await self._table.settle(procedure.id, change, LOWEST, HIGHEST)


def _first_match(procedures: Sequence[Procedure], text: str) -> Procedure | None:
    for procedure in procedures:
        expression = _compiled(procedure.trigger_pattern)
        if expression is None:
            if fnmatchcase(text, procedure.trigger_pattern):
                return procedure
        elif expression.search(text[:10_000]):
            return procedure
    return None


def _compiled(trigger: str) -> re.Pattern[str] | None:
    if len(trigger) < 3 or not trigger.startswith("/") or not trigger.endswith("/"):
        return None
    try:
        return re.compile(trigger[1:-1])
    except re.error as error:
        raise ValueError(f"{trigger!r} is not a regular expression: {error}") from error
