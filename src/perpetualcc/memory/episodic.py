"""Episodes: what happened before in a situation like this one."""

import asyncio
import logging
import math
import operator
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from perpetualcc.domain.episodes import Episode, Provenance
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.memory.retention import overdue
from perpetualcc.memory.terms import terms_of

log = logging.getLogger(__name__)

TRUST: Mapping[Provenance, float] = {
    Provenance.USER: 1.0,
    Provenance.REPOSITORY: 0.9,
    Provenance.TOOL: 0.8,
    Provenance.WEB: 0.6,
}
PER_TERM = 200
"""Newest episodes looked at for one term: a frequent term tells little, whatever its age."""
_SHORTLIST = 50
_NEWEST = 100
"""Episodes that are compared by meaning although they share no word with the question."""
_RESEMBLES = 0.2
"""Nearness in meaning from which such an episode resembles the question."""
_ENOUGH = 10
"""Episodes from which on their median tells how near to anything a model finds everything."""
_PATIENCE = 5.0
"""Seconds for all of that: what has no vector by then is compared by words."""
_AT_ONCE = 16
_LONGEST = 1_000
"""Characters of an episode that a model reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptEpisode:
    """An episode with its number."""

    id: int
    episode: Episode
    embedding: tuple[float, ...] = ()
    model: str = ""
    """That made the embedding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarEpisode:
    """A past episode and how much it resembles the question."""

    id: int
    episode: Episode
    similarity: float
    """0.0 to 1.0, weighed by the trust in where it came from."""


class EpisodeTable(Protocol):
    """Keeps episodes and finds them by terms. Secrets are redacted before anything is written."""

    async def add(self, episode: Episode) -> int: ...

    async def with_terms(self, terms: Sequence[str], per_term: int) -> dict[str, list[int]]:
        """The newest episodes of each term; a list shorter than `per_term` is complete."""
        ...

    async def get(self, ids: Sequence[int]) -> list[KeptEpisode]: ...

    async def recent(self, session: str, limit: int) -> list[KeptEpisode]: ...

    async def newest(self, project: str | None, limit: int) -> list[KeptEpisode]:
        """Of a project, or of all; not every old one of a project that is seldom met."""
        ...

    async def keep_vectors(self, model: str, vectors: Mapping[int, Sequence[float]]) -> None:
        """By the episodes' numbers; those of another model give way."""
        ...

    async def mark_useful(self, ids: Sequence[int], at: float) -> None: ...

    async def forget(self, provenance: Provenance, before: float) -> int:
        """Delete what was neither recorded nor useful since. Returns how many."""
        ...


class Embedder(Protocol):
    """
    Turns texts into vectors of unit length; `knowledge` has one. Without a model words must do.

    Each may raise PerpetualError: the model cannot be asked now.
    """

    async def model(self) -> str:
        """Its name: vectors of two models say nothing to each other. Empty: there is none."""
        ...

    async def embed(self, text: str) -> Sequence[float]: ...

    async def embed_batch(self, texts: Sequence[str]) -> Sequence[Sequence[float]]: ...


class EpisodicMemory:
    """`record_episode`, `find_similar`, `get_recent` of the seed, over a table."""

    def __init__(self, table: EpisodeTable, embedder: Embedder) -> None:
        self._table = table
        self._embedder = embedder

    async def record_episode(self, episode: Episode) -> int:
        """Keep one, found by its words at once. Returns its number."""
        return await self._table.add(episode)

    async def find_similar(
        self, context: str, top_k: int = 3, *, project: str | None = None
    ) -> list[SimilarEpisode]:
        """
        The past episodes most like `context`, best first; those of `project` only, when given.

        Bounded: at most `PER_TERM` rows a term are touched, however many there are. With a
        model these and the newest are compared by meaning, too; an episode has its vector from
        the first question that it may resemble.
        """
        terms = terms_of(context)
        found = await self._table.with_terms(terms, PER_TERM)
        weights = {term: _rarity(len(ids)) for term, ids in found.items() if ids}
        scores: dict[int, float] = {}
        for term, weight in weights.items():
            for number in found[term]:
                scores[number] = scores.get(number, 0.0) + weight
        short = sorted(scores, key=lambda number: (-scores[number], -number))
        kept = await self._table.get(short[: _SHORTLIST * (1 if project is None else 4)])
        kept = [one for one in kept if project is None or one.episode.project == project]
        kept = sorted(kept, key=lambda one: -scores[one.id])[:_SHORTLIST]
        others, nearness = await self._by_meaning(context, kept, project)
        ranked = [_compare(one, terms, weights, nearness.get(one.id)) for one in (*kept, *others)]
        ranked.sort(key=lambda one: (-one.similarity, -one.id))
        return ranked[:top_k]

    async def _by_meaning(
        self, context: str, kept: Sequence[KeptEpisode], project: str | None
    ) -> tuple[Sequence[KeptEpisode], Mapping[int, float]]:
        """What resembles it without a word in common, and how near each of all these is."""
        known = {one.id for one in kept}
        query: Sequence[float] = ()
        vectors: dict[int, Sequence[float]] = {}
        others: list[KeptEpisode] = []
        try:
            async with asyncio.timeout(_PATIENCE):
                newest = await self._table.newest(project, _NEWEST)
                others = [one for one in newest if one.id not in known]
                if not (kept or others) or not (model := await self._embedder.model()):
                    return (), {}
                query = await self._embedder.embed(context)
                await self._understand((*kept, *others), model, vectors)
        except (PerpetualError, TimeoutError) as error:
            log.warning("what happened before is looked for by words alone: %r", error)
        nearness = _nearness(query, vectors)
        return [one for one in others if nearness.get(one.id, 0.0) >= _RESEMBLES], nearness

    async def _understand(
        self,
        episodes: Sequence[KeptEpisode],
        model: str,
        vectors: dict[int, Sequence[float]],
    ) -> None:
        """Into `vectors`, some at a time: what is there when time is up is used, and kept."""
        vectors |= {one.id: one.embedding for one in episodes if one.model == model}
        lacking = [one for one in episodes if one.id not in vectors]
        for at in range(0, len(lacking), _AT_ONCE):
            some = lacking[at : at + _AT_ONCE]
            made = await self._embedder.embed_batch([_meant(one.episode) for one in some])
            fresh = {one.id: vector for one, vector in zip(some, made, strict=True)}
            vectors |= fresh
            with suppress(PerpetualError):  # one that can only be read is searched all the same
                await self._table.keep_vectors(model, fresh)

    async def get_recent(self, session: str, limit: int = 10) -> list[Episode]:
        """A session's last episodes, newest first."""
        return [one.episode for one in await self._table.recent(session, limit)]

    async def mark_useful(self, similar: Sequence[SimilarEpisode], now: float) -> None:
        """They helped: they are kept longer."""
        await self._table.mark_useful([one.id for one in similar], now)

    async def forget_old(self, now: float) -> int:
        """Apply the retention. Returns how many episodes went."""
        return sum([await self._table.forget(*one) for one in overdue(now)])


def _searchable(episode: Episode) -> str:
    return f"{episode.event_type} {episode.context} {episode.action} {episode.rationale}"


def _meant(episode: Episode) -> str:
    return f"{episode.context} {episode.action} {episode.rationale}"[:_LONGEST]


def _rarity(hits: int) -> float:
    """What a shared term tells: much when few episodes have it, little when the list was full."""
    return 0.3 if hits >= PER_TERM else 1.0 + math.log(PER_TERM / hits)


def _nearness(query: Sequence[float], vectors: Mapping[int, Sequence[float]]) -> dict[int, float]:
    """0.0 to 1.0: cosines, less what the model finds everything here to have in common."""
    cosines = {
        number: float(sum(map(operator.mul, query, vector))) for number, vector in vectors.items()
    }
    common = median(cosines.values()) if len(cosines) >= _ENOUGH else 0.0
    common = min(max(common, 0.0), 0.99)
    return {
        number: min(max((cosine - common) / (1 - common), 0.0), 1.0)
        for number, cosine in cosines.items()
    }


def _compare(
    kept: KeptEpisode, terms: Sequence[str], weights: Mapping[str, float], near: float | None
) -> SimilarEpisode:
    """
    A few words in common say little where the meaning is known, and all of them everything.

    Thirty questions about thirty episodes, asked in other words (all-MiniLM-L6-v2): the mean
    reciprocal rank is .05 by words, .26 for the mean of both, .83 for this; in the same words, and
    by a single rare one, it is 1 for each.
    """
    theirs = set(terms_of(_searchable(kept.episode)))
    total = sum(weights.get(term, 1.0) for term in terms) or 1.0
    likeness = sum(weights.get(term, 0.0) for term in terms if term in theirs) / total
    if near is not None:
        likeness = max(likeness**3, near)
    trust = TRUST[kept.episode.provenance]
    return SimilarEpisode(id=kept.id, episode=kept.episode, similarity=round(likeness * trust, 4))
