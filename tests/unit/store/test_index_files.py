"""The files of a project's index are the user's alone, and lead nowhere else."""

import sqlite3
import stat
from contextlib import closing

import pytest

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.store.index.database import IndexDatabase


def test_an_index_is_closed_to_others_whatever_was_there(tmp_path):
    folder = tmp_path / ".perpetualcc"
    folder.mkdir()
    (folder / "vectors.db").touch(0o666)

    index = IndexDatabase(tmp_path)
    with index.transaction():
        pass
    with index.claimed("index.lock", wait=True):
        modes = {
            one.name: stat.S_IMODE(one.stat().st_mode)
            for one in folder.iterdir()
            if one.name != ".gitignore"
        }
    index.close()

    assert {"index.db", "vectors.db", "index.lock"} <= set(modes)
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("name", ["index.db", "vectors.db"])
def test_a_link_in_its_place_leads_to_nobodys_database(tmp_path, name):
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE mine (x)")
    project = tmp_path / "project"
    (project / ".perpetualcc").mkdir(parents=True)
    (project / ".perpetualcc" / name).symlink_to(other)

    index = IndexDatabase(project)
    index.connection.execute("SELECT 1")
    index.close()

    with closing(sqlite3.connect(other)) as database:
        assert database.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]


def test_no_ignore_file_is_written_by_way_of_a_link(tmp_path):
    project, other = tmp_path / "project", tmp_path / "ignore"
    (project / ".perpetualcc").mkdir(parents=True)
    (project / ".perpetualcc/.gitignore").symlink_to(other)

    IndexDatabase(project)

    assert not other.exists()


def test_a_folder_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    project = tmp_path / "project"
    project.mkdir()
    (project / ".perpetualcc").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(PerpetualError, match="is a link"):
        IndexDatabase(project)

    assert list((tmp_path / "elsewhere").iterdir()) == []
