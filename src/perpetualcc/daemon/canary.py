"""Runs the canary against a scripted model, once for each version of Claude Code."""

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from perpetualcc import __version__
from perpetualcc.claude import adapter, probe, processes
from perpetualcc.claude.layers import Layers, sandbox_for, why_no_sandbox
from perpetualcc.claude.scratch import scratch
from perpetualcc.domain.authority import Authority, AuthorityLevel
from perpetualcc.domain.decisions import Verdict
from perpetualcc.domain.errors import PassingError, PerpetualError
from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.domain.ids import RunId
from perpetualcc.domain.installing import pip_install
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.private_files import write_whole
from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.permissions.static_rules import ask_rules, deny_rules
from perpetualcc.rehearsal import RehearsalServer, Scenario, isolated_world, read_scenario

log = logging.getLogger(__name__)

_LONGEST = 100_000
"""Bytes."""
_CALLS = {
    "Write": {"file_path": "{place}/written", "content": "this must not exist"},
    "Bash": {"command": "echo this must not exist > {place}/executed"},
    "Read": {"file_path": "{place}/key"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One layer, with everything before it switched off."""

    name: str
    verdict: Verdict
    tools: tuple[str, ...] = ("Write", "Bash")
    place: str = "project"
    """Where the tools are tried, beside the `project` and the `home`."""
    layers: Callable[[Path], Layers] = lambda _: Layers()


GATE = Trial(name="Gate", verdict=Verdict.DENY)
STATIC_RULES = Trial(
    name="Static rules behind the gate",
    verdict=Verdict.ALLOW,
    tools=("Write", "Bash", "Read"),
    place="home/.ssh",
    layers=lambda _: Layers(
        deny=deny_rules(PermissionSettings()), ask=ask_rules(PermissionSettings())
    ),
)
SANDBOX = Trial(
    name="Sandbox, level 1",
    verdict=Verdict.ALLOW,
    tools=("Bash",),
    layers=lambda project: Layers(
        sandbox=sandbox_for(Authority(level=AuthorityLevel.READ_ONLY), project, ())
    ),
)


class GateBrokenError(PerpetualError):
    """A refused tool call happened, or never came to the gate."""

    def __init__(self, saw: probe.ProbeResult) -> None:
        super().__init__(
            "Claude Code does not keep to refusals, so nothing may work unattended: "
            f"asked {list(saw.asked)}, refused {list(saw.refused)}, "
            f"happened all the same {list(saw.happened)}",
            hint="Install the version that was tested: "
            + pip_install("--force-reinstall", "claude-agent-sdk"),
        )


class CanaryLateError(PassingError):
    """A trial did not come to its end, so nothing is known."""

    def __init__(self, trial: str) -> None:
        seconds = probe.DEADLINE.total_seconds()
        super().__init__(
            f"{trial}: Claude Code did not finish its trial within {seconds:.0f} seconds",
            hint="Try again when the machine is less busy: pcc doctor --prove",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What became of one trial."""

    name: str
    holds: bool
    why: str
    """Words for a person."""


class Canary:
    """Remembers for which Claude Code binary the gate has been seen to hold."""

    def __init__(self, locations: Locations) -> None:
        self._locations = locations
        self._one_at_a_time = asyncio.Lock()
        self._passed = ""

    async def check(self, binary: Path) -> None:
        """Raises GateBrokenError, unless a refusal has been seen to refuse with this binary."""
        identity = _identity(binary)
        async with self._one_at_a_time:
            if identity in {self._passed, self._remembered()}:
                self._passed = identity
                return
            saw = await self.fly(binary, GATE)
            if not saw.holds(GATE.tools, at_the_gate=True):
                raise GateBrokenError(saw)
            self._remember(identity)
            self._passed = identity

    async def prove(self, binary: Path) -> list[Proof]:
        """Every layer there is on this machine, and whether it holds."""
        trials = [GATE, STATIC_RULES] + ([] if why_no_sandbox() else [SANDBOX])
        return [await self._proved(binary, one) for one in trials]

    async def _proved(self, binary: Path, trial: Trial) -> Proof:
        try:
            saw = await self.fly(binary, trial)
        except PerpetualError as error:
            return Proof(name=trial.name, holds=False, why=f"not proved ({error.message})")
        holds = saw.holds(trial.tools, at_the_gate=trial is GATE)
        return Proof(name=trial.name, holds=holds, why="holds" if holds else "DOES NOT HOLD")

    async def fly(self, binary: Path, trial: Trial) -> probe.ProbeResult:
        """
        Play one trial now.

        Raises:
            CanaryLateError: it did not come to its end in time.
            PerpetualError: Claude Code does not start.
        """
        with scratch("canary") as folder:
            project, place = folder / "project", folder / trial.place
            project.mkdir()
            place.mkdir(parents=True, exist_ok=True)
            (place / "key").write_text("a secret")
            scenario = _scenario(trial.tools, place)
            async with RehearsalServer(scenario) as server:
                world = isolated_world(server.url, folder / "home")
                own = processes.mark(self._locations.data, RunId("canary"))
                settings = adapter.ClaudeSettings(
                    binary=binary,
                    run_dir=self._locations.run_dir,
                    environment=probe.environment_without(world.unset, {**world.set, **own}),
                    layers=trial.layers(project),
                )
                try:
                    saw = await probe.probe(settings, project, place, verdict=trial.verdict)
                except TimeoutError as error:
                    raise CanaryLateError(trial.name) from error
        log.info("%s: the canary saw %s", trial.name, saw)
        return saw

    @property
    def _file(self) -> Path:
        return self._locations.run_dir / "canary.json"

    def _remembered(self) -> str:
        try:
            return str(json.loads(read_regular(self._file, _LONGEST))["passed"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return ""

    def _remember(self, identity: str) -> None:
        try:
            write_whole(self._file, json.dumps({"passed": identity}))
        except OSError as error:  # it is flown again, no more
            log.warning("What the canary saw cannot be kept: %s", error)


def _scenario(tools: Sequence[str], place: Path) -> Scenario:
    """Claude tries each of the tools on what is in `place`."""
    wanted = [
        {tool: {name: text.format(place=place) for name, text in _CALLS[tool].items()}}
        for tool in tools
    ]
    return read_scenario({"steps": [{"tools": wanted}, "It is over."]})


def _identity(binary: Path) -> str:
    """Another file, or another version of ours, must prove itself again."""
    known = binary.stat()
    return f"{binary} {known.st_size} {known.st_mtime_ns} {__version__}"
