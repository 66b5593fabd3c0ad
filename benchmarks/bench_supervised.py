"""A session under `pcc start` against the bare SDK, and what sessions cost the engine."""

import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.bench_session import OWN_PROMPT, PROMPT, bare_sdk_seconds, scenario_of_calls
from benchmarks.result import Result
from perpetualcc.cli.stage import Stage, staged
from perpetualcc.daemon.state import read_pid
from perpetualcc.domain.locations import Locations
from perpetualcc.rehearsal import read_scenario

ROUNDS = 7
_MANY = 20


def run() -> list[Result]:
    return [*_overhead(), _memory()]


def _overhead() -> list[Result]:
    """
    Rounds take turns, so that a noisy machine is noisy for all: single rounds were seen to differ
    by half. The medians count; the quickest of each are told beside them.

    The second ratio leaves out what Claude Code's own prompt costs: it is what supervision adds
    to the same Claude Code.
    """
    scenario = scenario_of_calls()
    bare, same, supervised = [], [], []
    with staged(scenario, None, base=dict(os.environ)) as stage:
        _start(stage, "warm up")
        for number in range(ROUNDS):
            with tempfile.TemporaryDirectory() as project:
                bare.append(bare_sdk_seconds(scenario, Path(project)))
            with tempfile.TemporaryDirectory() as project:
                same.append(bare_sdk_seconds(scenario, Path(project), **OWN_PROMPT))
            started = time.perf_counter()
            _start(stage, f"round {number}")
            supervised.append(time.perf_counter() - started)
    return [
        _ratio("200 tool calls under `pcc start` against the bare SDK", supervised, bare),
        _ratio("… with Claude Code's own prompt", supervised, same),
    ]


def _ratio(name: str, ours: list[float], theirs: list[float]) -> Result:
    above, below = statistics.median(ours), statistics.median(theirs)
    quickest = min(ours) / min(theirs)
    note = f"{above:.2f} s against {below:.2f} s; of the quickest {quickest:.2f}"
    return Result(name=name, value=above / below, unit="times", limit=1.10, note=note)


def _start(stage: Stage, name: str) -> None:
    """In a project of its own, as on the bare SDK: a `Write` over an old file is another call."""
    project = stage.folder / name
    project.mkdir()
    if stage.pcc("start", str(project), "--task", f"{PROMPT}: {name}", quiet=True):
        raise RuntimeError(f"the session {name!r} did not complete")


def _memory() -> Result:
    """Resident memory of the engine with one session at work and with twenty-one."""
    story = {"delay": "3s", "steps": [{"tools": [{"Read": {"file_path": "{project}/x"}}]}] * 4}
    with staged(read_scenario(story), None, base=dict(os.environ)) as stage:
        config = stage.folder / "config.toml"
        config.write_text("[sessions]\nmax_concurrent = 30\n")
        _detached(stage, 0)
        time.sleep(6)
        before = _resident(stage)
        for number in range(1, _MANY + 1):
            _detached(stage, number)
        time.sleep(6)
        each = (_resident(stage) - before) / _MANY
    return Result(name="engine memory for each further session", value=each, unit="MB", limit=2.0)


def _detached(stage: Stage, number: int) -> None:
    project = stage.folder / f"project-{number}"
    project.mkdir()
    stage.pcc("start", str(project), "--task", f"work {number}", "--detach", quiet=True)


def _resident(stage: Stage) -> float:
    pid = read_pid(Locations(data=stage.folder / "pcc").engine_lock)
    said = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True
    ).stdout
    return int(said) / 1024
