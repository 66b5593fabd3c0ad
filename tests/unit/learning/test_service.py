"""The worker's keeper: it starts one, starts another when it dies, and leaves nothing behind."""

import asyncio
import errno
import os
import signal
import subprocess
import sys
import time

import pytest

from perpetualcc.daemon import learning_worker
from perpetualcc.domain.locations import Locations
from perpetualcc.learning import control
from perpetualcc.learning.places import Places
from perpetualcc.learning.queue import QueueReader
from perpetualcc.learning.service import LearningService


@pytest.fixture
def places(tmp_path):
    found = Places(claude=tmp_path / "claude")
    found.make()
    found.queue.touch()
    return found


@pytest.fixture(autouse=True)
def pauses(monkeypatch):
    """The seconds of each pause so far, of which a tenth is waited: after each it looks again."""
    whole, found = LearningService._pause, []

    def rest(self, seconds):
        found.append(seconds)
        return whole(self, seconds / 10)

    monkeypatch.setattr(LearningService, "_pause", rest)
    return found


async def looked(pauses, times):
    wanted = len(pauses) + times
    async with asyncio.timeout(20):
        while len(pauses) < wanted:  # noqa: ASYNC110  # of a service that tells nobody
            await asyncio.sleep(0.01)


def command(places):
    return learning_worker.command(places, Locations(data=places.claude / "data"))


async def another(places, than):
    async with asyncio.timeout(20):
        while (pid := control.running_pid(places)) in {None, than}:  # noqa: ASYNC110  # a process
            await asyncio.sleep(0.05)
    return pid


def test_a_killed_worker_is_replaced_and_stop_ends_the_last(places):
    async def scenario():
        service = LearningService(places, command(places))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(service.run())
            first = await another(places, than=None)
            os.kill(first, signal.SIGKILL)
            second = await another(places, than=first)
            await service.stop()
        return first, second

    first, second = asyncio.run(scenario())

    assert first != second
    assert control.running_pid(places) is None


def test_one_that_cannot_be_started_counts_as_a_crash_and_ends_nothing_else(places, pauses):
    async def scenario():
        service = LearningService(places, ["/nowhere/python"])
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(service.run())
            await looked(pauses, 2)
            await service.stop()

    asyncio.run(scenario())

    assert pauses[:2] == [4.0, 8.0]


def test_a_worker_that_runs_already_is_kept_and_followed_by_one_of_our_own(places, pauses):
    other = control.start(places, command(places), say=lambda _: None)

    async def scenario():
        service = LearningService(places, command(places))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(service.run())
            await looked(pauses, 3)
            kept = control.running_pid(places)
            os.kill(other, signal.SIGKILL)
            own = await another(places, than=other)
            await service.stop()
        return kept, own

    kept, own = asyncio.run(scenario())

    assert kept == other
    assert own != other
    assert "Another worker" not in places.log.read_text()
    assert control.running_pid(places) is None


def test_a_worker_that_a_person_stopped_stays_stopped_until_it_is_wanted_again(places, pauses):
    async def scenario():
        service = LearningService(places, command(places))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(service.run())
            await another(places, than=None)
            await asyncio.to_thread(control.stop_for_good, places, say=lambda _: None)
            places.queue.write_text("not an event\n")
            await looked(pauses, 3)
            stopped = control.running_pid(places), service.busy
            places.stopped.unlink()
            again = await another(places, than=None)
            await service.stop()
        return stopped, again

    stopped, again = asyncio.run(scenario())

    assert stopped == (None, False)
    assert again is not None


def test_a_service_that_was_never_wanted_leaves_no_directory(tmp_path, pauses):
    places = Places(claude=tmp_path / "claude")

    async def scenario():
        service = LearningService(places, command(places))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(service.run())
            await looked(pauses, 1)
            await service.stop()

    asyncio.run(scenario())

    assert list(tmp_path.iterdir()) == []


def test_a_cancelled_service_takes_its_worker_along(places):
    async def scenario():
        service = LearningService(places, command(places))
        running = asyncio.get_running_loop().create_task(service.run())
        await another(places, than=None)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(scenario())

    assert control.running_pid(places) is None


def test_it_waits_for_the_first_event_without_a_process_and_is_busy_while_one_waits(places, pauses):
    places.queue.unlink()

    async def scenario():
        service = LearningService(places, command(places))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(service.run())
            await looked(pauses, 2)
            before = control.running_pid(places), service.busy
            places.queue.write_text("not an event\n")
            pid = await another(places, than=None)
            async with asyncio.timeout(20):
                while service.busy:  # noqa: ASYNC110  # a process
                    await asyncio.sleep(0.05)
            await service.stop()
        return before, pid

    before, pid = asyncio.run(scenario())

    assert before == (None, False)
    assert pid is not None


def test_a_full_disk_is_waited_for_however_long_it_takes(places, tmp_path):
    tries = tmp_path / "tries"
    fails = ["sh", "-c", f"echo >> '{tries}'; exit {control.DISK_SPENT}"]

    async def scenario():
        service = LearningService(places, fails)
        service._pause = lambda _: asyncio.sleep(0)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(service.run())
            async with asyncio.timeout(20):
                while not (tries.exists() and len(tries.read_text()) > 6):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            assert not running.done()
            await service.stop()

    asyncio.run(scenario())


_ON_A_FULL_DISK = """
import errno, sys
from pathlib import Path
from perpetualcc.learning import worker
from perpetualcc.learning.places import Places

def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")

worker.write_whole = full
sys.exit(worker.work(Places(claude=Path(sys.argv[1]))))
"""


def test_a_worker_on_a_full_disk_says_so_and_loses_nothing(places):
    line = "no event, and nowhere to set it aside\n"
    places.queue.write_text(line)

    done = subprocess.run(
        [sys.executable, "-c", _ON_A_FULL_DISK, str(places.claude)], check=False, timeout=30
    )

    assert done.returncode == control.DISK_SPENT
    assert places.queue.read_text() == line
    assert "what waits is read later" in places.log.read_text()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.timeout(10)
def test_what_is_no_queue_keeps_no_engine_from_its_sleep(places, make):
    places.queue.unlink()
    make(places.queue)
    service = LearningService(places, command(places))
    service._at_work = True

    assert not service.busy


def test_a_queue_that_cannot_be_read_ends_no_engine(places, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(QueueReader, "waiting", refused)
    service = LearningService(places, command(places))
    service._at_work = True

    assert not service.busy


def test_half_an_old_queue_is_not_left_where_there_is_no_room(places, monkeypatch):
    old = places.queue.with_name("learning_queue.1.jsonl")
    old.write_text("x\n" * 100)

    def full(source, target):
        target.write(source.read(10))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("perpetualcc.learning.queue.shutil.copyfileobj", full)

    with pytest.raises(OSError, match="No space"):
        QueueReader(places).rotate(now=time.time() + 60)
    assert sorted(path.name for path in old.parent.glob("*learning_queue.1*")) == [old.name]
