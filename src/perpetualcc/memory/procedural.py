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
MOST_TRIED = 1_000
"""Procedures tried on one text, surest first."""
_LONGEST_TEXT = 10_000


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
    project: str = ""
    """Path of the project; empty: everywhere."""


class ProcedureTable(Protocol):
    """Keeps procedures; a trigger is unique within its event type and project."""

    async def add(self, procedure: Procedure) -> int:
        """Returns the number; an existing trigger gets the new action and keeps its record."""
        ...

    async def of_type(self, event_type: str, project: str, limit: int) -> list[Procedure]:
        """The project's and those for everywhere, surest first."""
        ...

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
        project: str = "",
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
                project=project,
            )
        )

    async def get_procedures(self, event_type: str, project: str = "") -> list[Procedure]:
        """Those for an event type in a project, and everywhere, surest first."""
        return await self._table.of_type(event_type, project, MOST_TRIED)

    async def match_procedure(
        self, event_type: str, text: str, project: str = ""
    ) -> Procedure | None:
        """The surest procedure whose trigger fits."""
        return _first_match(await self.get_procedures(event_type, project), text)

    async def settle(self, procedure: Procedure, outcome: Literal["success", "failure"]) -> None:
        """Count an outcome of this one: success +0.05, failure -0.10, within 0.1 and 0.99."""
        change = SUCCESS if outcome == "success" else FAILURE
        await self._table.settle(procedure.id, change, LOWEST, HIGHEST)

    async def update_procedure(self, trigger: str, outcome: Literal["success", "failure"]) -> None:
        """`settle` for all with this trigger. An unknown trigger is nothing."""
        for procedure in await self._table.by_trigger(trigger):
            await self.settle(procedure, outcome)


def raised(confidence: float, procedure: Procedure) -> float:
    """
    How sure a brain is that gave, by itself, the answer which the procedure has.

    Pure. Experience closes a part of the distance to certainty, as large as the procedure is
    better than a coin; it makes nobody surer than the procedure is, nor an opinion of none (0.0).
    """
    if confidence <= 0.0:
        return confidence
    closer = confidence + (1.0 - confidence) * max(0.0, procedure.confidence - 0.5)
    return round(max(confidence, min(procedure.confidence, closer)), 4)


def exact_trigger(text: str) -> str:
    """The glob that fits this text and no other."""
    escaped = re.sub(r"([*?\[])", r"[\1]", text)
    # Between slashes it would be a regular expression.
    return f"[/]{escaped[1:]}" if escaped.startswith("/") else escaped


def _first_match(procedures: Sequence[Procedure], text: str) -> Procedure | None:
    for procedure in procedures:
        expression = _compiled(procedure.trigger_pattern)
        if expression is None:
            if fnmatchcase(text, procedure.trigger_pattern):
                return procedure
        elif expression.search(text[:_LONGEST_TEXT]):
            return procedure
    return None


def _compiled(trigger: str) -> re.Pattern[str] | None:
    if len(trigger) < 3 or not trigger.startswith("/") or not trigger.endswith("/"):
        return None
    try:
        return re.compile(trigger[1:-1])
    except re.error as error:
        raise ValueError(f"{trigger!r} is not a regular expression: {error}") from error
