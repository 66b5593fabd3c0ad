"""Memory's tables in a dictionary: the least that keeps their promises."""

from collections.abc import Sequence
from dataclasses import replace

from perpetualcc.daemon.meanings import Meanings
from perpetualcc.memory.episodic import KeptEpisode
from perpetualcc.memory.terms import terms_of

NO_MODEL = Meanings(lambda: None)
"""Where `knowledge` has none: words must do."""


class EpisodesInMemory:
    """`memory.episodic.EpisodeTable`."""

    def __init__(self):
        self.kept: dict[int, KeptEpisode] = {}
        self.useful: dict[int, float] = {}

    async def add(self, episode):
        number = len(self.kept) + 1
        self.kept[number] = KeptEpisode(id=number, episode=episode)
        return number

    async def with_terms(self, terms: Sequence[str], per_term: int):
        return {
            term: [n for n in sorted(self.kept, reverse=True) if term in self._terms(n)][:per_term]
            for term in terms
        }

    async def get(self, ids):
        return [self.kept[number] for number in ids if number in self.kept]

    async def recent(self, session, limit):
        found = [one for one in self.kept.values() if one.episode.session == session]
        return found[::-1][:limit]

    async def newest(self, project, limit):
        here = [one for one in self.kept.values() if project in {None, one.episode.project}]
        return here[::-1][:limit]

    async def keep_vectors(self, model, vectors):
        for number, vector in vectors.items():
            made = {"embedding": tuple(vector), "model": model}
            self.kept[number] = replace(self.kept[number], **made)

    async def mark_useful(self, ids, at):
        self.useful |= dict.fromkeys(ids, at)

    async def forget(self, provenance, before):
        old = [
            number
            for number, one in self.kept.items()
            if one.episode.provenance is provenance
            and one.episode.timestamp < before
            and self.useful.get(number, 0) < before
        ]
        for number in old:
            del self.kept[number]
        return len(old)

    def _terms(self, number):
        one = self.kept[number].episode
        return terms_of(f"{one.event_type} {one.context} {one.action} {one.rationale}")


class ProceduresInMemory:
    """`memory.procedural.ProcedureTable`."""

    def __init__(self):
        self.kept = {}

    async def add(self, procedure):
        for number, old in self.kept.items():
            if _key(old) == _key(procedure):
                self.kept[number] = replace(old, action=procedure.action)
                return number
        number = len(self.kept) + 1
        self.kept[number] = replace(procedure, id=number)
        return number

    async def of_type(self, event_type, project, limit):
        found = [
            one
            for one in self.kept.values()
            if one.event_type == event_type and one.project in {"", project}
        ]
        return sorted(found, key=lambda one: (-one.confidence, one.id))[:limit]

    async def by_trigger(self, trigger):
        return [one for one in self.kept.values() if one.trigger_pattern == trigger]

    async def settle(self, number, change, low, high):
        old = self.kept[number]
        self.kept[number] = replace(
            old,
            confidence=round(min(high, max(low, old.confidence + change)), 4),
            success_count=old.success_count + (change > 0),
            failure_count=old.failure_count + (change <= 0),
        )


def _key(procedure):
    return procedure.event_type, procedure.project, procedure.trigger_pattern
