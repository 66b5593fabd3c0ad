"""A new row is said by the names of its columns: no value can stand in another's place."""

import sqlite3
from collections.abc import Mapping
from typing import Any


def insert(
    connection: sqlite3.Connection, table: str, row: Mapping[str, Any], then: str = ""
) -> sqlite3.Cursor:
    """`then`: what follows in the statement. Names and words are ours, never a caller's."""
    names, places = ", ".join(row), ", ".join(f":{name}" for name in row)
    return connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places}) {then}", row)  # noqa: S608  # names are ours
