"""Sessions as rows. Status and usage change through the event log only, so they cannot disagree."""

import json
import re
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import asdict, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from perpetualcc.domain.authority import Authority, AuthorityLevel
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import ClaudeSessionId, SessionId, TaskId, new_session_id
from perpetualcc.domain.session_status import ENDED, SessionStatus
from perpetualcc.domain.sessions import Perpetual, Session, SessionOptions
from perpetualcc.sessions.ports import Begin
from perpetualcc.store import tasks
from perpetualcc.store.database import Database
from perpetualcc.store.events import EventLog
from perpetualcc.store.text import storable, to_json

Sessions = list[Session]
"""A name of its own, because the store has a method called `list`."""

_SELECT = "SELECT s.*, p.path FROM sessions s JOIN projects p ON p.id = s.project"
_PROMPTS = """
    SELECT s.id, coalesce(
        (SELECT c.prompt FROM tasks c WHERE c.id = s.current_task
            AND c.state IN ('failed', 'parked') AND s.status = 'ERROR'),
        (SELECT t.prompt FROM tasks t
            WHERE t.group_name = s.id AND t.state IN ('queued', 'running', 'waiting')
            ORDER BY t.state = 'queued' AND NOT t.started,
                EXISTS (SELECT 1 FROM task_after d JOIN tasks f ON f.id = d.after
                        WHERE d.task = t.id AND f.state <> 'done'),
                t.due IS NULL, max(t.due, :now), t.priority DESC, t.position LIMIT 1),
        (SELECT prompt FROM tasks WHERE id = s.current_task),
        (SELECT prompt FROM tasks WHERE group_name = s.id ORDER BY position LIMIT 1),
        '') AS prompt
    FROM sessions s WHERE s.id IN (SELECT value FROM json_each(:sessions))
"""
"""What has stopped the session; else what is in hand, or next; else what was last."""
_OVER = ENDED - {SessionStatus.ERROR}
_LIVES = (frozenset(SessionStatus) - ENDED, ENDED - _OVER, _OVER)
"""What is alive, what stopped working, what is over: in this order they are listed."""
_SHORTEST = 3
"""Characters of an id that name its session: `pcc stop fe`, meant for a name that was never given,
must stop nobody whose id happens to begin so."""


class UnknownSessionError(PerpetualError):
    """No session has this id, prefix or name."""

    def __init__(self, reference: str, *, meant: str = "") -> None:
        listed = "See them with: pcc list"
        hint = f"Did you mean {meant!r}? {listed}" if meant else listed
        super().__init__(f"No session matches {reference!r}", hint=hint)


class AmbiguousSessionError(PerpetualError):
    """Several sessions have this prefix."""

    def __init__(self, reference: str, candidates: Collection[Session]) -> None:
        named = ", ".join(f"{session.id} ({session.name})" for session in candidates)
        super().__init__(
            f"{reference!r} matches several sessions: {named}",
            hint="Type more of the id, or the whole name",
        )


class SessionStore:
    """Every session there ever was."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._events = EventLog(database, clock)
        self._projects: dict[SessionId, Path] = {}

    async def create(
        self,
        *,
        name: str,
        project: Path,
        options: SessionOptions,
        begin: Begin = lambda _session: ((), ()),
    ) -> Session:
        """
        A new session, IDLE. A name that is taken gets `-2`, `-3`, …; an id that is taken, another.
        One that is over gives its name up, and is called by it and its id.

        The tasks and events that the session begins with are of the same transaction.

        Raises: PerpetualError for an empty name.
        """

        def work(connection: sqlite3.Connection) -> Session:
            session = self._create(connection, name, project, options)
            first, events = begin(session)
            for task in first:
                tasks.insert(connection, task, self._clock.now())
            self._events.append_in(connection, events)
            return session

        return await self._database.write(work, durable=True)

    async def get(self, session: SessionId) -> Session:
        """Raises: UnknownSessionError."""
        return await self._database.read(lambda c: _get(c, session))

    async def project(self, session: SessionId) -> Path:
        """The session's project, which never changes. Raises: UnknownSessionError."""
        if session not in self._projects:
            self._projects[session] = (await self.get(session)).project
        return self._projects[session]

    async def find(self, reference: str) -> Session:
        """
        By id, exact name, or the beginning of an id that no other session shares.

        Raises: UnknownSessionError, AmbiguousSessionError.
        """
        return await self._database.read(lambda c: _find(c, reference))

    async def list(
        self,
        *,
        statuses: Collection[SessionStatus] | None = None,
        project: Path | None = None,
        limit: int | None = None,
    ) -> Sessions:
        """What is alive, then what stopped working, then what is over; each the newest first."""
        return await self._database.read(lambda c: _list(c, statuses, project, limit))

    async def prompts_of(self, sessions: Collection[SessionId]) -> Mapping[SessionId, str]:
        """The prompt of each session's current task, or of the next one once that is over."""
        wanted = {"sessions": to_json(list(sessions)), "now": self._clock.now()}
        rows = await self._database.rows(_PROMPTS, wanted)
        return {SessionId(row["id"]): row["prompt"] for row in rows}

    async def begins_of(self, sessions: Collection[SessionId]) -> Mapping[SessionId, float]:
        """When each session's next task begins; left out is who may begin now, or cannot."""
        now = self._clock.now()
        found = await self._database.read(lambda c: tasks.next_due_of(c, sessions, now))
        return {SessionId(session): due for session, due in found.items()}

    async def set_current_task(self, session: SessionId, task: TaskId | None) -> None:
        """Another task means another Claude conversation: the old one is forgotten with it."""
        await self._database.execute(
            "UPDATE sessions SET current_task = :task, updated_at = :now, claude_session ="
            " CASE WHEN current_task IS :task THEN claude_session END WHERE id = :session",
            {"task": task, "session": session, "now": self._clock.now()},
            durable=True,
        )

    async def set_claude_session(
        self, session: SessionId, claude_session: ClaudeSessionId | None
    ) -> None:
        """What the next run of the current task resumes."""
        await self._database.execute(
            "UPDATE sessions SET claude_session = ?, updated_at = ? WHERE id = ?",
            (claude_session, self._clock.now(), session),
            durable=True,
        )

    def _create(
        self, connection: sqlite3.Connection, name: str, project: Path, options: SessionOptions
    ) -> Session:
        if not name.strip():
            raise PerpetualError("A session needs a name", hint="Give one with --session-name")
        now, session = self._clock.now(), _free_id(connection)
        name = _free_name(connection, storable(name.strip()))
        _give_up(connection, name)
        connection.execute(
            "INSERT INTO projects (path, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (storable(str(project)), now),
        )
        connection.execute(
            "INSERT INTO sessions"
            " (id, name, project, status, options, created_at, updated_at, context_window)"
            " SELECT ?, ?, id, ?, ?, ?, ?, 0 FROM projects WHERE path = ?",
            (
                session,
                name,
                SessionStatus.IDLE,
                to_json(_options_to_json(options)),
                now,
                now,
                storable(str(project)),
            ),
        )
        return _get(connection, session)


def _free_id(connection: sqlite3.Connection) -> SessionId:
    """Six characters; two more for each meeting, so that it ends."""
    session = new_session_id()
    while connection.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).fetchone():
        session = SessionId(session + new_session_id()[:2])
    return session


def _free_name(connection: sqlite3.Connection, name: str) -> str:
    """The name, or with a number behind the highest, if a session that is not over has it."""
    # '.' is the character after '-': the range holds exactly what begins with `name-`.
    taken = {
        row["name"]
        for row in connection.execute(
            "SELECT name FROM sessions WHERE status NOT IN ('COMPLETED', 'STOPPED')"
            " AND (name = :name OR (name >= :name || '-' AND name < :name || '.'))",
            {"name": name},
        )
    }
    if name not in taken:
        return name
    suffixes = [
        found[1] for one in taken if (found := re.fullmatch(r".*-(\d{1,9})", one, re.DOTALL))
    ]
    return f"{name}-{max([1, *map(int, suffixes)]) + 1}"


def _give_up(connection: sqlite3.Connection, name: str) -> None:
    """Whoever has this name is over, and leaves it to another."""
    row = connection.execute("SELECT id FROM sessions WHERE name = ?", (name,)).fetchone()
    if row is None:
        return
    former = f"{name}.{row['id']}"
    while connection.execute("SELECT 1 FROM sessions WHERE name = ?", (former,)).fetchone():
        former = f"{former}.{row['id']}"
    connection.execute("UPDATE sessions SET name = ? WHERE id = ?", (former, row["id"]))


def _get(connection: sqlite3.Connection, session: str) -> Session:
    row = connection.execute(f"{_SELECT} WHERE s.id = ?", (session,)).fetchone()
    if row is None:
        raise UnknownSessionError(session)
    return _session(row)


def _find(connection: sqlite3.Connection, reference: str) -> Session:
    wanted = {"reference": storable(reference)}
    row = connection.execute(
        f"{_SELECT} WHERE s.id = :reference OR s.name = :reference ORDER BY s.id = :reference DESC",
        wanted,
    ).fetchone()
    if row is not None:
        return _session(row)
    rows = connection.execute(
        f"{_SELECT} WHERE substr(s.id, 1, length(:reference)) = :reference"
        " AND length(:reference) >= :shortest ORDER BY s.position DESC LIMIT 10",
        {**wanted, "shortest": _SHORTEST},
    ).fetchall()
    match [_session(row) for row in rows]:
        case []:
            raise UnknownSessionError(reference, meant=_alike(connection, reference))
        case [session]:
            return session
        case several:
            raise AmbiguousSessionError(reference, several)


def _alike(connection: sqlite3.Connection, reference: str) -> str:
    """The name of a session that may have been meant; nothing is done to it unasked."""
    newest = "SELECT name FROM sessions ORDER BY position DESC LIMIT 500"
    names = [name for (name,) in connection.execute(newest)]
    longer = [name for name in names if len(reference) > 1 and name.startswith(reference)]
    return next(iter(longer or get_close_matches(reference, names, n=1)), "")


def _list(
    connection: sqlite3.Connection,
    statuses: Collection[SessionStatus] | None,
    project: Path | None,
    limit: int | None,
) -> Sessions:
    in_project = (
        " AND (p.path = :project OR substr(p.path, 1, :length) = :project || '/')"
        if project is not None
        else ""
    )
    # What is over is most of them: `+` leaves the index of what is what, and the newest come first.
    parts = [
        f"SELECT * FROM ({_SELECT} WHERE {'+' * (life == _OVER)}s.status IN"  # noqa: S608
        f" (SELECT value FROM json_each(:life{place})){in_project}"
        " ORDER BY s.position DESC LIMIT :limit)"
        for place, life in enumerate(_LIVES)
    ]
    wanted = frozenset(SessionStatus if statuses is None else statuses)
    rows = connection.execute(
        " UNION ALL ".join(parts),
        {
            **{f"life{place}": to_json(sorted(life & wanted)) for place, life in enumerate(_LIVES)},
            "project": storable(str(project)),
            "length": len(storable(str(project))) + 1,
            "limit": -1 if limit is None else limit,
        },
    ).fetchall()
    rows.sort(key=lambda row: (_life(row["status"]), -row["position"]))
    return [_session(row) for row in rows[:limit]]


def sessions_in(connection: sqlite3.Connection, statuses: Collection[SessionStatus]) -> Sessions:
    """All of these statuses, in a transaction that is open."""
    return _list(connection, statuses, None, None)


def _life(status: str) -> int:
    return next(place for place, life in enumerate(_LIVES) if status in life)


def _session(row: sqlite3.Row) -> Session:
    return Session(
        id=SessionId(row["id"]),
        name=row["name"],
        project=Path(row["path"]),
        status=SessionStatus(row["status"]),
        options=_options_from_json(json.loads(row["options"])),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        current_task=row["current_task"],
        claude_session=row["claude_session"],
        resumes_at=row["resumes_at"],
        detail=row["detail"],
        tokens=row["tokens"],
        context_window=row["context_window"],
    )


_NESTED = frozenset({"authority", "perpetual"})


def _options_to_json(options: SessionOptions) -> dict[str, Any]:
    authority = options.authority
    plain = {one.name: getattr(options, one.name) for one in fields(options)}
    return plain | {
        "authority": {
            "level": int(authority.level),
            "writable": [str(path) for path in authority.writable],
            "allow_network": authority.allow_network,
        },
        "perpetual": None if options.perpetual is None else asdict(options.perpetual),
    }


def _options_from_json(data: Mapping[str, Any]) -> SessionOptions:
    """A row of an older version lacks what is newer, and gets its default."""
    authority = data["authority"]
    known = {one.name for one in fields(SessionOptions)} - _NESTED
    return SessionOptions(
        **{name: value for name, value in data.items() if name in known},
        authority=Authority(
            level=AuthorityLevel(authority["level"]),
            writable=tuple(map(Path, authority["writable"])),
            allow_network=authority["allow_network"],
        ),
        perpetual=_perpetual_from_json(data.get("perpetual")),
    )


def _perpetual_from_json(data: Mapping[str, Any] | None) -> Perpetual | None:
    """None for rows that were written before there was such a thing, too."""
    return None if data is None else Perpetual(**data)
