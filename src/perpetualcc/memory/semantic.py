"""Facts: what is true in a project, and who said so."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from perpetualcc.domain.episodes import Provenance
from perpetualcc.memory.retention import overdue


class FactCategory(StrEnum):
    """Seed 000, Phase 8."""

    CONVENTION = "convention"
    ARCHITECTURE = "architecture"
    DECISION = "decision"
    PREFERENCE = "preference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing that is true in a project."""

    id: int
    """In the table; 0: it is kept elsewhere."""
    project: str
    category: FactCategory
    fact: str
    source: str
    """Where it is written: a path, a session, an address."""
    provenance: Provenance
    created_at: float
    last_useful: float | None = None
    """When a brain was last told; UTC epoch."""


class FactTable(Protocol):
    """Keeps facts; the same fact of a project and category is kept once."""

    async def add(self, fact: Fact) -> int: ...

    async def of_project(self, project: str, category: FactCategory | None) -> list[Fact]:
        """Most trusted first, then newest."""
        ...

    async def mark_useful(self, numbers: Sequence[int], at: float) -> None: ...

    async def forget(self, provenance: Provenance, before: float) -> int:
        """Delete what was neither added nor useful since. Returns how many."""
        ...

    async def remove(self, number: int) -> str:
        """What it said; empty: there is none of that number."""
        ...


Rules = Callable[[str], Awaitable[list[Fact]]]
"""Preferences of a project that are kept elsewhere, the most useful first."""


async def no_rules(_project: str) -> list[Fact]:
    return []


class SemanticMemory:
    """`add_fact` and `get_facts` of the seed, and what is no longer true, over a table."""

    def __init__(self, table: FactTable, rules: Rules = no_rules) -> None:
        self._table = table
        self._rules = rules

    async def add_fact(
        self,
        project: str,
        category: FactCategory,
        fact: str,
        source: str,
        provenance: Provenance = Provenance.TOOL,
    ) -> int:
        """
        Keep one; saying it again, from a better source, raises its trust. Returns its number.

        Raises:
            ValueError: a preference that no person typed (FIELD S17).
        """
        if category is FactCategory.PREFERENCE and provenance is not Provenance.USER:
            raise ValueError("only what a user typed can become a preference")
        return await self._table.add(
            Fact(
                id=0,
                project=project,
                category=category,
                fact=fact,
                source=source,
                provenance=provenance,
                created_at=time.time(),
            )
        )

    async def get_facts(self, project: str, category: FactCategory | None = None) -> list[Fact]:
        """A project's facts, most trusted first: its user's rules, then what is kept here."""
        kept = await self._table.of_project(project, category)
        if category not in {None, FactCategory.PREFERENCE}:
            return kept
        rules = await self._rules(project)
        said = {rule.fact for rule in rules}
        return [*rules, *(fact for fact in kept if fact.fact not in said)]

    async def mark_useful(self, facts: Sequence[Fact], now: float) -> None:
        """Somebody was told: they are kept longer. What is kept elsewhere is left alone."""
        if numbers := [one.id for one in facts if one.id]:
            await self._table.mark_useful(numbers, now)

    async def forget_old(self, now: float) -> int:
        """Apply the retention. Returns how many facts went."""
        return sum([await self._table.forget(*one) for one in overdue(now)])

    async def forget_fact(self, number: int) -> str:
        """What it said; empty: there is none of that number."""
        return await self._table.remove(number)
