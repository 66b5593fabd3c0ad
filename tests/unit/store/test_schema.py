"""Migrations: each once, whatever came before, whoever dies meanwhile, and never on newer data."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.store import schema
from perpetualcc.store.schema import migrate, migrations, refuse_foreign

KILLED_ANYWHERE = """
import os, sqlite3, sys
from perpetualcc.store.schema import migrate, refuse_foreign
path, step = sys.argv[1], 0
while True:
    step += 1
    if (child := os.fork()) == 0:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA synchronous = OFF")
        left = step
        def die(_):
            global left
            left -= 1
            left or os.kill(os.getpid(), 9)
        connection.set_trace_callback(die)
        migrate(connection)
        os._exit(0)
    died = os.waitpid(child, 0)[1]
    refuse_foreign(sqlite3.connect(path), path)
    if not died:
        break
print(step)
"""


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(opened(tmp_path)) as found:
        yield found


def opened(tmp_path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(tmp_path / "x.db", isolation_level=None, timeout=30)
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def shape(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """What is there, by owner and name; columns that came late stand elsewhere in their table."""
    return schema._things(connection)


def whole() -> set[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        migrate(fresh)
        return shape(fresh)


def of_an_older_version(connection: sqlite3.Connection, names: list[str]) -> None:
    """As a version left it that knew these migrations and kept only a number."""
    for name in names:
        connection.executescript(migrations()[name])
    connection.execute(f"PRAGMA user_version = {int(names[-1][:4])}")


BUILT_ON = {
    "0010_memory": {
        "0150_procedures_of_a_project",
        "0151_fresh_episodes",
        "0210_vectors_by_model",
        "0220_what_nothing_reads",
    },
    "0021_budget": {"0160_spending_past_midnight", "0190_spending_by_session"},
    "0030_handovers": {"0220_what_nothing_reads"},
    "0040_people": {"0110_retention"},
    "0050_trust_and_rules": {"0230_exactly_this"},
    "0171_looks": {"0200_looks_that_are_told"},
}


@pytest.mark.parametrize("late", list(migrations())[2:])
def test_data_that_knows_only_a_number_is_given_what_was_merged_between(connection, late):
    left_out = {late, *BUILT_ON.get(late, ())}
    of_an_older_version(connection, [name for name in migrations() if name not in left_out])

    migrate(connection)

    assert shape(connection) == whole()


@pytest.mark.parametrize("count", range(1, len(migrations()) + 1))
def test_data_of_every_version_before_is_brought_up_to_date_and_kept(connection, count):
    of_an_older_version(connection, list(migrations())[:count])
    connection.execute("INSERT INTO projects (path, created_at) VALUES ('/kept', 1)")

    migrate(connection)
    migrate(connection)

    assert shape(connection) == whole()
    assert connection.execute("SELECT path FROM projects").fetchall() == [("/kept",)]


def test_a_migration_that_is_merged_between_others_is_applied_late(connection, monkeypatch):
    migrate(connection)
    version = connection.execute("PRAGMA user_version").fetchone()
    merged = {**migrations(), "0060_between": "CREATE TABLE between_others (id INTEGER);"}
    monkeypatch.setattr(schema, "migrations", lambda: dict(sorted(merged.items())))

    migrate(connection)

    assert ("", "between_others") in shape(connection)
    assert connection.execute("PRAGMA user_version").fetchone() == version


def test_a_migration_that_is_not_known_means_data_of_a_newer_version(connection, tmp_path):
    migrate(connection)
    connection.execute("INSERT INTO applied_migrations VALUES ('0155_of_tomorrow')")

    with pytest.raises(PerpetualError, match="newer version") as caught:
        refuse_foreign(connection, tmp_path / "x.db")

    assert "0155_of_tomorrow" in str(caught.value)


def test_whoever_dies_at_any_statement_leaves_what_the_next_one_finishes(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED_ANYWHERE, str(tmp_path / "x.db")],
        check=True, timeout=120, capture_output=True, text=True,
    )  # fmt: skip

    assert int(done.stdout) > len(migrations())
    with closing(opened(tmp_path)) as connection:
        assert shape(connection) == whole()


def test_several_that_migrate_at_once_apply_each_once(tmp_path):
    def play() -> None:
        try:
            with closing(opened(tmp_path)) as connection:
                refuse_foreign(connection, tmp_path / "x.db")
                migrate(connection)
        except Exception as error:  # noqa: BLE001
            problems.append(error)

    problems: list[Exception] = []
    players = [threading.Thread(target=play) for _ in range(6)]
    for player in players:
        player.start()
    for player in players:
        player.join()

    assert problems == []
    with closing(opened(tmp_path)) as connection:
        assert shape(connection) == whole()
