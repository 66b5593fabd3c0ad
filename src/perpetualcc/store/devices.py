"""Browsers elsewhere, as rows."""

import sqlite3
from collections.abc import Sequence

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.devices import Device, Scope
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.store.database import Database


class DeviceStore:
    """Who was invited, and who was paired. A device that is revoked is forgotten."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def invite(self, name: str, scope: Scope, code: str, expires_at: float) -> None:
        """
        `code`: its digest. An invitation of that name that was not used is replaced.

        Raises:
            PerpetualError: a device of that name is paired.
        """
        await self._database.write(
            lambda c: _invite(c, (name, scope, code, self._clock.now(), expires_at)), durable=True
        )

    async def pair(self, code: str, key: str) -> Device | None:
        """
        Use an invitation up, for the device with this key. None: it was used, or is too old.

        `code`: its digest.
        """
        now = self._clock.now()
        return await self._database.write(lambda c: _pair(c, code, key, now), durable=True)

    async def with_key(self, key: str) -> Device | None:
        """The paired device, which is seen now; a full disk does not keep it out."""
        now = self._clock.now()
        row = await self._database.row("SELECT * FROM devices WHERE key = ?", (key,))
        if row is not None:
            self._database.write_soon(
                lambda c: c.execute("UPDATE devices SET seen_at = ? WHERE key = ?", (now, key))
            )
        return _device(row)

    async def all(self) -> Sequence[Device]:
        """Those that are paired, and the invitations that still count."""
        rows = await self._database.rows(
            "SELECT * FROM devices WHERE key IS NOT NULL OR expires_at > ? ORDER BY made_at",
            (self._clock.now(),),
        )
        return [found for row in rows if (found := _device(row)) is not None]

    async def remove(self, name: str) -> bool:
        """False: there is none of that name."""
        found = await self._database.execute(
            "DELETE FROM devices WHERE name = ?", (name,), durable=True
        )
        return found.rowcount > 0


def _invite(connection: sqlite3.Connection, row: tuple[str, Scope, str, float, float]) -> None:
    name = row[0]
    connection.execute("DELETE FROM devices WHERE name = ? AND key IS NULL", (name,))
    if connection.execute("SELECT 1 FROM devices WHERE name = ?", (name,)).fetchone():
        raise PerpetualError(
            f"A device is called {name!r} already", hint="See them: pcc devices list"
        )
    connection.execute(
        "INSERT INTO devices (name, scope, code, made_at, expires_at) VALUES (?, ?, ?, ?, ?)", row
    )


def _pair(connection: sqlite3.Connection, code: str, key: str, now: float) -> Device | None:
    connection.execute("DELETE FROM devices WHERE key IS NULL AND expires_at <= ?", (now,))
    return _device(
        connection.execute(
            "UPDATE devices SET key = ?, code = NULL, expires_at = NULL, seen_at = ?"
            " WHERE code = ? RETURNING *",
            (key, now, code),
        ).fetchone()
    )


def _device(row: sqlite3.Row | None) -> Device | None:
    if row is None:
        return None
    return Device(
        name=row["name"],
        scope=Scope(row["scope"]),
        key=row["key"] or "",
        made_at=row["made_at"],
        expires_at=row["expires_at"],
        seen_at=row["seen_at"],
    )
