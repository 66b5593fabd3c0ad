"""What `pcc learn status` prints: healthy, stuck, stopped, and how much waits (seed 004)."""

import json
import os
import signal
import subprocess
import time
from dataclasses import replace

import pytest

from perpetualcc.daemon import learning_worker
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.locations import Locations
from perpetualcc.learning import control
from perpetualcc.learning.health import Health, describe, examine

HEALTHY = Health(
    pid=1234, is_alive=True, is_stuck=False, status="processing", processed=47, waiting=3,
    heartbeat_age=2.0, current="", is_installed=True,
)  # fmt: skip


def changed(**fields):
    return replace(HEALTHY, **fields)


def test_a_healthy_worker_looks_as_the_design_has_it():
    assert describe(HEALTHY) == (
        "🟢 Worker healthy\n"
        "\n"
        "   Status: processing\n"
        "   Queue size: 3 events\n"
        "   Processed: 47 events (this session)\n"
        "   Last heartbeat: 2s ago\n"
        "   Hooks: installed"
    )


def test_a_stuck_worker_looks_as_the_design_has_it():
    stuck = changed(is_stuck=True, heartbeat_age=35.0, current="prompt e-1 in /p")

    assert describe(stuck) == (
        "🔴 Worker STUCK (last heartbeat 35s ago)\n"
        "\n"
        "   PID: 1234\n"
        "   Status: processing\n"
        "   Queue size: 3 events\n"
        "   Processed: 47 events (this session)\n"
        "   Last heartbeat: 35s ago\n"
        "   Hooks: installed\n"
        "   Current event: prompt e-1 in /p\n"
        "\n"
        "To force restart: pcc learn restart --force"
    )


@pytest.mark.parametrize(
    ("health", "line"),
    [
        (changed(waiting=5_000), "Queue size: 5,000 events (backlog)"),
        (changed(waiting=5_000), "If the queue does not get shorter: pcc learn logs"),
        (changed(is_alive=False, pid=None), "Worker not running"),
        (changed(is_alive=False, pid=None), "To start it: pcc learn restart"),
        (changed(heartbeat_age=None), "Last heartbeat: never"),
        (changed(is_installed=False), "not installed (pcc learn install)"),
        (changed(is_installed=False, is_plugin_enabled=True), "Hooks: the plugin's"),
        (
            changed(is_installed=False, is_plugin_enabled=True, is_alive=False, is_stopped=True),
            "It was stopped. To start it: pcc learn restart",
        ),
    ],
)
def test_what_is_not_well_is_said_with_what_to_type(health, line):
    assert line in describe(health)


@pytest.mark.parametrize(
    ("plugins", "counts"),
    [({"pcc@perpetualcc": True}, True), ({"pcc@perpetualcc": False}, False), ({"x@y": True}, False),
     ([], False)],
)  # fmt: skip
def test_the_hooks_of_the_plugin_count(places, plugins, counts):
    places.settings.write_text(json.dumps({"enabledPlugins": plugins}))

    assert examine(places).has_hooks is counts


def test_a_process_that_only_has_the_number_of_a_worker_is_none(places):
    places.heartbeat.write_text(json.dumps({"pid": os.getpid(), "at": time.time()}))

    assert not examine(places).is_alive


def test_a_worker_that_stands_still_is_stuck_and_is_restarted_by_force(places):
    command = learning_worker.command(places, Locations(data=places.claude / "data"))
    child = subprocess.Popen(command)
    try:
        deadline = time.monotonic() + 30
        while not examine(places).status and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(child.pid, signal.SIGSTOP)
        beat = json.loads(places.heartbeat.read_text())
        places.heartbeat.write_text(json.dumps(beat | {"at": time.time() - 35}))
        stuck = examine(places)
        said = []
        control.stop(places, force=True, say=said.append)
    finally:
        child.kill()
        child.wait()

    assert (stuck.is_stuck, stuck.pid) == (True, child.pid)
    assert said == [f"Stopping worker (PID {child.pid})...", "Force killed"]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.timeout(10)
def test_what_is_no_queue_is_named_instead_of_waited_for(places, make):
    make(places.queue)

    with pytest.raises(PerpetualError, match="is no file"):
        examine(places)
