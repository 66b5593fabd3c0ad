"""Files that the supervisor leaves: true only while it lives."""

import errno
import os
from pathlib import Path

import pytest

from perpetualcc.config import locate
from perpetualcc.daemon.halt import stop_now
from perpetualcc.daemon.state import (
    DaemonStatus,
    Phase,
    hold,
    is_held,
    note_settings,
    note_steering,
    read_pid,
    read_status,
    set_otherwise,
    steered_otherwise,
    write_status,
)
from perpetualcc.daemon.supervisor_log import SupervisorLog, tail
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.locations import SOCKET_PATH_LIMIT, Locations


@pytest.fixture
def places(tmp_path: Path) -> Locations:
    return locate(tmp_path / "data").prepare()


def test_a_status_without_a_living_supervisor_means_nothing(places: Locations) -> None:
    status = DaemonStatus(phase=Phase.GAVE_UP, supervisor=1, crashes=5, problem="it broke")
    write_status(places, status)

    assert read_status(places) == DaemonStatus()
    lock = hold(places.supervisor_lock)
    assert lock
    assert read_status(places) == status
    os.close(lock)
    assert read_status(places) == DaemonStatus()


def test_an_engine_that_is_dead_is_never_said_to_run(places: Locations) -> None:
    written = DaemonStatus(phase=Phase.RUNNING, supervisor=1, engine=902)
    write_status(places, written)
    supervisor, engine = hold(places.supervisor_lock), hold(places.engine_lock)
    assert supervisor
    assert engine
    assert read_status(places) == written

    os.close(engine)

    found = read_status(places)
    assert (found.phase, found.engine) == (Phase.RESTARTING, None)
    assert "902" in found.problem
    os.close(supervisor)


def test_a_status_is_kept_where_no_file_can_be_made(
    places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = hold(places.supervisor_lock)
    assert lock
    write_status(places, DaemonStatus(phase=Phase.RUNNING, problem="x" * 300))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    write_status(places, DaemonStatus(phase=Phase.GAVE_UP, problem="full"))

    assert read_status(places) == DaemonStatus(phase=Phase.GAVE_UP, problem="full")
    assert not places.status.with_suffix(".new").exists()
    os.close(lock)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"phase": "flying"}', '{"other": 1}', "{}"])
def test_a_broken_status_file_means_starting(places: Locations, text: str) -> None:
    lock = hold(places.supervisor_lock)
    assert lock
    places.status.write_text(text)

    assert read_status(places).phase is Phase.STARTING
    os.close(lock)


def test_a_lock_has_one_holder(places: Locations) -> None:
    first = hold(places.engine_lock)
    assert first

    assert is_held(places.engine_lock)
    assert hold(places.engine_lock, wait=0.05) is None
    os.close(first)
    assert not is_held(places.engine_lock)


def test_looking_at_a_lock_that_cannot_exist_finds_it_free(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert not is_held(tmp_path / "nothing" / "lock")
    assert not is_held(tmp_path / "file" / "lock")


def test_a_file_system_without_locks_is_told_in_words(
    places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    hold(places.engine_lock)
    monkeypatch.setattr("fcntl.flock", no_locks)

    for look in (hold, is_held):
        with pytest.raises(PerpetualError, match="cannot be locked: Function not") as refused:
            look(places.engine_lock)
        assert "--data-dir" in (refused.value.hint or "")


def test_an_open_data_directory_is_closed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o755)

    locate(tmp_path / "data").prepare()

    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700


def test_missing_parents_are_made_private(tmp_path: Path) -> None:
    locate(tmp_path / "a" / "b").prepare()

    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700


def test_a_socket_path_at_the_systems_limit_works_and_one_more_is_refused(tmp_path: Path) -> None:
    room = SOCKET_PATH_LIMIT - len(bytes(locate(tmp_path / "x").socket)) + 1

    locate(tmp_path / ("x" * room)).prepare()
    with pytest.raises(PerpetualError, match="too long") as caught:
        locate(tmp_path / ("x" * (room + 1))).prepare()

    assert "--data-dir" in str(caught.value.hint)


def test_the_supervisors_log_keeps_one_older_file(tmp_path: Path) -> None:
    log = SupervisorLog(path=tmp_path / "log", limit=1000)

    for number in range(100):
        log.write(f"line {number} " + "x" * 50)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["log", "log.1"]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 2300
    assert "line 99 " in tail(log.path, 1)[0]
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


def test_a_supervisors_log_that_cannot_be_written_disturbs_nobody(tmp_path: Path) -> None:
    log = SupervisorLog(path=tmp_path / "missing" / "log")

    log.write("hello")

    assert not log.path.exists()


def test_the_sections_that_were_set_otherwise_are_named_while_an_engine_works(
    places: Locations,
) -> None:
    note_settings(places, {"human": "1", "load": "1"})
    now = {"human": "2", "load": "1", "notifications": "1"}

    assert set_otherwise(places, now) == []
    lock = hold(places.engine_lock)

    assert lock is not None
    assert set_otherwise(places, now) == ["human", "notifications"]
    assert set_otherwise(places, {"human": "1"}) == ["load"]
    places.settings.write_text("what an earlier version wrote")
    assert set_otherwise(places, now) == []
    os.close(lock)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.timeout(10)
def test_what_is_no_file_in_the_place_of_ours_holds_nobody_up(places: Locations, make) -> None:
    notes = (places.status, places.steering, places.settings, places.grace)
    for path in (places.engine_lock, places.supervisor_lock, *notes):
        make(path)

    note_steering(places, {"A": "1"})
    note_settings(places, {"human": "1"})

    assert read_status(places) == DaemonStatus()
    assert not stop_now(places)
    assert set_otherwise(places, {"human": "2"}) == []
    assert steered_otherwise(places, {"A": "1"}) == []
    for lock in (places.engine_lock, places.supervisor_lock):
        assert read_pid(lock) is None
        with pytest.raises(OSError, match=r"no file|directory"):
            hold(lock)
