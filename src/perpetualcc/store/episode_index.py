"""
The full-text index of episodes: the newest wait beside it, and enter it some at a time.

Recording must be quick at any size (a million episodes: under 5 ms). Each step of the upkeep is a
short transaction of its own, so that whoever records meanwhile waits for one step at most.
"""

import sqlite3
from collections.abc import Sequence

from perpetualcc.store.database import Database

SLICE = 64
"""Episodes that enter the index together: one to two milliseconds of work."""
_STEPS = 16
"""Merges after a slice. A row is written again about once for each level of the index, and a
million rows make seven; a slice is three pages."""
_PAGES = 4
"""Pages a merge may write: less than a millisecond, unless a term is in nearly every episode."""


def add(connection: sqlite3.Connection, number: int, terms: str) -> bool:
    """Let an episode be found from now on. True: there is a slice to take in."""
    connection.execute("INSERT INTO episodes_fresh (id, terms) VALUES (?, ?)", (number, terms))
    waiting = connection.execute("SELECT count(*) FROM episodes_fresh").fetchone()[0]
    return int(waiting) >= SLICE


def remove(connection: sqlite3.Connection, number: int, terms: str) -> None:
    """Forget an episode. `terms` are what it was added with."""
    if connection.execute("DELETE FROM episodes_fresh WHERE id = ?", (number,)).rowcount:
        return
    connection.execute(
        "INSERT INTO episode_terms (episode_terms, rowid, terms) VALUES ('delete', ?, ?)",
        (number, terms),
    )


def newest(
    connection: sqlite3.Connection, terms: Sequence[str], per_term: int
) -> dict[str, list[int]]:
    """The newest episodes of each term."""
    # First the fresh ones: what enters the index meanwhile is then met twice, and never missed.
    rows = connection.execute("SELECT id, terms FROM episodes_fresh ORDER BY id DESC").fetchall()
    fresh = [(int(number), set(text.split())) for number, text in rows]
    found = {}
    for term in terms:
        new = [number for number, known in fresh if term in known][:per_term]
        old = connection.execute(
            "SELECT rowid FROM episode_terms WHERE episode_terms MATCH ?"
            " ORDER BY rowid DESC LIMIT ?",
            (f'"{term}"', per_term),
        )
        found[term] = list(dict.fromkeys([*new, *(int(number) for (number,) in old)]))[:per_term]
    return found


def tend(database: Database) -> None:
    """Take a slice in, and merge a little; nobody waits for it."""

    def take_in(connection: sqlite3.Connection) -> None:
        _take_in(connection)
        # Asked for only now, or it would be part of the same transaction.
        _merge_soon(database, _STEPS)

    database.write_soon(take_in)


def _take_in(connection: sqlite3.Connection) -> None:
    rows = connection.execute(
        "SELECT id, terms FROM episodes_fresh ORDER BY id LIMIT ?", (SLICE,)
    ).fetchall()
    if len(rows) < SLICE:
        return
    values = [tuple(row) for row in rows]
    connection.executemany("INSERT INTO episode_terms (rowid, terms) VALUES (?, ?)", values)
    connection.execute("DELETE FROM episodes_fresh WHERE id <= ?", (values[-1][0],))


def _merge_soon(database: Database, steps: int) -> None:
    if database.is_closed:
        return

    def merge(connection: sqlite3.Connection) -> None:
        before = connection.total_changes
        connection.execute(
            "INSERT INTO episode_terms (episode_terms, rank) VALUES ('merge', ?)", (_PAGES,)
        )
        # Less than two changes: there is nothing to merge (SQLite's FTS5, "The merge Command").
        has_more = connection.total_changes - before >= 2
        if has_more and steps > 1:
            _merge_soon(database, steps - 1)

    database.write_soon(merge)
