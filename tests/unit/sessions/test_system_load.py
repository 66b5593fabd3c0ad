"""Unattended work waits for the machine; a person does not."""

import pytest

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.tasks import Lane
from perpetualcc.sessions.settings import LoadSettings
from perpetualcc.sessions.system_load import LoadGate, SystemLoad, read_load, used_in

OPEN = [
    # cpu, memory, lane, open
    (0.79, 0.5, Lane.CRON, True),
    (0.81, 0.5, Lane.CRON, False),
    (0.81, 0.5, Lane.GOAL, False),
    (0.81, 0.5, Lane.INTERACTIVE, True),
    (0.1, 0.91, Lane.MAINTENANCE, False),
    (0.1, 0.89, Lane.MAINTENANCE, True),
]


@pytest.mark.parametrize(("cpu", "memory", "lane", "is_open"), OPEN)
def test_what_may_start_on_a_busy_machine(cpu, memory, lane, is_open):
    gate = LoadGate(LoadSettings(), lambda: SystemLoad(cpu=cpu, memory=memory))

    assert gate.is_open(lane) is is_open


def test_what_is_waited_for_is_named_with_its_setting():
    gate = LoadGate(LoadSettings(max_memory=0.5), lambda: SystemLoad(cpu=0.1, memory=0.62))

    said = "waits for the machine: memory 62% (load.max_memory is 50%)"
    assert gate.why_closed(Lane.CRON) == said
    assert gate.why_closed(Lane.INTERACTIVE) == ""


def test_zero_never_minds():
    gate = LoadGate(
        LoadSettings(max_cpu=0.0, max_memory=0.0), lambda: SystemLoad(cpu=9.0, memory=1.0)
    )

    assert gate.is_open(Lane.CRON)


def test_this_machine_can_be_read():
    load = read_load()

    assert load.cpu >= 0
    assert 0 < load.memory < 1


@pytest.mark.parametrize("settings", [{"max_cpu": -1.0}, {"max_cpu": 80.0}, {"max_memory": 2.0}])
def test_absurd_shares_are_refused(settings):
    with pytest.raises(PerpetualError):
        LoadSettings(**settings)


MACOS = """\
Mach Virtual Memory Statistics: (page size of 16384 bytes)
Pages free:                                4283.
Pages active:                            236113.
Pages inactive:                          233476.
Pages speculative:                         1663.
Pages throttled:                              0.
Pages wired down:                        138216.
Pages purgeable:                           1352.
"Translation faults":                2389473829.
Pages copy-on-write:                   61893728.
Pages stored in compressor:             1039283.
Pages occupied by compressor:            371713.
Swapins:                                1938211.
"""


def test_the_memory_of_a_mac_is_read_from_its_vm_stat():
    assert used_in(MACOS, 16 << 30) == pytest.approx((236113 + 138216 + 371713) / 1048576)
