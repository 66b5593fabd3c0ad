"""
What is known about a project: the facts that are kept, and the rules its user accepted.

A rule is a preference that a person typed, so it is a fact of that category. It stays where it is,
in the memory of learning, and is read anew each time: a rule that was forgotten is no fact.
"""

import asyncio
import logging
from collections.abc import Sequence

from perpetualcc.domain.episodes import Provenance
from perpetualcc.domain.times import day
from perpetualcc.learning.block import most_useful_first
from perpetualcc.learning.library import Library
from perpetualcc.memory import Fact, FactCategory
from perpetualcc.memory.semantic import FactTable

log = logging.getLogger(__name__)


class KnownFacts:
    """`memory.semantic.FactTable` over another: the rules in force come first."""

    def __init__(self, kept: FactTable, learned: Library) -> None:
        self._kept = kept
        self._learned = learned

    async def add(self, fact: Fact) -> int:
        """Keep one in the table."""
        return await self._kept.add(fact)

    async def of_project(self, project: str, category: FactCategory | None) -> list[Fact]:
        """Most trusted first: the user's rules, the most useful first, then what is kept."""
        kept = await self._kept.of_project(project, category)
        if category not in {None, FactCategory.PREFERENCE}:
            return kept
        try:
            rules = await asyncio.to_thread(self._rules, project)
        except OSError as error:  # no answer is lost for a file of learning
            log.warning("The accepted rules cannot be read: %s", error)
            rules = []
        said = {rule.fact for rule in rules}
        return [*rules, *(fact for fact in kept if fact.fact not in said)]

    async def mark_useful(self, numbers: Sequence[int], at: float) -> None:
        """Of the table: rules are ranked by the memory of learning."""
        await self._kept.mark_useful(numbers, at)

    async def forget(self, provenance: Provenance, before: float) -> int:
        """Of the table."""
        return await self._kept.forget(provenance, before)

    async def remove(self, number: int) -> str:
        """Of the table: a rule is forgotten where it is kept."""
        return await self._kept.remove(number)

    def _rules(self, project: str) -> list[Fact]:
        return [
            Fact(
                id=0,
                project=project,
                category=FactCategory.PREFERENCE,
                fact=one.rule,
                source=f"you, {day(one.last_seen)}",
                provenance=Provenance.USER,
                created_at=one.first_seen,
            )
            for one in most_useful_first(self._learned.told(project))
        ]
