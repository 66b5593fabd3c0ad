"""A supervisor whose engine sleeps or gave up, and what starts it again."""

import time
from types import SimpleNamespace

import pytest

from perpetualcc.daemon import supervisor
from perpetualcc.daemon.program_files import ProgramFiles
from perpetualcc.daemon.state import Phase
from perpetualcc.daemon.supervisor import Supervisor, SupervisorSettings
from perpetualcc.daemon.supervisor_log import SupervisorLog
from perpetualcc.domain.locations import Locations

HOUR = 3600.0


class Sleeping(Supervisor):
    """It only counts what it would start."""

    started = 0

    def _start_engine(self) -> None:
        Sleeping.started += 1


@pytest.mark.parametrize(
    ("due", "set_by", "started"),
    [(HOUR, -6 * HOUR, 1), (None, -6 * HOUR, 0), (HOUR, -1.0, 0), (HOUR, 0, 0), (HOUR, HOUR, 1)],
)
def test_a_clock_set_back_wakes_an_engine_that_has_something_due(
    due, set_by, started, monkeypatch: pytest.MonkeyPatch
):
    now = time.time()
    asleep = Sleeping(
        locations=None,
        listener=None,
        lock=0,
        command=None,
        settings=SupervisorSettings(),
        log=None,
        awake=None,
        phase=Phase.ASLEEP,
        wake=None if due is None else now + due,
        ahead=now - time.monotonic(),
    )
    monkeypatch.setattr(
        supervisor,
        "time",
        SimpleNamespace(time=lambda: time.time() + set_by, monotonic=time.monotonic),
    )
    monkeypatch.setattr(Sleeping, "started", 0)

    asleep._act()

    assert Sleeping.started == started


@pytest.mark.parametrize("mended", [True, False])
def test_one_that_gave_up_is_tried_again_once_the_configuration_is_another(
    mended, tmp_path, monkeypatch: pytest.MonkeyPatch
):
    config = tmp_path / "config.toml"
    config.write_text("[session]\n")
    gave_up = Sleeping(
        locations=None,
        listener=None,
        lock=0,
        command=None,
        settings=SupervisorSettings(config=config),
        log=None,
        awake=None,
        phase=Phase.GAVE_UP,
        crashes=1,
    )
    gave_up.read = gave_up.program.traces(config)
    monkeypatch.setattr(Sleeping, "started", 0)
    if mended:
        config.write_text("[sessions]\n")

    assert gave_up._timeout() is not None
    gave_up._act()

    assert Sleeping.started == int(mended)
    assert gave_up.crashes == int(not mended)


@pytest.mark.parametrize(
    ("phase", "is_there", "look", "leaves"),
    [
        (Phase.ASLEEP, False, 0.0, True),
        (Phase.GAVE_UP, False, 0.0, True),
        (Phase.RUNNING, False, 0.0, False),
        (Phase.ASLEEP, True, 0.0, False),
        (Phase.ASLEEP, False, 30.0, False),
    ],
)
def test_one_without_its_program_leaves_and_an_upgrade_of_moments_disturbs_nothing(
    phase, is_there, look, leaves, tmp_path
):
    program, log = tmp_path / "program.py", tmp_path / "log"
    if is_there:
        program.touch()
    idle = Sleeping(
        locations=Locations(data=tmp_path),
        listener=None,
        lock=0,
        command=None,
        settings=SupervisorSettings(look=look),
        log=SupervisorLog(path=log),
        awake=None,
        phase=phase,
        program=ProgramFiles(files=(program,)),
    )

    idle._leave_if_removed()

    assert idle.phase is (Phase.STOPPED if leaves else phase)
    assert (log.exists() and f"'{program}' was removed" in log.read_text()) is leaves
