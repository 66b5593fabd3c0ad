"""A daemon with a toy engine, in a data directory of its own, and nothing left of it after."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from perpetualcc.claude import processes
from perpetualcc.config import locate
from perpetualcc.daemon import halt
from perpetualcc.daemon.launch import connect
from perpetualcc.daemon.state import DaemonStatus, Phase, is_held, read_status
from perpetualcc.domain.locations import Locations
from perpetualcc.gateway.client import Client
from tests.acceptance.supervised import wait_until

TESTS = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyDaemon:
    """How a test reaches its daemon, as a client and as a person."""

    locations: Locations
    flags: list[str] = field(default_factory=list)

    def connect(self, **options: float) -> Client:
        return connect(self.locations, flags=self.flags, **options)

    @property
    def status(self) -> DaemonStatus:
        return read_status(self.locations)

    def wait_for(self, phase: Phase, *, within: float = 30.0) -> None:
        wait_until(lambda: self.status.phase is phase, within=within)

    def pcc_command(self) -> list[str]:
        return [sys.executable, "-m", "perpetualcc", "--data-dir", str(self.locations.data)]

    def variables(self) -> dict[str, str]:
        return os.environ | {
            "PERPETUALCC_SUPERVISOR": " ".join(self.flags),
            "HOME": str(self.locations.data.parent),
        }

    def pcc(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.pcc_command(), *words],
            env=self.variables(),
            capture_output=True,
            text=True,
            check=False,
            timeout=50,
        )

    def command(self) -> list[str]:
        module = "perpetualcc.daemon.supervisor"
        return [
            *(sys.executable, "-P", "-m", module),
            *("--data-dir", str(self.locations.data), *self.flags),
        ]

    def left_over(self) -> list[str]:
        """Whatever of this daemon still runs."""
        listing = subprocess.run(
            ["ps", "axww", "-o", "stat=,command="], capture_output=True, text=True, check=True
        )
        needle = f"--data-dir {self.locations.data}"
        lines = [line for line in listing.stdout.splitlines() if needle in line and line[0] != "Z"]
        return lines + [str(found) for found in processes.find(self.locations.data)]


@contextmanager
def toy_daemon(directory: Path, **flags: float) -> Iterator[ToyDaemon]:
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = f"{TESTS}{os.pathsep}{before}"
    words = [f"--{name.replace('_', '-')}={value}" for name, value in flags.items()]
    daemon = ToyDaemon(locations=locate(directory / "data"), flags=["--engine=toy_engine", *words])
    try:
        yield daemon
    finally:
        halt.stop_now(daemon.locations)
        os.environ["PYTHONPATH"] = before
    assert daemon.left_over() == []
    assert not is_held(daemon.locations.engine_lock)
