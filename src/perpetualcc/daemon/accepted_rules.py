"""
The rules that a user accepted, as facts of a project.

A rule is a preference that a person typed, so it is a fact of that category. It stays where it is,
in the memory of learning, and is read anew each time: a rule that was forgotten is no fact.
"""

import asyncio
import logging
from dataclasses import dataclass

from perpetualcc.domain.episodes import Provenance
from perpetualcc.domain.times import day
from perpetualcc.learning.block import most_useful_first
from perpetualcc.learning.library import Library
from perpetualcc.memory import Fact, FactCategory

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AcceptedRules:
    """`memory.semantic.Rules`."""

    learned: Library

    async def __call__(self, project: str) -> list[Fact]:
        """Those in force in the project, the most useful first."""
        try:
            return await asyncio.to_thread(self._read, project)
        except OSError as error:  # no answer is lost for a file of learning
            log.warning("The accepted rules cannot be read: %s", error)
            return []

    def _read(self, project: str) -> list[Fact]:
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
            for one in most_useful_first(self.learned.told(project))
        ]
