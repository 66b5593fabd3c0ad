"""The numbered migrations: each runs once, in a transaction, and none runs on a newer file."""

import sqlite3
from importlib import resources
from pathlib import Path

from perpetualcc.store.problems import DatabaseError


def migrations() -> dict[int, str]:
    """The SQL of each migration by its number, in order."""
    folder = resources.files("perpetualcc.store") / "migrations"
    found = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return {int(name[:4]): (folder / name).read_text("utf-8") for name in found}


def refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    """Raises `DatabaseError`, before anything is written, when the file is not ours to change."""
    version = _version(connection)
    latest = max(migrations())
    if version > latest:
        raise DatabaseError(
            f"The database {str(path)!r} was written by a newer version of PerpetualCC"
            f" (schema {version}, this one knows {latest})",
            hint="Upgrade PerpetualCC; nothing was changed",
        )
    if version == 0 and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise DatabaseError(
            f"The file {str(path)!r} is a database of another program",
            hint="Move it away, or choose another directory with --data-dir",
        )


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema up to date. A migration that fails leaves the one before it."""
    version = _version(connection)
    for number, sql in migrations().items():
        if number <= version:
            continue
        try:
            connection.executescript(
                f"BEGIN IMMEDIATE;\n{sql}\n;PRAGMA user_version = {number};\nCOMMIT;"
            )
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
