"""A notification's row, and a look at what was tried that needs no engine and little memory."""

import sqlite3
from pathlib import Path

from perpetualcc.domain.ids import SessionId
from perpetualcc.human.notifications.outbox import Kind, NewNotice, Notice, NoticeState
from perpetualcc.store.looking import looking

_TRIED = "SELECT * FROM notifications WHERE attempts > 0 ORDER BY started_at"


def tried_notices(path: Path) -> list[Notice]:
    """
    What was tried to be sent, in the order of the newest tries; changes and wakes nothing.

    Nothing where the database cannot be read: that is told by whoever needs it.
    """
    try:
        with looking(path) as found:
            return [notice_of(row) for row in found.execute(_TRIED)]
    except sqlite3.Error:
        return []


def notice_of(row: sqlite3.Row) -> Notice:
    return Notice(
        id=row["id"],
        what=NewNotice(
            cause=row["cause"],
            channel=row["channel"],
            kind=Kind(row["kind"]),
            title=row["title"],
            body=row["body"],
            session=None if row["session"] is None else SessionId(row["session"]),
            escalation=row["escalation"],
        ),
        state=NoticeState(row["state"]),
        created_at=row["created_at"],
        due=row["due"],
        attempts=row["attempts"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        problem=row["problem"],
    )
