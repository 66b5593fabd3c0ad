"""Episodes in SQLite, with a full-text index of their terms."""

import array
import sqlite3
from collections.abc import Sequence

from perpetualcc.domain.episodes import Episode, Provenance
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.secrets import redact
from perpetualcc.memory.episodic import KeptEpisode
from perpetualcc.memory.terms import terms_of
from perpetualcc.store import episode_index
from perpetualcc.store.database import Database
from perpetualcc.store.text import storable

_COLUMNS = (
    "id, session_id, project, timestamp, event_type, context, action, outcome, rationale,"
    " embedding, provenance"
)
_FORGET_BATCH = 100
"""So that whoever records meanwhile does not wait for long."""


class SqliteEpisodes:
    """`memory.episodic.EpisodeTable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, episode: Episode, embedding: Sequence[float]) -> int:
        kind, context = episode.event_type, _clean(episode.context)
        action, rationale = _clean(episode.action), _clean(episode.rationale)
        row = (
            episode.session, storable(episode.project), episode.timestamp, kind, context, action,
            episode.outcome, rationale,
            array.array("f", embedding).tobytes() if embedding else None, str(episode.provenance),
        )  # fmt: skip
        # The index must hold what can be cut from the row again, or it could not be deleted.
        indexed = _terms(kind, context, action, rationale)

        def insert(connection: sqlite3.Connection) -> tuple[int, bool]:
            cursor = connection.execute(
                "INSERT INTO episodes (session_id, project, timestamp, event_type, context, action,"
                " outcome, rationale, embedding, provenance) VALUES (?,?,?,?,?,?,?,?,?,?)",
                row,
            )
            number = int(cursor.lastrowid or 0)
            return number, episode_index.add(connection, number, indexed)

        number, has_slice = await self._database.write(insert)
        if has_slice:
            episode_index.tend(self._database)
        return number

    async def with_terms(self, terms: Sequence[str], per_term: int) -> dict[str, list[int]]:
        return await self._database.read(
            lambda connection: episode_index.newest(connection, terms, per_term)
        )

    async def get(self, ids: Sequence[int]) -> list[KeptEpisode]:
        marks = ",".join("?" * len(ids))
        return await self._select(f"WHERE id IN ({marks})", tuple(ids))

    async def recent(self, session: str, limit: int) -> list[KeptEpisode]:
        return await self._select("WHERE session_id = ? ORDER BY id DESC LIMIT ?", (session, limit))

    async def mark_useful(self, ids: Sequence[int], at: float) -> None:
        rows = [(at, number) for number in ids]
        await self._database.write(
            lambda connection: connection.executemany(
                "UPDATE episodes SET last_useful = ? WHERE id = ?", rows
            )
        )

    async def forget(self, provenance: Provenance, before: float) -> int:
        def delete(connection: sqlite3.Connection) -> int:
            old = connection.execute(
                f"SELECT {_COLUMNS} FROM episodes WHERE provenance = ? AND timestamp < ?"  # noqa: S608  # only our own constants
                " AND coalesce(last_useful, 0) < ? LIMIT ?",
                (str(provenance), before, before, _FORGET_BATCH),
            ).fetchall()
            for row in old:
                episode_index.remove(connection, row[0], _terms(row[4], row[5], row[6], row[8]))
                connection.execute("DELETE FROM episodes WHERE id = ?", (row[0],))
            return len(old)

        gone = 0
        while count := await self._database.write(delete):
            gone += count
            episode_index.tend(self._database)
        return gone

    async def _select(self, where: str, values: tuple[object, ...]) -> list[KeptEpisode]:
        def look(connection: sqlite3.Connection) -> list[KeptEpisode]:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM episodes {where}", values)  # noqa: S608  # only our own constants
            return [_kept(row) for row in rows]

        return await self._database.read(look)


def _terms(event_type: str, context: str, action: str, rationale: str) -> str:
    return " ".join(terms_of(f"{event_type} {context} {action} {rationale}"))


def _kept(row: tuple[object, ...]) -> KeptEpisode:
    (number, session, project, at, kind, context, action, outcome, rationale, vector, origin) = row
    return KeptEpisode(
        id=int(str(number)),
        episode=Episode(
            session=SessionId(str(session)),
            project=str(project),
            timestamp=float(str(at)),
            event_type=str(kind),
            context=str(context),
            action=str(action),
            outcome=str(outcome),
            rationale=str(rationale),
            provenance=Provenance(str(origin)),
        ),
        embedding=tuple(array.array("f", vector)) if isinstance(vector, bytes) else (),
    )


def _clean(text: str) -> str:
    return redact(storable(text))
