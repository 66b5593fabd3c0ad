"""A session under `pcc start` against the bare SDK, and what sessions cost the engine."""

import os
import statistics
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks.bench_session import OWN_PROMPT, PROMPT, bare_sdk_seconds, scenario_of_calls
from benchmarks.result import Result
from perpetualcc.cli.stage import Stage, staged
from perpetualcc.daemon.state import read_pid
from perpetualcc.domain.locations import Locations
from perpetualcc.rehearsal import Scenario, read_scenario

ROUNDS = 9
_MANY = 20


def run() -> list[Result]:
    return [*_overhead(), _memory()]


def _overhead() -> list[Result]:
    """
    Single rounds were seen to differ by half, as a machine is slower for a minute and quicker for
    the next. So each round runs all three, in turn forwards and backwards, and is compared with
    itself only; the median of the rounds' ratios counts. The ratios of the medians and of the
    quickest are told beside it. The engine is awake each time: it stays for two minutes after a
    command, and two bare sessions take less.

    The second ratio leaves out what Claude Code's own prompt costs: it is what supervision adds
    to the same Claude Code.
    """
    scenario = scenario_of_calls()
    bare: list[float] = []
    same: list[float] = []
    supervised: list[float] = []
    with staged(scenario, None, base=dict(os.environ)) as stage:
        _start(stage, "warm up")
        for number in range(ROUNDS):
            turns = [
                (bare, partial(_bare, scenario)),
                (supervised, partial(_supervised, stage, f"round {number}")),
                (same, partial(_bare, scenario, **OWN_PROMPT)),
            ]
            for seconds, play in turns if number % 2 else reversed(turns):
                seconds.append(play())
    return [
        _ratio("200 tool calls under `pcc start` against the bare SDK", supervised, bare),
        _ratio("… with Claude Code's own prompt", supervised, same),
    ]


def _bare(scenario: Scenario, **options: dict[str, str]) -> float:
    with tempfile.TemporaryDirectory() as project:
        return bare_sdk_seconds(scenario, Path(project), **options)


def _supervised(stage: Stage, name: str) -> float:
    started = time.perf_counter()
    _start(stage, name)
    return time.perf_counter() - started


def _ratio(name: str, ours: list[float], theirs: list[float]) -> Result:
    paired = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    above, below = statistics.median(ours), statistics.median(theirs)
    note = (
        f"{above:.2f} s against {below:.2f} s: {above / below:.2f}; "
        f"of the quickest {min(ours) / min(theirs):.2f}"
    )
    return Result(name=name, value=paired, unit="times", limit=1.10, note=note)


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
