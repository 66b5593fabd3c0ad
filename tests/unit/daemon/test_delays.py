"""What holds a session up is said, as far as it is none of the session's own doing."""

import math
from dataclasses import replace
from functools import partial

import pytest

from perpetualcc.daemon.delays import Delays
from perpetualcc.daemon.disk import DiskSpace
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.tasks import Lane, TaskState
from tests.unit.daemon.test_limits import session, task

FULL = DiskSpace(free=0, total=60_000_000)
READ_ONLY = DiskSpace(free=30_000_000, total=60_000_000, writable=False)
BUSY = "waits for the machine: processors 95% (load.max_cpu is 80%)"
NO_PLACE = "waits for a place: 5 of 5 taken (sessions.max_concurrent)"
NO_ROOM = "the disk is full: 0 MB of 60 MB are left; work waits or fails until there is room"
NOT_WRITABLE = (
    "the disk is read-only: nothing can be written;"
    " work waits or fails until it can be written again"
)


delays_of = partial(Delays, is_stopped=lambda: False)


@pytest.mark.parametrize(
    ("status", "lane", "disk", "taken", "said"),
    [
        ("IDLE", Lane.INTERACTIVE, None, 4, ""),
        ("IDLE", Lane.INTERACTIVE, None, 5, NO_PLACE),
        ("IDLE", Lane.CRON, None, 0, BUSY),
        ("IDLE", Lane.MAINTENANCE, None, 5, "waits for a place: 5 of 5 taken"),
        ("IDLE", Lane.INTERACTIVE, FULL, 0, NO_ROOM),
        ("PROCESSING", Lane.INTERACTIVE, FULL, 1, NO_ROOM),
        ("PROCESSING", Lane.INTERACTIVE, READ_ONLY, 1, NOT_WRITABLE),
        ("PROCESSING", Lane.INTERACTIVE, None, 5, ""),
        ("PAUSED", Lane.CRON, FULL, 5, ""),
    ],
)
def test_a_session_that_could_work_says_what_it_waits_for(
    tmp_path, status, lane, disk, taken, said
):
    delays = delays_of(
        spent_disk=lambda: disk,
        load=lambda lane: BUSY if lane is Lane.CRON else "",
        places=dict.fromkeys(Lane, 5),
        taken=lambda: dict.fromkeys(Lane, taken),
    )
    seen = replace(session(tmp_path), status=SessionStatus(status))

    assert delays.why(seen, [task(lane=lane, state=TaskState.QUEUED)]) == said


def test_an_idle_session_with_nothing_to_do_waits_for_nothing(tmp_path):
    delays = delays_of(spent_disk=lambda: FULL, load=str, places={}, taken=dict)

    assert delays.why(replace(session(tmp_path), status=SessionStatus.IDLE), []) == ""


@pytest.mark.parametrize(
    ("busy", "due", "said"),
    [
        ("", [], "begins when it succeeds: ls inbox"),
        (BUSY, [], f"begins when it succeeds: ls inbox; then it {BUSY}"),
        (BUSY, [task(lane=Lane.CRON, state=TaskState.QUEUED)], BUSY),
    ],
)
def test_what_waits_for_a_condition_is_not_said_to_begin_where_the_machine_is_too_busy(
    tmp_path, busy, due, said
):
    delays = delays_of(
        spent_disk=lambda: None,
        load=lambda _: busy,
        places=dict.fromkeys(Lane, 5),
        taken=lambda: dict.fromkeys(Lane, 0),
    )
    conditional = task(
        lane=Lane.CRON, state=TaskState.QUEUED, due=math.inf, payload={"when": "ls inbox"}
    )
    seen = replace(session(tmp_path), status=SessionStatus.IDLE)

    assert delays.why(seen, [conditional, *due]) == said


def test_what_begins_later_waits_for_no_place_before(tmp_path):
    delays = delays_of(spent_disk=lambda: None, load=lambda _: BUSY, places={}, taken=dict)
    later = replace(session(tmp_path), status=SessionStatus.IDLE, resumes_at=2e9)

    assert delays.why(later, [task(lane=Lane.CRON, state=TaskState.QUEUED)]) == ""


@pytest.mark.parametrize(
    ("status", "said"),
    [("IDLE", "the daemon was stopped; to go on: pcc daemon start"), ("PAUSED", "")],
)
def test_what_a_person_stopped_with_the_daemon_waits_for_its_start(tmp_path, status, said):
    delays = Delays(
        is_stopped=lambda: True, spent_disk=lambda: FULL, load=lambda _: BUSY, places={}, taken=dict
    )
    seen = replace(session(tmp_path), status=SessionStatus(status))

    assert delays.why(seen, [task(lane=Lane.CRON, state=TaskState.QUEUED)]) == said
