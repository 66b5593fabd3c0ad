"""Signals: one sender wins, one task is given it, and it is consumed with that task's settle."""

import sqlite3
from enum import Enum, auto
from typing import Any

from perpetualcc.store.text import to_json


class Arrival(Enum):
    """What a task finds when it begins to wait."""

    NOT_YET = auto()
    HERE = auto()
    USED = auto()
    """Consumed or given to another task: it will never come again."""


def store(connection: sqlite3.Connection, name: str, payload: Any, now: float) -> bool:
    """False when somebody sent this name before."""
    cursor = connection.execute(
        "INSERT INTO signals (name, payload, sent_at) VALUES (?, ?, ?)"
        " ON CONFLICT (name) DO NOTHING",
        (name, to_json(payload), now),
    )
    return cursor.rowcount == 1


def look(connection: sqlite3.Connection, name: str, task: str) -> Arrival:
    row = connection.execute("SELECT * FROM signals WHERE name = ?", (name,)).fetchone()
    if row is None:
        return Arrival.NOT_YET
    is_free = row["consumed_at"] is None and row["holder"] in {None, task}
    return Arrival.HERE if is_free else Arrival.USED


def take(connection: sqlite3.Connection, name: str | None, task: str) -> str | None:
    """The payload's JSON, now this task's alone, or None when it has not come."""
    if name is None or look(connection, name, task) is not Arrival.HERE:
        return None
    connection.execute("UPDATE signals SET holder = ? WHERE name = ?", (task, name))
    payload: str = connection.execute(
        "SELECT payload FROM signals WHERE name = ?", (name,)
    ).fetchone()[0]
    return payload


def consume(connection: sqlite3.Connection, name: str, now: float) -> None:
    connection.execute("UPDATE signals SET consumed_at = ? WHERE name = ?", (now, name))
