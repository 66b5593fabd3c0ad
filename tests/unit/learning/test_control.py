"""One worker at a time: who starts it, who ends it."""

import fcntl
import os
import threading

import pytest

from perpetualcc.learning import control
from perpetualcc.learning.health import describe, examine
from perpetualcc.learning.worker import AnotherWorker
from tests.unit.learning.test_worker import command, eventually, start, work


def test_two_who_ask_at_once_take_each_other_for_no_worker(places):
    """What stands in the lock's file is the process of a worker that is gone."""
    places.lock.write_text("1\n")
    descriptor = os.open(places.lock, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)  # as somebody who asks has it
        assert control.running_pid(places) is None
    finally:
        os.close(descriptor)


def test_one_worker_at_a_time(places):
    child = start(places)
    try:
        with pytest.raises(AnotherWorker):
            work(places)
        assert eventually(lambda: examine(places).is_alive)
        assert "Worker healthy" in describe(examine(places))
    finally:
        child.kill()
        child.wait()


def test_its_watchdog_ends_with_it_and_never_a_process_that_does_other_things(places):
    work(places)
    for thread in threading.enumerate():
        if thread.name == "watchdog":
            thread.join(5)

    assert "watchdog" not in {thread.name for thread in threading.enumerate()}


def test_restart_stops_one_and_starts_another(places):
    said = []
    first = control.start(places, command(places), say=said.append)
    control.stop(places, force=False, say=said.append)
    second = control.start(places, command(places), say=said.append)
    control.stop(places, force=True, say=said.append)

    assert first != second
    assert said == [
        "Starting worker...", f"Worker started (PID {first})",
        f"Stopping worker (PID {first})...", "Worker stopped",
        "Starting worker...", f"Worker started (PID {second})",
        f"Stopping worker (PID {second})...", "Force killed",
    ]  # fmt: skip
