"""A supervisor whose engine sleeps, and a wall clock that somebody sets."""

import time
from types import SimpleNamespace

import pytest

from perpetualcc.daemon import supervisor
from perpetualcc.daemon.state import Phase
from perpetualcc.daemon.supervisor import Supervisor, SupervisorSettings

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
        journal=None,
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
