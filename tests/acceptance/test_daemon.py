"""The supervisor and its engine, as real processes that are killed, stopped and raced."""

import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path

import pytest

from perpetualcc.claude import processes
from perpetualcc.daemon import halt
from perpetualcc.daemon.launch import PATIENCE, DaemonUnavailable, connect
from perpetualcc.daemon.state import DaemonStatus, Phase, write_status
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import RunId
from perpetualcc.gateway.client import ConnectionLost
from tests.acceptance.daemons import ToyDaemon, toy_daemon
from tests.acceptance.supervised import wait_until

MakeDaemon = Callable[..., ToyDaemon]


@pytest.fixture
def make_daemon(tmp_path: Path) -> Iterator[MakeDaemon]:
    with ExitStack() as stack:
        yield lambda **flags: stack.enter_context(toy_daemon(tmp_path, **flags))


def is_gone(pid: int) -> bool:
    return not processes.is_alive(pid)


# -- it comes, sleeps and wakes


def test_the_first_command_starts_everything_behind_closed_doors(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    before = os.umask(0)

    try:
        with daemon.connect() as client:
            assert client.call("toy.echo", text="hi") == "hi"
    finally:
        os.umask(before)

    assert daemon.locations.socket.stat().st_mode & 0o777 == 0o600
    for directory in (daemon.locations.data, daemon.locations.run_dir, daemon.locations.logs_dir):
        assert directory.stat().st_mode & 0o777 == 0o700
    for file in daemon.locations.data.rglob("*"):
        # What a link leads to is behind the door of its folder.
        assert file.is_symlink() or not file.stat().st_mode & 0o077, file


def test_an_idle_engine_leaves_and_a_visitor_wakes_it(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(idle_exit=0.2)
    with daemon.connect() as client:
        first = client.call("toy.pid")

    daemon.wait_for(Phase.ASLEEP)
    before = time.monotonic()
    with daemon.connect() as client:
        second = client.call("toy.pid")

    assert time.monotonic() - before < 3.0
    assert is_gone(first)
    assert second != first
    assert daemon.status.crashes == 0


def test_an_engine_stays_longer_for_a_visitor_who_may_come_back(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(idle_exit=1)
    with daemon.connect() as client:
        first = client.call("toy.pid")

    time.sleep(2)
    with daemon.connect() as client:
        second = client.call("toy.pid")

    assert second == first


def test_an_engine_that_nobody_visits_leaves_at_once(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(idle_exit=0.5)
    with daemon.connect() as client:
        client.call("toy.due", at=time.time() + 3)
        first = client.call("toy.pid")
    daemon.wait_for(Phase.ASLEEP)
    wait_until(lambda: daemon.status.engine not in {None, first})
    daemon.wait_for(Phase.RUNNING)
    woken = time.monotonic()

    daemon.wait_for(Phase.ASLEEP)

    assert time.monotonic() - woken < 1.95


def test_a_due_time_wakes_the_engine_and_not_before(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(idle_exit=0.2)
    due = time.time() + 3
    with daemon.connect() as client:
        client.call("toy.due", at=due)

    daemon.wait_for(Phase.ASLEEP)
    asleep_at = time.time()
    served = daemon.locations.data / "served"
    wait_until(served.exists)

    assert asleep_at < due
    assert daemon.status.wake in {None, due}
    assert due <= float(served.read_text()) < due + 2.0
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(due))
    assert f" ended; next due: {stamp}\n" in daemon.locations.engine_log.read_text()


def test_a_watched_file_that_grows_wakes_the_engine_and_a_still_one_does_not(
    make_daemon: MakeDaemon, tmp_path: Path
) -> None:
    queue = tmp_path / "queue.jsonl"
    queue.write_text("old\n")
    daemon = make_daemon(idle_exit=0.2, watch=queue, look=0.1)
    with daemon.connect() as client:
        first = client.call("toy.pid")
    daemon.wait_for(Phase.ASLEEP)
    time.sleep(0.5)
    assert daemon.status.phase is Phase.ASLEEP

    with queue.open("a") as file:
        file.write("new\n")

    wait_until(lambda: daemon.status.engine not in {None, first})
    daemon.wait_for(Phase.ASLEEP)


def test_work_keeps_the_engine_up(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(idle_exit=0.1)
    with daemon.connect() as client:
        client.call("toy.work")
        pid = client.call("toy.pid")

    time.sleep(0.6)

    assert daemon.status.phase is Phase.RUNNING
    assert daemon.status.engine == pid


def test_nobody_is_lost_who_comes_in_the_instant_of_falling_asleep(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon(idle_exit=0.005)
    engines = set()

    for number in range(12):
        with daemon.connect() as client:
            assert client.call("toy.echo", text=str(number)) == str(number)
            engines.add(client.call("toy.pid"))
        time.sleep(0.012 + 0.002 * number)  # around the 20 ms after which it leaves

    assert len(engines) > 1, "the engine never slept, so this proved nothing"
    assert daemon.status.crashes == 0


# -- it crashes and hangs


def test_a_killed_engine_is_restarted_at_once(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    with daemon.connect() as client:
        first = client.call("toy.pid")

    os.kill(first, signal.SIGKILL)
    wait_until(lambda: daemon.status.engine not in {first, None})
    with daemon.connect() as client:
        second = client.call("toy.pid")

    assert second != first
    assert "ended by SIGKILL" in daemon.status.problem


def test_a_crash_that_is_over_is_told_as_such_and_forgotten_in_sleep(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon(idle_exit=3)
    with daemon.connect() as client:
        first = client.call("toy.pid")
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: daemon.status.engine not in {first, None})
    daemon.wait_for(Phase.RUNNING)

    awake = daemon.pcc("daemon", "status").stdout
    daemon.wait_for(Phase.ASLEEP)
    asleep = daemon.pcc("daemon", "status").stdout

    assert re.search(r"\nRestarted   [-:\d ]+: the engine was ended by SIGKILL\n", awake)
    assert "Crashes" not in awake
    assert "SIGKILL" not in asleep


def test_a_follower_sees_every_event_once_across_a_crash(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    seqs, engines = [0], []

    while len(set(engines)) < 2 or len(seqs) < 60:
        with suppress(ConnectionLost), daemon.connect() as client:
            client.call("events.follow", since=seqs[-1])
            while len(seqs) < 60 and (event := client.next_event()):
                seqs.append(event.data["seq"])
                engines.append(event.data["pid"])
                if len(seqs) == 20:
                    os.kill(event.data["pid"], signal.SIGKILL)

    assert all(after == before + 1 for before, after in pairwise(seqs))
    assert len(set(engines)) == 2


def test_what_a_crashed_engine_left_running_is_ended(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    with daemon.connect() as client:
        client.call("toy.spawn")
        engine = client.call("toy.pid")
    [orphan] = processes.find(daemon.locations.data, RunId("r-1"))

    os.kill(engine, signal.SIGKILL)

    wait_until(lambda: is_gone(orphan))


@pytest.mark.parametrize("how", ["stopped", "blocked"])
def test_an_engine_that_hangs_is_killed_and_restarted(make_daemon: MakeDaemon, how: str) -> None:
    daemon = make_daemon(heartbeat=1.5)
    client = daemon.connect()
    first = client.call("toy.pid")

    if how == "stopped":
        os.kill(first, signal.SIGSTOP)
    else:
        with pytest.raises(PerpetualError):
            client.call("toy.block", seconds=30.0)
    wait_until(lambda: daemon.status.engine not in {first, None})

    assert is_gone(first)
    assert "hung" in daemon.status.problem
    if how == "blocked":
        assert "in block" in daemon.locations.supervisor_log.read_text()
    client.close()


def test_five_crashes_in_a_row_are_enough_until_a_person_says_start(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon()
    daemon.locations.prepare()
    broken = daemon.locations.data / "broken"
    broken.touch()

    with pytest.raises(DaemonUnavailable, match=r"gave up after 5 crashes.*the toy is broken") as e:
        daemon.connect()
    assert "pcc daemon restart" in str(e.value.hint)

    shown = daemon.pcc("daemon", "status")
    assert "gave up" in shown.stdout
    assert "the toy is broken" in shown.stdout
    log = daemon.pcc("daemon", "logs", "--tail", "500").stdout
    assert log.count("restarting: ") == 4
    assert "RuntimeError: the toy is broken" in log

    broken.unlink()
    assert daemon.pcc("daemon", "start").returncode == 0
    daemon.wait_for(Phase.RUNNING)
    assert daemon.status.crashes == 0


def test_an_error_that_a_person_can_act_on_reaches_that_person(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    daemon.locations.prepare()
    (daemon.locations.data / "newer").touch()

    shown = daemon.pcc("daemon", "start")

    assert shown.returncode == 1
    assert "The daemon gave up: The database is newer (Upgrade)\n" in shown.stderr
    assert daemon.status.crashes == 1
    assert "exit code" not in shown.stderr


def test_a_healthy_life_makes_old_crashes_forgotten(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(healthy=0.0)

    for _ in range(6):
        with daemon.connect() as client:
            engine = client.call("toy.pid")
        os.kill(engine, signal.SIGKILL)
        wait_until(lambda dead=engine: daemon.status.engine not in {dead, None})

    assert daemon.status.phase is not Phase.GAVE_UP
    assert daemon.status.crashes == 1


def test_crashes_are_not_in_a_row_while_the_work_gets_on_between_them(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon()
    daemon.locations.prepare()
    (daemon.locations.data / "progress").touch()

    for _ in range(6):
        with daemon.connect() as client:
            engine = client.call("toy.pid")
        os.kill(engine, signal.SIGKILL)
        wait_until(lambda dead=engine: daemon.status.engine not in {dead, None})

    assert daemon.status.phase is not Phase.GAVE_UP


# -- its supervisor dies


def test_after_the_supervisor_is_killed_the_next_command_brings_everything_back(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon()
    with daemon.connect() as client:
        client.call("toy.work")
        client.call("toy.spawn")
        first = client.call("toy.pid")
    [grandchild] = processes.find(daemon.locations.data)
    supervisor = daemon.status.supervisor
    assert supervisor

    os.kill(supervisor, signal.SIGKILL)
    wait_until(lambda: is_gone(supervisor))
    with daemon.connect() as client:
        second = client.call("toy.pid")

    assert second != first
    assert is_gone(first)
    assert is_gone(grandchild)
    assert daemon.status.supervisor != supervisor
    assert (daemon.locations.data / "finished").exists(), "the old engine did not stop gracefully"


def test_an_abandoned_engine_that_hangs_is_ended_by_the_next_supervisor(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon()
    with daemon.connect() as client:
        first = client.call("toy.pid")
    os.kill(first, signal.SIGSTOP)
    supervisor = daemon.status.supervisor
    assert supervisor
    os.kill(supervisor, signal.SIGKILL)
    wait_until(lambda: is_gone(supervisor))

    with daemon.connect() as client:
        second = client.call("toy.pid")

    assert second != first
    assert is_gone(first)


def test_an_abandoned_engine_leaves_even_when_nobody_comes(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    with daemon.connect() as client:
        engine = client.call("toy.pid")

    supervisor = daemon.status.supervisor
    assert supervisor
    os.kill(supervisor, signal.SIGKILL)

    wait_until(lambda: is_gone(engine), within=5.0)


def is_removed(place: Path) -> bool:
    """Once more where a daemon has just written there, as a person would."""
    shutil.rmtree(place, ignore_errors=True)
    return not place.exists()


@pytest.mark.parametrize("sleeps", [True, False])
def test_a_daemon_whose_place_is_removed_leaves_by_itself(
    make_daemon: MakeDaemon, sleeps: bool
) -> None:
    daemon = make_daemon(look=0.2, idle_exit=0.2 if sleeps else 60)
    with daemon.connect() as client:
        engine = client.call("toy.pid")
    daemon.wait_for(Phase.ASLEEP if sleeps else Phase.RUNNING)
    supervisor = daemon.status.supervisor
    assert supervisor is not None

    wait_until(lambda: is_removed(daemon.locations.run_dir), within=5)

    wait_until(lambda: is_gone(supervisor) and is_gone(engine), within=10)
    with daemon.connect() as client:
        assert client.call("toy.pid") != engine


def test_what_a_reboot_leaves_behind_is_taken_over(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    places = daemon.locations.prepare()
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(places.socket))
    stale.close()
    for lock in (places.supervisor_lock, places.engine_lock):
        lock.write_text(f"{os.getpid()}\n")  # a number that now belongs to somebody else
    write_status(places, DaemonStatus(phase=Phase.GAVE_UP, supervisor=os.getpid(), crashes=5))

    with daemon.connect() as client:
        assert client.call("toy.echo", text="back") == "back"

    daemon.wait_for(Phase.RUNNING)


def test_of_two_supervisors_started_at_once_one_wins_and_the_other_leaves_quietly(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon()
    daemon.locations.prepare()

    both = [
        subprocess.Popen(daemon.command(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(2)
    ]
    wait_until(lambda: any(one.poll() is not None for one in both))
    loser, winner = sorted(both, key=lambda one: one.poll() is None)
    with daemon.connect() as client:
        assert client.call("ping") == "pong"

    assert loser.returncode == 0
    assert loser.communicate()[0] == b""
    assert daemon.status.supervisor == winner.pid
    winner.send_signal(signal.SIGHUP)
    time.sleep(0.1)
    assert winner.poll() is None
    winner.terminate()
    winner.communicate(timeout=10)
    assert winner.returncode == 0


def test_a_supervisor_started_from_inside_a_run_is_not_part_of_it(
    make_daemon: MakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon = make_daemon()
    for name, value in processes.mark(daemon.locations.data, RunId("r-9")).items():
        monkeypatch.setenv(name, value)

    with daemon.connect() as client:
        found = processes.find(daemon.locations.data)
        assert client.call("ping") == "pong"

    assert found == []


# -- it is stopped


def test_a_graceful_stop_finishes_what_runs(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    with daemon.connect() as client:
        client.call("toy.work")

    done = daemon.pcc("daemon", "stop", "--grace", "7")

    assert done.stdout == "The daemon has stopped\n"
    assert (daemon.locations.data / "stopped").read_text() == "7.0"
    assert (daemon.locations.data / "finished").exists()
    assert daemon.left_over() == []
    assert daemon.status.phase is Phase.STOPPED
    assert not daemon.locations.socket.exists()
    assert daemon.pcc("daemon", "stop").stdout == "The daemon does not run\n"


def test_a_command_during_a_restart_waits_a_moment(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(grace=8)
    with daemon.connect() as client:
        engine = client.call("toy.pid")
    os.kill(engine, signal.SIGSTOP)

    with subprocess.Popen(
        [*daemon.pcc_command(), "daemon", "restart", "--grace", "1"],
        env=daemon.variables(),
        stderr=subprocess.PIPE,
        text=True,
    ) as restart:
        daemon.wait_for(Phase.STOPPING)
        with pytest.raises(DaemonUnavailable, match="is stopping"):
            daemon.connect()
        with daemon.connect(outwait=True) as client:
            assert client.call("toy.pid") != engine
        said = restart.communicate(timeout=20)[1]

    assert restart.returncode == 0
    assert "Stopping; what is at work gets up to 1s" in said


def test_who_looks_on_goes_on_after_a_restart_and_undoes_no_stop(make_daemon: MakeDaemon) -> None:
    """An open `pcc attach` brought back within a second what the kill switch had ended."""
    daemon = make_daemon()
    for how in ([], ["--now"]):
        daemon.connect().close()
        assert daemon.pcc("daemon", "stop", *how).returncode == 0

        with pytest.raises(DaemonUnavailable, match="was stopped"):
            daemon.connect(undo_stop=False, outwait=True)

        assert daemon.left_over() == []

    with daemon.connect() as client:
        engine = client.call("toy.pid")
    with ThreadPoolExecutor() as pool:
        assert daemon.pcc("daemon", "stop", "--now").returncode == 0
        looking = pool.submit(daemon.connect, undo_stop=False, outwait=True)
        daemon.connect().close()
        with looking.result() as client:
            assert client.call("toy.pid") != engine


def test_who_looks_on_brings_back_a_daemon_that_was_killed(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    daemon.connect().close()
    supervisor = daemon.status.supervisor
    assert supervisor is not None
    os.kill(supervisor, signal.SIGKILL)
    wait_until(lambda: is_gone(supervisor))

    with daemon.connect(undo_stop=False, outwait=True) as client:
        assert client.call("toy.pid")


def test_a_log_that_cannot_be_written_is_said_at_once(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    daemon.locations.prepare().supervisor_log.symlink_to("/nowhere/supervisor.log")
    before = time.monotonic()

    with pytest.raises(DaemonUnavailable, match=r"cannot write '.*supervisor.log'") as caught:
        daemon.connect()

    assert caught.value.hint == "Mend it, or see --data-dir"
    assert time.monotonic() - before < 5


def test_an_engine_that_ignores_a_stop_is_killed_after_the_grace(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    with daemon.connect() as client:
        engine = client.call("toy.pid")
    os.kill(engine, signal.SIGSTOP)

    done = daemon.pcc("daemon", "stop", "--grace", "0.2")

    assert done.returncode == 0
    assert is_gone(engine)


def test_a_stop_between_two_restarts_starts_no_further_engine(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    daemon.locations.prepare()
    (daemon.locations.data / "broken").touch()
    with subprocess.Popen(daemon.command()) as supervisor:
        wait_until(lambda: daemon.status.crashes >= 2)

        supervisor.terminate()
        supervisor.wait(timeout=10)

    assert daemon.left_over() == []
    assert not daemon.locations.socket.exists()


@pytest.mark.parametrize("frozen", ["nobody", "engine", "supervisor"])
def test_the_kill_switch_leaves_nothing_within_five_seconds(
    make_daemon: MakeDaemon, frozen: str
) -> None:
    daemon = make_daemon()
    with daemon.connect() as client:
        client.call("toy.work")
        client.call("toy.spawn")
        client.call("toy.spawn")
    grandchildren = processes.find(daemon.locations.data)
    victim = getattr(daemon.status, frozen, None)
    if victim:
        os.kill(victim, signal.SIGSTOP)

    before = time.monotonic()  # how long Python takes to load a command says how busy it is here
    stopped = halt.stop_now(daemon.locations)
    took = time.monotonic() - before

    assert stopped
    assert took < 5.0
    assert len(grandchildren) == 2
    assert all(is_gone(pid) for pid in grandchildren)
    assert daemon.left_over() == []


def test_a_socket_that_was_removed_is_said_soon_and_a_restart_mends_it(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon()
    daemon.connect().close()
    daemon.locations.socket.unlink()

    before = time.monotonic()
    with pytest.raises(DaemonUnavailable, match="was removed") as told:
        daemon.connect()
    took = time.monotonic() - before
    shown = daemon.pcc("daemon", "status").stdout
    halt.stop_now(daemon.locations)
    daemon.connect().close()

    assert took < PATIENCE / 2
    assert "pcc daemon restart" in str(told.value.hint)
    assert "Socket      removed" in shown


@pytest.mark.parametrize("lock", ["supervisor_lock", "engine_lock"])
@pytest.mark.parametrize("how", [["--now"], ["--grace", "2"]])
def test_a_stop_finds_what_a_damaged_lock_file_does_not_name(
    make_daemon: MakeDaemon, lock: str, how: list[str]
) -> None:
    daemon = make_daemon()
    daemon.connect().close()
    getattr(daemon.locations, lock).write_text("")

    done = daemon.pcc("daemon", "stop", *how)

    assert "The daemon has stopped" in done.stdout, done
    assert daemon.left_over() == []


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_in_the_place_of_a_lock_is_named_and_holds_nothing_up(
    make_daemon: MakeDaemon, make
) -> None:
    daemon = make_daemon()
    daemon.locations.prepare()
    make(daemon.locations.engine_lock)

    assert "stopped" in daemon.pcc("daemon", "status").stdout
    tried = daemon.pcc("daemon", "start")
    ended = daemon.pcc("daemon", "stop", "--now")

    assert tried.returncode == 1
    assert str(daemon.locations.engine_lock) in tried.stderr
    assert ended.returncode == 0, ended


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_in_the_place_of_a_log_is_moved_aside_and_holds_nothing_up(
    make_daemon: MakeDaemon, make
) -> None:
    daemon = make_daemon()
    places = daemon.locations.prepare()
    logs = (places.supervisor_log, places.engine_log, places.engine_last_words)
    for log in logs:
        make(log)

    daemon.connect().close()
    os.kill(daemon.status.engine or 0, signal.SIGKILL)
    make(rotated := places.engine_log.with_name("engine.log.1"))
    wait_until(lambda: "SIGKILL" in places.supervisor_log.read_text())
    daemon.connect().close()

    assert all(log.is_file() for log in logs)
    assert len(list(places.logs_dir.glob("*.aside-*"))) == len(logs)
    assert "SIGKILL" in daemon.pcc("daemon", "logs").stdout
    places.engine_log.unlink()
    make(places.engine_log)
    assert "SIGKILL" in daemon.pcc("daemon", "logs").stdout
    assert rotated.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says what the limit is")
def test_an_engine_may_open_as_many_files_as_the_system_lets_it(make_daemon: MakeDaemon) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    daemon = make_daemon()
    few = ["sh", "-c", 'ulimit -Sn 256 && exec "$@"', "sh", *daemon.command(), "--detach"]
    subprocess.run(few, check=True, timeout=20)
    daemon.connect().close()

    limits = Path(f"/proc/{daemon.status.engine}/limits").read_text()

    soft = next(line.split()[3] for line in limits.splitlines() if "open files" in line)
    assert int(soft) == (min(hard, 10_240) if hard > 0 else 10_240)


def test_a_stop_that_finds_nobody_says_so(make_daemon: MakeDaemon) -> None:
    """To say that the daemon has stopped would be untrue."""
    daemon = make_daemon()
    daemon.connect().close()
    daemon.wait_for(Phase.RUNNING)  # it writes no status after that
    supervisor = daemon.status.supervisor
    daemon.locations.supervisor_lock.write_text("")
    daemon.locations.status.write_text("")

    for how in ([], ["--now"]):
        done = daemon.pcc("daemon", "stop", *how)
        assert (done.returncode, done.stdout) == (1, ""), done
        assert "End it by hand" in done.stderr

    assert supervisor is not None
    os.kill(supervisor, signal.SIGKILL)


def test_restart_brings_a_new_engine(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon()
    with daemon.connect() as client:
        first = client.call("toy.pid")

    assert daemon.pcc("daemon", "restart").returncode == 0

    with daemon.connect() as client:
        assert client.call("toy.pid") != first


# -- what people type


def test_status_says_what_is_and_wakes_nobody(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(idle_exit=0.1)
    assert json.loads(daemon.pcc("daemon", "status", "--json").stdout)["phase"] == "stopped"
    with pytest.raises(DaemonUnavailable, match="does not run"):
        connect(daemon.locations, start=False)
    daemon.connect().close()
    daemon.wait_for(Phase.ASLEEP)

    shown = daemon.pcc("daemon", "status").stdout

    assert "Daemon      asleep since" in shown
    assert "Wakes       for a visitor" in shown
    assert daemon.status.phase is Phase.ASLEEP


def test_a_daemon_that_a_signal_stopped_is_said_to_be_and_goes_on(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon(idle_exit=60)
    daemon.connect().close()
    daemon.wait_for(Phase.RUNNING)
    assert "Stopped" not in daemon.pcc("daemon", "status").stdout
    pids = [daemon.status.supervisor, daemon.status.engine]

    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    shown = daemon.pcc("daemon", "status").stdout
    asked = time.monotonic()
    with pytest.raises(DaemonUnavailable) as unanswered:
        daemon.connect()
    waited = time.monotonic() - asked
    for pid in pids:
        os.kill(pid, signal.SIGCONT)

    said = f"kill -CONT {pids[0]} {pids[1]}"
    assert f"Stopped     by a signal, and does nothing until: {said}" in shown
    assert said in unanswered.value.hint
    assert waited < PATIENCE / 2
    daemon.connect().close()
    assert daemon.status.engine == pids[1]


def test_a_data_directory_that_cannot_work_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    places = [tmp_path / "file", tmp_path / ("x" * 120)]

    for place in places:
        done = subprocess.run(
            [sys.executable, "-m", "perpetualcc", "--data-dir", str(place), "daemon", "start"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert done.stderr.startswith("error: The ")
        assert "\nhint:  Choose " in done.stderr
        assert "Traceback" not in done.stderr


def test_the_supervisor_imports_nothing_heavy() -> None:
    heavy = ["typer", "rich", "asyncio", "sqlite3", "yaml", "pydantic", "logging", "json.tool"]
    code = (
        "import sys, perpetualcc.daemon.supervisor\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
