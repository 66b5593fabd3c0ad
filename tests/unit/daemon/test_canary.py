"""A gate that does not hold lets nothing work; one that holds is proved once a version."""

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from perpetualcc.claude.probe import ProbeResult
from perpetualcc.daemon.canary import GATE, Canary, CanaryLateError, GateBrokenError, Trial
from perpetualcc.domain.locations import Locations

HELD = ProbeResult(asked=("Write", "Bash"), refused=("Bash", "Write"), happened=())
BROKEN = [
    ProbeResult(asked=("Write", "Bash"), refused=("Write", "Bash"), happened=("written",)),
    ProbeResult(asked=("Write", "Bash"), refused=("Write",), happened=()),
    ProbeResult(asked=("Write",), refused=("Write",), happened=()),
    ProbeResult(asked=(), refused=(), happened=("executed", "written")),
    ProbeResult(asked=(), refused=(), happened=()),
]


@dataclass
class Flights:
    """What each flight is going to see, and how many there were."""

    saw: list[ProbeResult]
    flown: list[Path] = field(default_factory=list)


class ToldCanary(Canary):
    """Sees what the test says, instead of starting Claude Code."""

    def __init__(self, locations: Locations, flights: Flights) -> None:
        super().__init__(locations)
        self._flights = flights

    async def fly(self, binary: Path, trial: Trial) -> ProbeResult:
        self._flights.flown.append(binary)
        await asyncio.sleep(0)
        return self._flights.saw[min(len(self._flights.flown), len(self._flights.saw)) - 1]


@pytest.fixture
def locations(tmp_path):
    return Locations(data=tmp_path / "data").prepare()


@pytest.fixture
def binary(tmp_path):
    path = tmp_path / "claude"
    path.write_text("one version")
    return path


@pytest.mark.parametrize("saw", BROKEN)
def test_a_broken_gate_is_refused_every_time_and_never_remembered(locations, binary, saw):
    flights = Flights([saw])
    canary = ToldCanary(locations, flights)

    for _ in range(2):
        with pytest.raises(GateBrokenError) as caught:
            asyncio.run(canary.check(binary))

    assert "nothing may work unattended" in caught.value.message
    assert caught.value.hint
    assert len(flights.flown) == 2
    with pytest.raises(GateBrokenError):
        asyncio.run(ToldCanary(locations, flights).check(binary))


def test_a_gate_that_holds_is_proved_once_even_across_restarts(locations, binary):
    flights = Flights([HELD])

    asyncio.run(ToldCanary(locations, flights).check(binary))
    asyncio.run(ToldCanary(locations, flights).check(binary))

    assert flights.flown == [binary]


def test_several_runs_that_start_at_once_wait_for_one_flight(locations, binary):
    flights = Flights([HELD])

    async def scene():
        canary = ToldCanary(locations, flights)
        await asyncio.gather(*(canary.check(binary) for _ in range(5)))

    asyncio.run(scene())

    assert len(flights.flown) == 1


@pytest.mark.parametrize("change", ["other bytes", "another time", "another path"])
def test_another_claude_code_must_prove_itself_again(locations, binary, tmp_path, change):
    flights = Flights([HELD, BROKEN[0]])
    canary = ToldCanary(locations, flights)
    asyncio.run(canary.check(binary))

    match change:
        case "other bytes":
            binary.write_text("another version")
        case "another time":
            os.utime(binary, (1, 1))
        case "another path":
            binary = binary.rename(tmp_path / "other")

    with pytest.raises(GateBrokenError):
        asyncio.run(canary.check(binary))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"passed": 3}', '{"odd": 1}', "\x00", "[" * 50_000]
)
def test_a_memory_that_cannot_be_read_means_that_it_flies_again(locations, binary, text):
    (locations.run_dir / "canary.json").write_text(text)
    flights = Flights([HELD])

    asyncio.run(ToldCanary(locations, flights).check(binary))

    assert len(flights.flown) == 1


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.timeout(10)
def test_a_memory_that_is_no_file_means_that_it_flies_again(locations, binary, make):
    make(locations.run_dir / "canary.json")
    flights = Flights([HELD])
    canary = ToldCanary(locations, flights)

    asyncio.run(canary.check(binary))
    asyncio.run(canary.check(binary))

    assert len(flights.flown) == 1


class LateCanary(Canary):
    """Whose second trial comes to no end."""

    async def fly(self, binary: Path, trial: Trial) -> ProbeResult:
        await asyncio.sleep(0)
        if trial is not GATE:
            raise CanaryLateError(trial.name)
        return HELD


def test_a_trial_without_an_end_proves_nothing_and_hides_no_other(locations, binary):
    gate, *others = asyncio.run(LateCanary(locations).prove(binary))

    assert (gate.holds, gate.why) == (True, "holds")
    assert not any(one.holds for one in others)
    assert all("not proved" in one.why and one.name in one.why for one in others)
