"""What people say to Claude, as rows."""

import sqlite3
from collections.abc import Collection, Sequence

from perpetualcc.agent.patience import patiently
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import WordSaid
from perpetualcc.domain.ids import ClaudeSessionId, MessageId, SessionId, TaskId
from perpetualcc.domain.words import MOST, Word, WordState
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.text import storable, to_json

_OPEN = ("queued", "running", "waiting", "parked", "failed")
"""States of a task that may go on."""


class TaskOverError(PerpetualError):
    """The task came to its end while something was said to it."""

    def __init__(self, session: SessionId) -> None:
        super().__init__(
            "The work is over: nobody is there to say it to",
            hint=f'Give it as a task: pcc add {session} "…"',
        )


class SqliteWords:
    """Each method is one transaction. What has happened may be told a second time."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._events = EventLog(database, clock)

    async def add(
        self, session: SessionId, task: TaskId, text: str, *, by: str, key: str | None = None
    ) -> Word:
        """
        Keep what was said, durably, with its event; once, however often with the same `key`.

        Raises:
            PerpetualError: the task is over; or `MOST` wait already.
        """
        return await self._database.write(
            lambda c: self._add(c, session, task, storable(text), by, key), durable=True
        )

    async def of(self, task: TaskId) -> Sequence[Word]:
        """All that was said to the task, oldest first."""
        return await self._database.read(
            lambda c: _words(
                c.execute("SELECT * FROM words WHERE task = ? ORDER BY number", [task])
            )
        )

    async def unheard(self, session: SessionId) -> Sequence[Word]:
        """Of a session: what is not certain to be in a conversation, oldest first."""
        left = "SELECT * FROM words WHERE session = ? AND state <> 'used' ORDER BY number"
        return await self._database.read(lambda c: _words(c.execute(left, [session])))

    async def said(self, session: SessionId, limit: int) -> Sequence[Word]:
        """Of a session: the newest so many, newest first."""
        newest = "SELECT * FROM words WHERE session = ? ORDER BY number DESC LIMIT ?"
        return await self._database.read(lambda c: _words(c.execute(newest, [session, limit])))

    async def is_unheard(self, task: TaskId) -> bool:
        """
        Whether something said to the task is not certain to be in its conversation.

        A write to the database, which changes nothing: what was said before it was asked counts.
        """
        return await self._database.write(
            lambda c: (
                c.execute(
                    "SELECT 1 FROM words WHERE task = ? AND state <> 'used' LIMIT 1", [task]
                ).fetchone()
                is not None
            )
        )

    async def give(
        self, numbers: Collection[int], message: MessageId, conversation: ClaudeSessionId
    ) -> None:
        """Durably, before Claude Code hears of them."""
        now = self._clock.now()
        await patiently(
            lambda: self._database.execute(
                "UPDATE words SET state = 'given', message = ?, conversation = ?, given_at = ?"
                " WHERE state <> 'used' AND number IN (SELECT value FROM json_each(?))",
                (message, conversation, now, to_json(list(numbers))),
                durable=True,
            )
        )

    async def use(self, numbers: Collection[int]) -> None:
        """They are in the conversation."""
        now = self._clock.now()
        await patiently(
            lambda: self._database.execute(
                "UPDATE words SET state = 'used', used_at = ?"
                " WHERE state <> 'used' AND number IN (SELECT value FROM json_each(?))",
                (now, to_json(list(numbers))),
            )
        )

    def _add(
        self,
        connection: sqlite3.Connection,
        session: SessionId,
        task: TaskId,
        text: str,
        by: str,
        key: str | None,
    ) -> Word:
        if known := connection.execute("SELECT * FROM words WHERE key = ?", (key,)).fetchone():
            return _word(known)
        state = connection.execute("SELECT state FROM tasks WHERE id = ?", (task,)).fetchone()
        if state is None or state["state"] not in _OPEN:
            raise TaskOverError(session)
        waiting = connection.execute(
            "SELECT count(*) FROM words WHERE task = ? AND state <> 'used'", (task,)
        ).fetchone()[0]
        if waiting >= MOST:
            raise PerpetualError(
                f"{waiting} things that were said wait for Claude already",
                hint=f"See what the session does, and what waits: pcc status {session}",
            )
        row = connection.execute(
            "INSERT INTO words (session, task, text, said_at, said_by, key)"
            " VALUES (?, ?, ?, ?, ?, ?) RETURNING *",
            (session, task, text, self._clock.now(), by, key),
        ).fetchone()
        event = WordSaid(session=session, task=task, text=text, number=row["number"], by=by)
        self._events.append_in(connection, [event])
        return _word(row)


def _words(rows: sqlite3.Cursor) -> list[Word]:
    return [_word(row) for row in rows]


def _word(row: sqlite3.Row) -> Word:
    return Word(
        number=row["number"],
        session=row["session"],
        task=row["task"],
        text=row["text"],
        said_at=row["said_at"],
        by=row["said_by"],
        state=WordState(row["state"]),
        message=row["message"],
        conversation=row["conversation"],
    )
