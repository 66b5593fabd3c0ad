"""Episodes: what happened before in a situation like this one."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from perpetualcc.domain.episodes import Episode, Provenance
from perpetualcc.memory.terms import terms_of

RETENTION_DAYS: Mapping[Provenance, int] = {
    Provenance.USER: 3_650,
    Provenance.REPOSITORY: 365,
    Provenance.TOOL: 180,
    Provenance.WEB: 30,
}
"""What is trusted less is forgotten sooner. A record that was useful counts from that day."""
TRUST: Mapping[Provenance, float] = {
    Provenance.USER: 1.0,
    Provenance.REPOSITORY: 0.9,
    Provenance.TOOL: 0.8,
    Provenance.WEB: 0.6,
}
PER_TERM = 200
"""Newest episodes looked at for one term: a frequent term tells little, whatever its age."""
_SHORTLIST = 50
_VECTOR_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptEpisode:
    """An episode with its number."""

    id: int
    episode: Episode
    embedding: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarEpisode:
    """A past episode and how much it resembles the question."""

    id: int
    episode: Episode
    similarity: float
    """0.0 to 1.0, weighed by the trust in where it came from."""


class EpisodeTable(Protocol):
    """Keeps episodes and finds them by terms. Secrets are redacted before anything is written."""

    async def add(self, episode: Episode, embedding: Sequence[float]) -> int: ...

    async def with_terms(self, terms: Sequence[str], per_term: int) -> dict[str, list[int]]:
        """The newest episodes of each term; a list shorter than `per_term` is complete."""
        ...

    async def get(self, ids: Sequence[int]) -> list[KeptEpisode]: ...

    async def recent(self, session: str, limit: int) -> list[KeptEpisode]: ...

    async def mark_useful(self, ids: Sequence[int], at: float) -> None: ...

    async def forget(self, provenance: Provenance, before: float) -> int:
        """Delete what was neither recorded nor useful since. Returns how many."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors; `knowledge` has one. Without it memory works by words."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]: ...


class EpisodicMemory:
    """`record_episode`, `find_similar`, `get_recent` of the seed, over a table."""

    def __init__(self, table: EpisodeTable, embedder: Embedder | None = None) -> None:
        self._table = table
        self._embedder = embedder

    async def record_episode(self, episode: Episode) -> int:
        """Keep one. Returns its number."""
        return await self._table.add(episode, await self._embed(_searchable(episode)))

    async def find_similar(
        self, context: str, top_k: int = 3, *, project: str | None = None
    ) -> list[SimilarEpisode]:
        """
        The past episodes most like `context`, best first; those of `project` only, when given.

        Bounded: at most `PER_TERM` rows a term are touched, however many there are.
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
        vector = await self._embed(context) if kept else ()
        ranked = [
            _compare(one, terms, weights, vector)
            for one in kept
            if project is None or one.episode.project == project
        ]
        ranked.sort(key=lambda one: (-one.similarity, -one.id))
        return ranked[:top_k]

    async def get_recent(self, session: str, limit: int = 10) -> list[Episode]:
        """A session's last episodes, newest first."""
        return [one.episode for one in await self._table.recent(session, limit)]

    async def mark_useful(self, similar: Sequence[SimilarEpisode]) -> None:
        """They helped: they are kept longer."""
        await self._table.mark_useful([one.id for one in similar], time.time())

    async def forget_old(self, now: float | None = None) -> int:
        """Apply the retention. Returns how many episodes went."""
        now = time.time() if now is None else now
        gone = 0
        for provenance, days in RETENTION_DAYS.items():
            gone += await self._table.forget(provenance, now - days * 86_400)
        return gone

    async def _embed(self, text: str) -> Sequence[float]:
        if self._embedder is None:
            return ()
        return (await self._embedder.embed([text]))[0]


def _searchable(episode: Episode) -> str:
    return f"{episode.event_type} {episode.context} {episode.action} {episode.rationale}"


def _rarity(hits: int) -> float:
    """What a shared term tells: much when few episodes have it, little when the list was full."""
    return 0.3 if hits >= PER_TERM else 1.0 + math.log(PER_TERM / hits)


def _compare(
    kept: KeptEpisode, terms: Sequence[str], weights: Mapping[str, float], vector: Sequence[float]
) -> SimilarEpisode:
    theirs = set(terms_of(_searchable(kept.episode)))
    total = sum(weights.get(term, 1.0) for term in terms) or 1.0
    likeness = sum(weights.get(term, 0.0) for term in terms if term in theirs) / total
    if vector and kept.embedding:
        cosine = _cosine(vector, kept.embedding)
        likeness = (1 - _VECTOR_SHARE) * likeness + _VECTOR_SHARE * max(0.0, cosine)
    trust = TRUST[kept.episode.provenance]
    return SimilarEpisode(id=kept.id, episode=kept.episode, similarity=round(likeness * trust, 4))


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    if len(one) != len(other):
        return 0.0
    lengths = math.sqrt(sum(x * x for x in one)) * math.sqrt(sum(x * x for x in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / lengths if lengths else 0.0
