"""What a sleeping daemon costs, how fast it wakes, and what any command costs."""

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.result import Result
from perpetualcc.config import locate
from perpetualcc.daemon import halt
from perpetualcc.daemon.launch import connect
from perpetualcc.daemon.state import Phase, read_status
from perpetualcc.domain.locations import Locations

IDLE_SECONDS = 20
WAKES = 5
STARTS = 15
_TOY = Path(__file__).parent.parent / "tests" / "acceptance"


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as directory:
        locations = locate(Path(directory) / "data")
        flags = ["--idle-exit=0.2"]
        if importlib.util.find_spec("perpetualcc.daemon.engine") is None:
            os.environ["PYTHONPATH"] = str(_TOY)
            flags.append("--engine=toy_engine")
        try:
            return [*_sleeping(locations, flags), _waking(locations), *_commands(locations)]
        finally:
            halt.stop_now(locations)


def _sleeping(locations: Locations, flags: list[str]) -> list[Result]:
    connect(locations, flags=flags).close()
    supervisor = _wait_asleep(locations)
    before = _cpu_seconds(supervisor)
    time.sleep(IDLE_SECONDS)
    used = (_cpu_seconds(supervisor) - before) / IDLE_SECONDS * 100
    is_gone = read_status(locations).engine is None
    return [
        Result(name="idle supervisor memory", value=_megabytes(supervisor), unit="MB", limit=25),
        Result(
            name="idle supervisor CPU",
            value=used,
            unit="%",
            limit=0.1,
            note=f"over {IDLE_SECONDS} s; engine gone: {is_gone}",
        ),
    ]


def _waking(locations: Locations) -> Result:
    times = []
    for _ in range(WAKES):
        _wait_asleep(locations)
        before = time.perf_counter()
        with connect(locations) as client:
            client.call("ping")
        times.append(time.perf_counter() - before)
    return Result(
        name="asleep to first answer",
        value=max(times),
        unit="s",
        limit=3,
        note=f"the slowest of {WAKES}",
    )


def _commands(locations: Locations) -> list[Result]:
    pcc = [sys.executable, "-m", "perpetualcc"]
    commands = {
        "baseline": [sys.executable, "-c", "import typer"],
        "pcc --help": [*pcc, "--help"],
        "pcc daemon status": [*pcc, "--data-dir", str(locations.data), "daemon", "status"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(STARTS):  # interleaved, so that a busy moment meets all of them
        for name, command in commands.items():
            before = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            times[name].append(time.perf_counter() - before)
    median = {name: statistics.median(values) for name, values in times.items()}
    return [
        Result(
            name=f"`{name}` against `import typer`",
            value=median[name] / median["baseline"],
            unit="times",
            limit=1.5,
            note=f"{median[name] * 1000:.0f} ms",
        )
        for name in list(commands)[1:]
    ]


def _wait_asleep(locations: Locations) -> int:
    deadline = time.monotonic() + 30
    while (status := read_status(locations)).phase is not Phase.ASLEEP:
        if time.monotonic() > deadline:
            raise TimeoutError(f"The engine does not fall asleep: {status}")
        time.sleep(0.02)
    assert status.supervisor
    return status.supervisor


def _cpu_seconds(pid: int) -> float:
    """User and system time so far; `ps` has seconds only, so macOS reads low."""
    stat = Path(f"/proc/{pid}/stat")
    if stat.exists():
        fields = stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    minutes, seconds = _ps(pid, "time").split(":")[-2:]
    return int(minutes) * 60 + float(seconds)


def _megabytes(pid: int) -> float:
    return int(_ps(pid, "rss")) / 1024


def _ps(pid: int, field: str) -> str:
    command = ["ps", "-o", f"{field}=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
