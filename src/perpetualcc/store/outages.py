"""Outages as rows, and waits for a limit as what they were: hours in which nothing ran."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace

from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.limits import LIMIT_NAMES, LimitWindow
from perpetualcc.sessions.outages import (
    SHORTEST,
    Outage,
    OutageCause,
    Stretch,
    joined,
    without,
)
from perpetualcc.store.database import Database
from perpetualcc.store.text import to_json
from perpetualcc.store.work_ahead import BY_ITSELF, LANES

_MOST = 200
"""The newest that a report reads."""
_MOST_SESSIONS = 500

# What ran when it began, or was due before it ended.
_WOULD_HAVE_RUN = f"""
    SELECT DISTINCT t.group_name AS name, t.due FROM tasks t
    WHERE t.due < :ended AND (t.state = 'running' OR {BY_ITSELF})
    ORDER BY t.due LIMIT :most
"""  # noqa: S608  # constants only
_RUNS = """
    SELECT started_at, coalesce(ended_at, :now) AS ended FROM runs
    WHERE coalesce(ended_at, :now) > :since AND (:session IS NULL OR session = :session)
"""
_WAITS = """
    SELECT at, session, window, min(due, coalesce(over_at, :now), :now) AS ended FROM limit_waits
    WHERE fallback = '' AND coalesce(over_at, :now) > :since
    AND (:session IS NULL OR session = :session) ORDER BY at DESC LIMIT :most
"""


class SqliteOutages:
    """`sessions.outages.Outages`, and where they are written down."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, missed: Outage) -> Outage | None:
        """
        Write down what of it was an outage: from when on there was work that would have run, and
        not what was written down before. None: nothing was missed.
        """
        return await self._database.write(lambda c: _add(c, missed), durable=True)

    async def since(
        self, since: float, now: float, session: SessionId | None = None
    ) -> Sequence[Outage]:
        return await self._database.read(lambda c: _since(c, since, now, session))


def _add(connection: sqlite3.Connection, missed: Outage) -> Outage | None:
    # Not of one that a false clock put ahead of time: it would hide all until then.
    last = "SELECT max(ended) FROM outages WHERE ended <= ?"
    known = connection.execute(last, (missed.ended,)).fetchone()[0]
    began = max(missed.began, known or missed.began)
    values = LANES | {"ended": missed.ended, "most": _MOST_SESSIONS}
    tasks = connection.execute(_WOULD_HAVE_RUN, values).fetchall()
    if not tasks:
        return None
    began = max(began, min(row["due"] for row in tasks))
    if missed.ended - began < SHORTEST:
        return None
    sessions = tuple(dict.fromkeys(SessionId(row["name"]) for row in tasks))
    outage = replace(missed, began=began, sessions=sessions)
    connection.execute(
        "INSERT INTO outages (began, ended, cause, detail, sessions) VALUES (?, ?, ?, ?, ?)",
        (began, outage.ended, outage.cause, outage.detail, to_json(list(sessions))),
    )
    return outage


def _since(
    connection: sqlite3.Connection, since: float, now: float, session: SessionId | None
) -> list[Outage]:
    rows = connection.execute(
        "SELECT * FROM outages WHERE ended > ? AND ended <= ? ORDER BY number DESC LIMIT ?",
        (since, now, _MOST),
    ).fetchall()
    found = [
        Outage(
            began=row["began"],
            ended=row["ended"],
            cause=OutageCause(row["cause"]),
            detail=row["detail"],
            sessions=tuple(SessionId(name) for name in json.loads(row["sessions"])),
        )
        for row in reversed(rows)
    ]
    kept = [one for one in found if session is None or session in one.sessions]
    busy = [(one.began, one.ended) for one in kept] + _runs(connection, since, now, session)
    return joined([*kept, *_limits(connection, since, now, session, sorted(busy))])


def _runs(
    connection: sqlite3.Connection, since: float, now: float, session: SessionId | None
) -> list[Stretch]:
    values = {"now": now, "since": since, "session": session}
    rows = connection.execute(_RUNS, values)
    return [(row["started_at"], row["ended"]) for row in rows]


def _limits(
    connection: sqlite3.Connection,
    since: float,
    now: float,
    session: SessionId | None,
    busy: Sequence[Stretch],
) -> Iterator[Outage]:
    """Waits in which nothing else ran. Several for one window are one wait."""
    values = {"now": now, "since": since, "session": session, "most": _MOST}
    rows = connection.execute(_WAITS, values).fetchall()
    taken = list(busy)
    for row in reversed(rows):
        for began, ended in without((row["at"], row["ended"]), sorted(taken)):
            taken.append((began, ended))
            if ended - began >= SHORTEST:
                yield Outage(
                    began=began,
                    ended=ended,
                    cause=OutageCause.LIMIT,
                    detail=LIMIT_NAMES[LimitWindow(row["window"])],
                    sessions=(SessionId(row["session"]),),
                )
