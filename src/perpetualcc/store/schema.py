"""
The migrations: each runs once, in a transaction, by the order of names, and none on a newer file.

The file itself lists by name what was applied to it, so that one that was merged between others is
applied late instead of never. `user_version` is kept for versions that know nothing of the list.
"""

import sqlite3
from contextlib import closing
from importlib import resources
from pathlib import Path

from perpetualcc.store.problems import DatabaseError

_LIST = "applied_migrations"


def migrations() -> dict[str, str]:
    """The SQL of each migration by its name (`0001_core`), in order. A name never changes."""
    folder = resources.files("perpetualcc.store") / "migrations"
    found = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return {name.removesuffix(".sql"): (folder / name).read_text("utf-8") for name in found}


def refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    """Raises `DatabaseError`, before anything is written, when the file is not ours to change."""
    # Another process may be making the file: whoever sees something of it sees the list, too.
    is_new = connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None
    version, applied, known = _version(connection), _applied(connection), migrations()
    unknown = sorted((applied or set()) - set(known))
    if unknown or version > max(map(_number, known)):
        raise DatabaseError(
            f"The database {str(path)!r} was written by a newer version of PerpetualCC"
            f" (schema {unknown[-1] if unknown else version}, this one knows {max(known)})",
            hint="Upgrade PerpetualCC; nothing was changed",
        )
    if version == 0 and applied is None and not is_new:
        raise DatabaseError(
            f"The file {str(path)!r} is a database of another program",
            hint="Move it away, or choose another directory with --data-dir",
        )


def migrate(connection: sqlite3.Connection) -> None:
    """
    Bring the schema up to date. A migration that fails, or dies, leaves the one before it.

    Several processes may do this at once: each migration is applied by one of them.
    """
    if _applied(connection) is None:
        _begin_list(connection)
    for name, sql in migrations().items():
        if name not in (_applied(connection) or ()):
            _apply(connection, name, sql)


def _apply(connection: sqlite3.Connection, name: str, sql: str) -> None:
    version = max(_version(connection), _number(name))
    try:
        # Whoever comes second with it is stopped by its name, before it has done anything.
        connection.executescript(
            f"BEGIN IMMEDIATE;\nINSERT INTO {_LIST} VALUES ('{name}');\n{sql}\n;"
            f"PRAGMA user_version = {version};\nCOMMIT;"
        )
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if name not in (_applied(connection) or ()):
            raise


def _begin_list(connection: sqlite3.Connection) -> None:
    """For a new file, and for one from before there was a list: it says only how far it came."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {_LIST} (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID"
        )
        names = [(name,) for name in _seen_in(_things(connection), _version(connection))]
        connection.executemany(f"INSERT OR IGNORE INTO {_LIST} VALUES (?)", names)  # noqa: S608
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _seen_in(things: set[tuple[str, str]], version: int) -> list[str]:
    """The migrations up to this version that left something there, or took something away."""
    seen: list[str] = []
    with closing(sqlite3.connect(":memory:")) as replica:
        before = _things(replica)
        for name, sql in migrations().items():
            if _number(name) > version:
                break
            replica.executescript(sql)
            after = _things(replica)
            gone = before - after
            if (after - before) & things or (gone and not gone & things):
                seen.append(name)
            before = after
    return seen


def _things(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """Tables, indexes and columns: the owner and the name of each."""
    found = connection.execute(
        "SELECT '', name FROM sqlite_master UNION SELECT owner.name, part.name"
        " FROM sqlite_master AS owner, pragma_table_info(owner.name) AS part"
        " WHERE owner.type = 'table'"
    )
    return {(owner, name) for owner, name in found}


def _applied(connection: sqlite3.Connection) -> set[str] | None:
    """None: there is no list."""
    known = "SELECT 1 FROM sqlite_master WHERE name = ?"
    if connection.execute(known, (_LIST,)).fetchone() is None:
        return None
    return {name for (name,) in connection.execute(f"SELECT name FROM {_LIST}")}  # noqa: S608


def _number(name: str) -> int:
    return int(name[:4])


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
