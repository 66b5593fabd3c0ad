"""What is on disk, for commands that ask no engine: a person's rules and trust, the sessions."""

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.permissions.rules import Rule
from perpetualcc.store.database import Database
from perpetualcc.store.guards import RuleStore, TrustStore, all_rules
from perpetualcc.store.looking import looking
from perpetualcc.store.problems import explain
from perpetualcc.store.schema import refuse_foreign
from perpetualcc.store.text import to_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a person has decided once and for all."""

    rules: tuple[Rule, ...] = ()
    """In the order they were made."""
    trust: Mapping[Path, str] = field(default_factory=dict)
    """The hash that was trusted, by project."""


def recorded(database: Path) -> Recorded:
    """
    What a session that starts now would be guarded with. Nothing is created and nothing changed.

    Raises:
        DatabaseError: the file is there, and cannot be read, or is of a newer version.
    """
    if not database.exists():
        return Recorded()
    try:
        return _read(database)
    except sqlite3.Error as error:
        raise explain(error, database) from error


async def record(database: Path, known: Recorded, clock: Clock) -> None:
    """Begin another installation with what a person decided in this one."""
    async with await Database.open(database) as opened:
        rules, trust = RuleStore(opened, clock), TrustStore(opened, clock)
        for rule in known.rules:
            await rules.add(rule)
        for project, content_hash in known.trust.items():
            await trust.trust(project, content_hash)


def newest_sessions(
    database: Path, most: int, statuses: Iterable[SessionStatus]
) -> list[tuple[str, str, str]]:
    """
    The id, name and status of each that has one of these; none where there is no file, or it
    cannot be read now.
    """
    found = _at_once(
        database,
        "SELECT id, name, status FROM sessions"
        " WHERE status IN (SELECT value FROM json_each(:statuses))"
        " ORDER BY position DESC LIMIT :most",
        statuses=to_json(list(statuses)),
        most=most,
    )
    return [(row["id"], row["name"], row["status"]) for row in found]


def open_sessions(database: Path) -> list[tuple[str, str, Path]]:
    """
    The id, status and project of each that has not ended.

    Raises:
        DatabaseError: the file is there, and cannot be read.
    """
    if not database.exists():
        return []
    try:
        with looking(database) as connection:
            found = connection.execute(
                "SELECT s.id, s.status, p.path FROM sessions s JOIN projects p ON p.id = s.project"
                " WHERE s.status NOT IN ('COMPLETED', 'STOPPED') ORDER BY s.position"
            )
            return [(row["id"], row["status"], Path(row["path"])) for row in found]
    except sqlite3.Error as error:
        raise explain(error, database) from error


def open_requests(database: Path, most: int) -> list[int]:
    """The numbers of what waits for a person; none where they cannot be read now."""
    waiting = "SELECT number FROM escalations WHERE settled_at IS NULL"
    found = _at_once(database, f"{waiting} ORDER BY severity DESC, number LIMIT :most", most=most)
    return [row["number"] for row in found]


def device_names(database: Path, most: int) -> list[str]:
    """What paired and invited browsers are called; none where they cannot be read now."""
    found = _at_once(database, "SELECT name FROM devices ORDER BY name LIMIT :most", most=most)
    return [row["name"] for row in found]


def open_tasks(database: Path, session: str, most: int) -> list[str]:
    """Ids of the tasks that a session has not finished or given up; named by its id or its name."""
    found = _at_once(
        database,
        "SELECT id FROM tasks WHERE state NOT IN ('done', 'cancelled', 'missed')"  # noqa: S608  # constants only
        f" AND group_name = {_NAMED} ORDER BY position LIMIT :most",
        session=session,
        most=most,
    )
    return [row["id"] for row in found]


def snapshot_names(database: Path, session: str, most: int) -> list[str]:
    """Of the session's snapshots, the newest first; named by its id or its name."""
    found = _at_once(
        database,
        "SELECT name FROM snapshots WHERE commit_id <> ''"  # noqa: S608  # constants only
        f" AND session = {_NAMED} ORDER BY position DESC LIMIT :most",
        session=session,
        most=most,
    )
    return [row["name"] for row in found]


_NAMED = """(SELECT id FROM sessions WHERE name = :session
    OR substr(id, 1, length(:session)) = :session
    ORDER BY id = :session DESC, name = :session DESC, position DESC)"""
"""The session that is meant by its id, the beginning of it, or its name."""


def _at_once(database: Path, query: str, **values: str | int) -> list[sqlite3.Row]:
    """The rows; none where there is no file, or it cannot be read now: nobody waits for them."""
    try:
        with looking(database, patience=0.0) as connection:
            return connection.execute(query, values).fetchall()
    except sqlite3.Error:
        return []


def _read(database: Path) -> Recorded:
    with looking(database) as connection:
        refuse_foreign(connection, database)
        tables = {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master")}
        if not {"rules", "trust"} <= tables:  # from before there were any
            return Recorded()
        return Recorded(
            rules=all_rules(connection),
            trust={
                Path(row["project"]): str(row["hash"])
                for row in connection.execute("SELECT project, hash FROM trust")
            },
        )
